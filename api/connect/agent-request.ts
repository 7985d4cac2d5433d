// What the streams of a pod become at its node's agent: logs, exec, attach and port forwarding as paths with parameters, and
// which container is meant. Pure; who may ask has been decided, and connecting is others' work.

import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { booleanAt, textAt, textsAt } from '../json/object-fields.ts';
import { metadataOf } from '../metadata/object-meta.ts';
import { exactInt64Parameter } from '../requests/int64-parameter.ts';
import { isTrueParameter, type Query } from '../requests/query.ts';
import { badRequest, quote } from '../status/failures.ts';
import { type FieldError, forbidden, invalid, invalidFrom } from '../status/field-error.ts';
import { StatusError } from '../status/status.ts';

/** A request to a node agent: the path with its query. */
export interface AgentRequestLine {
  readonly path: string;
  /** The agent's certificate is not looked at, as the client asks. */
  readonly skipsVerification: boolean;
}

/** What is spoken with a pod, both ways. */
export type PodStream = 'exec' | 'attach' | 'portforward';

/** The agent's request for a stream of a pod, by its options (see connectOptions). Throws StatusError 400. */
export function streamRequest(stream: PodStream, pod: JsonObject, options: JsonObject): AgentRequestLine {
  if (stream === 'portforward') {
    const { ports } = options;
    const wanted = Array.isArray(ports) ? ports : [];
    return line(['portForward', ...placeOf(pod)], wanted.length === 0 ? [] : [['port', wanted.join(',')]]);
  }
  const parameters = STREAMS.filter(([name]) => booleanAt(options, name)).map(
    ([, agentName]) => [agentName, '1'] as const,
  );
  const commands = stream === 'exec' ? textsAt(options, 'command').map((text) => ['command', text] as const) : [];
  const container = containerOf(pod, textAt(options, 'container'));
  return line([stream, ...placeOf(pod), container], [...parameters, ...commands]);
}

/** What a client calls the streams of a container, and what the agent does. */
const STREAMS: readonly (readonly [name: string, agentName: string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
];

/** The agent's request for a container's log. Throws StatusError 400 and 422. */
export function logRequest(pod: JsonObject, query: Query): AgentRequestLine {
  const flags = ['follow', 'previous', 'timestamps'].filter((name) => isTrueParameter(query.get(name)));
  const parameters: [string, string][] = flags.map((name) => [name, 'true']);
  const errors: FieldError[] = [];
  const sinceTime = query.get('sinceTime');
  for (const [name, least, detail] of LOG_COUNTS) {
    const text = query.get(name);
    if (text === undefined) continue;
    const count = exactInt64Parameter(text);
    if (name === 'sinceSeconds' && sinceTime !== undefined)
      errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
    else if (count < least) errors.push(invalid(name, count, detail));
    parameters.push([name, String(count)]);
  }
  if (sinceTime !== undefined) parameters.push(['sinceTime', timeOf(sinceTime)]);
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

/** Numbers of log requests, the least that means something, and what is said of less. */
const LOG_COUNTS: readonly (readonly [name: string, least: number, detail: string])[] = [
  ['tailLines', 0, 'must be greater than or equal to 0'],
  ['limitBytes', 1, 'must be greater than 0'],
  ['sinceSeconds', 1, 'must be greater than 0'],
];
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** What clients send for no time. */
const NO_TIMES: readonly string[] = ['', 'null'];
const ZERO_TIME = '0001-01-01T00:00:00Z';

function timeOf(text: string): string {
  if (NO_TIMES.includes(text)) return ZERO_TIME;
  if (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new StatusError(badRequest(`sinceTime ${quote(text)} is no time`));
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
