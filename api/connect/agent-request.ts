// What the streams of a pod become at its node's agent: logs, exec, attach and port forwarding as paths with parameters, and
// which container is meant. Pure; who may ask has been decided, and connecting is others' work.
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { metadataOf } from '../object-meta.ts';
import { isTrueParameter, type Query } from '../query.ts';
import { badRequest } from '../status/failures.ts';
import { type FieldError, forbidden, invalid, invalidFrom } from '../status/field-error.ts';
import { StatusError } from '../status/status.ts';

/** A request to a node agent: the path with its query. */
export interface AgentRequestLine {
  readonly path: string;
  /** The agent's certificate is not looked at, as the client asks. */
  readonly skipsVerification: boolean;
}

export type PodStream = 'log' | 'exec' | 'attach' | 'portforward';

/** The agent's request for a stream of a pod. Throws StatusError 400 and 422. */
export function agentRequest(stream: PodStream, pod: JsonObject, query: Query): AgentRequestLine {
  switch (stream) {
    case 'log':
      return logRequest(pod, query);
    case 'exec':
    case 'attach': {
      const parameters: [string, string][] = STREAMS.filter(([name]) => isTrueParameter(query.get(name))).map(
        ([, agentName]) => [agentName, '1'],
      );
      const commands = stream === 'exec' ? query.all('command').map((text): [string, string] => ['command', text]) : [];
      const container = containerOf(pod, query.get('container') ?? '');
      return line([stream, ...placeOf(pod), container], [...parameters, ...commands]);
    }
    case 'portforward': {
      const ports = query.all('ports');
      return line(['portForward', ...placeOf(pod)], ports.length === 0 ? [] : [['port', ports.join(',')]]);
    }
  }
}

/** What a client calls the streams of a container, and what the agent does. */
const STREAMS: readonly (readonly [name: string, agentName: string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
];

function logRequest(pod: JsonObject, query: Query): AgentRequestLine {
  const flags = ['follow', 'previous', 'timestamps'].filter((name) => isTrueParameter(query.get(name)));
  const parameters: [string, string][] = flags.map((name) => [name, 'true']);
  const errors: FieldError[] = [];
  for (const [name, least] of LOG_COUNTS) {
    const text = query.get(name);
    if (text === undefined) continue;
    const count = countOf(name, text);
    if (count < least) errors.push(invalid(name, count, `must be greater than or equal to ${least}`));
    parameters.push([name, String(count)]);
  }
  const sinceTime = query.get('sinceTime');
  if (sinceTime !== undefined) {
    if (query.get('sinceSeconds') !== undefined)
      errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
    if (!RFC_3339.test(sinceTime) || Number.isNaN(Date.parse(sinceTime)))
      throw new StatusError(badRequest(`sinceTime ${JSON.stringify(sinceTime)} is no time`));
    parameters.push(['sinceTime', sinceTime]);
  }
  if (errors.length > 0) throw new StatusError(invalidFrom('PodLogOptions', '', metadataOf(pod).name ?? '', errors));
  const container = containerOf(pod, query.get('container') ?? '');
  return {
    ...line(['containerLogs', ...placeOf(pod), container], parameters),
    skipsVerification: skipsVerificationOf(query),
  };
}

/** Whether a request for logs is to be passed on to whoever is there. */
export function skipsVerificationOf(query: Query): boolean {
  return isTrueParameter(query.get('insecureSkipTLSVerifyBackend'));
}

/** Numbers of log requests, and the least that means something. */
const LOG_COUNTS: readonly (readonly [name: string, least: number])[] = [
  ['sinceSeconds', 1],
  ['tailLines', 0],
  ['limitBytes', 1],
];
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function countOf(name: string, text: string): number {
  const count = Number(text);
  if (/^[+-]?\d{1,18}$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new StatusError(badRequest(`${name} must be an integer, not ${JSON.stringify(text)}`));
}

/**
 * The container a client means: the one it names, of whichever list of the pod, or the only one. Throws StatusError 400.
 */
function containerOf(pod: JsonObject, asked: string): string {
  const name = metadataOf(pod).name ?? '';
  const containers = namesIn(pod, 'containers');
  const initContainers = namesIn(pod, 'initContainers');
  if (asked !== '') {
    const all = [...containers, ...initContainers, ...namesIn(pod, 'ephemeralContainers')];
    if (all.includes(asked)) return asked;
    throw new StatusError(badRequest(`container ${asked} is not valid for pod ${name}`));
  }
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0) return only;
  const choice = only === undefined ? '' : `, choose one of: [${containers.join(' ')}]`;
  const initChoice = initContainers.length === 0 ? '' : ` or one of the init containers: [${initContainers.join(' ')}]`;
  throw new StatusError(badRequest(`a container name must be specified for pod ${name}${choice}${initChoice}`));
}

function namesIn(pod: JsonObject, list: string): string[] {
  const containers = isJsonObject(pod.spec) ? pod.spec[list] : undefined;
  if (!Array.isArray(containers)) return [];
  return (containers as readonly { readonly name?: string }[]).map(({ name = '' }) => name);
}

function placeOf(pod: JsonObject): readonly [namespace: string, name: string] {
  const { namespace = '', name = '' } = metadataOf(pod);
  return [namespace, name];
}

function line(segments: readonly string[], parameters: readonly (readonly [string, string])[]): AgentRequestLine {
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return { path: query === '' ? path : `${path}?${query}`, skipsVerification: false };
}
