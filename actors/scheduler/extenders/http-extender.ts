// One extender: a service outside that is asked over HTTP about the nodes of pods, about those who are evicted for them, or to bind
// them. Every question has its deadline, and an answer that does not fit the question is refused. Decides nothing itself.
import { asList, asObject } from '../../../api/json/object-fields.ts';
import { NOTHING_SHOWN, type ServiceConnection } from '../../../transport/outgoing/connection-file.ts';
import type { ConnectionSecretsParts } from '../../../transport/outgoing/connection-secrets.ts';
import { ServiceCallFailed, ServiceClient, ServiceRefused } from '../../../transport/outgoing/service-client.ts';
import type { ExtenderConfiguration } from '../configuration/configuration.ts';
import type { BindingEnd } from '../core/decision.ts';
import { type PreemptionCandidate, type Rejection, SCORE_MAX } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { refusal, type StatusCode } from '../status.ts';
import * as shapes from './extender-shapes.ts';

/** An answer holds at most the nodes it was asked about, as they are stored. */
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
/** Extenders score from 0 to this. */
const PRIORITY_MAX = 10;
/** Reasons of one answer that are told apart; a message would grow with the nodes otherwise. */
const REASONS_MAX = 100;
const WITHOUT_REASON = refusal('unschedulable', ClusterEvent.any);
const OTHER_REASON = 'node(s) were refused by an extender';

/** Why an extender could not be asked, or gave no answer of use; says which one. */
export class ExtenderFailed extends Error {
  /** It may have done what it was asked for. */
  readonly isOpen: boolean;

  constructor(message: string, isOpen: boolean) {
    super(message);
    this.isOpen = isOpen;
  }
}

export type ExtenderEnvironment = Omit<ConnectionSecretsParts, 'connection'>;

export class HttpExtender {
  readonly configuration: ExtenderConfiguration;
  readonly #client: ServiceClient;
  readonly #resources: ReadonlySet<string>;

  constructor(configuration: ExtenderConfiguration, environment: ExtenderEnvironment) {
    this.configuration = configuration;
    this.#client = new ServiceClient({ ...environment, connection: connectionTo(configuration) }, ANSWER_BYTES_MAX);
    this.#resources = new Set(configuration.managedResources.map(({ name }) => name));
  }

  /** Where it is, as logs name it. */
  get address(): string {
    return shownAddress(this.configuration.urlPrefix);
  }

  /** It looks after all pods, or after those with a container that names one of its resources. */
  wants({ object }: PodInfo): boolean {
    if (this.#resources.size === 0) return true;
    const spec = asObject(object?.spec);
    return [...asList(spec.containers), ...asList(spec.initContainers)].some((container) => {
      const { requests, limits } = asObject(asObject(container).resources);
      return [requests, limits].some((amounts) =>
        Object.keys(asObject(amounts)).some((name) => this.#resources.has(name)),
      );
    });
  }

  /** The nodes that it keeps, and why it refuses others. Rejects with ExtenderFailed. */
  async filter(
    pod: PodInfo,
    nodes: readonly NodeInfo[],
  ): Promise<{ readonly kept: readonly NodeInfo[]; readonly rejections: readonly Rejection[] }> {
    const { filterVerb, nodeCacheCapable: byName } = this.configuration;
    const read = (value: unknown) => {
      const answer = shapes.readFilterAnswer(value);
      const byNames = new Map(nodes.map((node) => [node.name, node]));
      const kept = ((byName ? answer.nodeNames : undefined) ?? answer.nodes ?? []).map((name) => {
        const node = byNames.get(name);
        if (node === undefined)
          throw new shapes.BadAnswer(`it keeps the node ${JSON.stringify(name)}, about which it was not asked`);
        return node;
      });
      return { kept, rejections: [...rejectionsOf(answer, byNames), ...leftOut(answer, nodes, kept)] };
    };
    return this.#ask(filterVerb, shapes.nodeArgs(pod, nodes, byName), read);
  }

  /** What it adds to the totals, by node. Rejects with ExtenderFailed. */
  async prioritize(pod: PodInfo, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>> {
    const { prioritizeVerb, nodeCacheCapable, weight } = this.configuration;
    const scores = await this.#ask(
      prioritizeVerb,
      shapes.nodeArgs(pod, nodes, nodeCacheCapable),
      shapes.readPriorities,
    );
    return new Map([...scores].map(([node, score]) => [node, (score * weight * SCORE_MAX) / PRIORITY_MAX]));
  }

  /** Those of the candidates that it keeps, with the victims that it names. Rejects with ExtenderFailed. */
  async preempt(pod: PodInfo, candidates: readonly PreemptionCandidate[]): Promise<readonly PreemptionCandidate[]> {
    const { preemptVerb, nodeCacheCapable, ignorable } = this.configuration;
    const byName = new Map(candidates.map(({ node }) => [node.name, node]));
    // Of one that may be ignored a node without victims is, and not all that it said.
    const read = (value: unknown) =>
      [...shapes.readVictims(value)]
        .filter(([, { uids }]) => !ignorable || uids.length > 0)
        .map(([name, victims]) => candidateOf(name, victims, byName.get(name)));
    return this.#ask(preemptVerb, shapes.victimArgs(pod, candidates, nodeCacheCapable), read);
  }

  /** Binds. Never rejects. */
  async bind(pod: PodInfo, node: string): Promise<BindingEnd> {
    try {
      await this.#ask(this.configuration.bindVerb, shapes.bindingArgs(pod, node), shapes.readBindingAnswer);
      return { bound: true };
    } catch (error) {
      if (!(error instanceof ExtenderFailed)) throw error;
      return error.isOpen
        ? { bound: false, reason: 'unanswered' }
        : { bound: false, reason: 'failed', message: error.message };
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#client.close();
  }

  async #ask<Answer>(verb: string, args: object, read: (value: unknown) => Answer): Promise<Answer> {
    try {
      return read(await this.#client.postBelow(verb, JSON.stringify(args), this.configuration.httpTimeoutMs));
    } catch (error) {
      if (!(error instanceof ServiceCallFailed || error instanceof shapes.BadAnswer)) throw error;
      const isOpen = error instanceof ServiceCallFailed && error.isOpen;
      throw new ExtenderFailed(failureText(verb, `${this.address}/${verb}`, error), isOpen);
    }
  }
}

/** What the extender says itself is told as it says it; that it answered with a code of failure, in words that are compared. */
function failureText(verb: string, address: string, error: Error): string {
  if (error instanceof shapes.ToldError) return error.message;
  if (error instanceof ServiceRefused) return `failed ${verb} with extender at URL ${address}, code ${error.status}`;
  return `extender ${address}: ${error.message}`;
}

/** Where an extender is, without the credentials that an address may hold. */
export function shownAddress(urlPrefix: string): string {
  const { origin, pathname } = new URL(urlPrefix);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function connectionTo({ urlPrefix, enableHttps, tls }: ExtenderConfiguration): ServiceConnection {
  const caPem = tls?.ca.pem ?? '';
  return {
    ...NOTHING_SHOWN,
    url: urlPrefix,
    caPem,
    // With enableHTTPS and no authority the field has always believed any certificate.
    insecure: tls?.insecure === true || (enableHttps && caPem === ''),
    serverName: tls?.serverName ?? '',
    certPem: tls?.cert.pem ?? '',
    keyPem: tls?.key.pem ?? '',
    ...(tls === undefined ? {} : { files: { ca: tls.ca.file, cert: tls.cert.file, key: tls.key.file } }),
  };
}

function rejectionsOf(
  { failed, unresolvable }: shapes.FilterAnswer,
  nodes: ReadonlyMap<string, NodeInfo>,
): readonly Rejection[] {
  const told = new Set<string>();
  const rejections: Rejection[] = [];
  const add = (code: StatusCode, name: string, reason: string): void => {
    const node = nodes.get(name);
    if (node === undefined) return;
    const shown = told.has(reason) || told.size < REASONS_MAX ? reason : OTHER_REASON;
    told.add(shown);
    rejections.push({ node, status: refusal(code, ClusterEvent.any, shown) });
  };
  for (const [name, reason] of unresolvable) add('unresolvable', name, reason);
  for (const [name, reason] of failed) if (!unresolvable.has(name)) add('unschedulable', name, reason);
  return rejections;
}

/**
 * Nodes that it neither keeps nor says anything about. There is no reason to be told, but only it knows what would help, so any
 * change may.
 */
function leftOut(
  { failed, unresolvable }: shapes.FilterAnswer,
  nodes: readonly NodeInfo[],
  kept: readonly NodeInfo[],
): readonly Rejection[] {
  const keeps = new Set(kept);
  return nodes
    .filter((node) => !keeps.has(node) && !failed.has(node.name) && !unresolvable.has(node.name))
    .map((node) => ({ node, status: WITHOUT_REASON }));
}

/** Throws BadAnswer for victims that are not on the node. */
function candidateOf(
  name: string,
  { uids, violations }: shapes.VictimUids,
  node: NodeInfo | undefined,
): PreemptionCandidate {
  if (node === undefined)
    throw new shapes.BadAnswer(`it names the node ${JSON.stringify(name)}, about which it was not asked`);
  if (uids.length === 0) throw new shapes.BadAnswer(`it names no victims on the node ${JSON.stringify(name)}`);
  const byUid = new Map([...node.pods.values()].map((pod) => [pod.uid, pod]));
  const victims = uids.map((uid) => {
    const victim = byUid.get(uid);
    if (victim === undefined)
      throw new shapes.BadAnswer(`it names a victim on the node ${JSON.stringify(name)} that is not there`);
    return victim;
  });
  return { node, victims, violations };
}
