// Which flow a request belongs to: the first schema that is about who asks and what for, and within it the user or the namespace.
// What is found out about a user is kept until the configuration changes, and of at most so many users.
import type { User } from '../../../api/authorization/attributes.ts';
import type { FlowConfiguration, FlowRule, FlowSchema } from '../../../api/flow-control/configuration.ts';
import { dealHand, flowHash } from '../../../api/flow-control/hand.ts';
import { isAskedFor, rulesAbout } from '../../../api/flow-control/matching.ts';
import type { RequestInfo } from '../../../api/requests/request-info.ts';
import type { HeaderList } from '../../../transport/http.ts';
import { keptHeaders } from '../../../transport/kept-headers.ts';
import { keep } from '../../../values/kept.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FlowSeries } from './flow-metrics.ts';
import type { Level } from './level.ts';

/** A request as the queues know it. */
export interface FlowRequest {
  readonly flow: Flow;
  readonly exchange: Exchange;
}

export type FlowLevel = Level<FlowRequest>;

/** A schema with the level that its requests go to. */
export interface SchemaInUse {
  readonly schema: FlowSchema;
  readonly level: FlowLevel;
  /** What every answer to its requests says. */
  readonly headers: HeaderList;
  readonly series: FlowSeries;
}

export interface Flow extends SchemaInUse {
  readonly distinguisher: string;
  /** Queues that its requests may wait in; none where the level has no queues. */
  readonly hand: readonly number[];
}

/** A schema that is about a user. */
interface Candidate {
  readonly rules: readonly FlowRule[];
  readonly of: SchemaInUse;
  /** Where the schema does not tell namespaces apart. */
  flow: Flow | undefined;
  byNamespace: Map<string, Flow> | undefined;
}

/** Of users, and of namespaces for each: beyond them all are found out again. */
const KEPT_MAX = 1000;
const CATCH_ALL = 'catch-all';
const NO_QUEUES: readonly number[] = [];

export class Classifier {
  readonly #schemas: readonly SchemaInUse[];
  readonly #byUser = new WeakMap<User, readonly Candidate[]>();
  readonly #byName = new Map<string, readonly Candidate[]>();

  /** The schemas in the order in which they are asked; there is a `catch-all` among them. */
  constructor(schemas: readonly SchemaInUse[]) {
    this.#schemas = schemas;
  }

  flowOf(user: User, info: RequestInfo): Flow {
    const candidates = this.#byUser.get(user) ?? this.#candidatesOf(user);
    const found = firstAbout(candidates, info);
    const { flowsBy } = found.of.schema;
    if (flowsBy === 'ByNamespace' && info.isResource) return flowOfNamespace(found, info.namespace);
    found.flow ??= newFlow(found.of, flowsBy === 'ByUser' ? user.name : '');
    return found.flow;
  }

  #candidatesOf(user: User): readonly Candidate[] {
    const key = `${user.name}\0${user.groups.join('\0')}`;
    let candidates = this.#byName.get(key);
    if (candidates === undefined) {
      candidates = this.#found(user);
      keep(this.#byName, KEPT_MAX, key, candidates);
    }
    this.#byUser.set(user, candidates);
    return candidates;
  }

  /** Whoever no schema is about goes with those that nothing else is about. */
  #found(user: User): readonly Candidate[] {
    const found: Candidate[] = [];
    let last: Candidate | undefined;
    for (const of of this.#schemas) {
      const rules = rulesAbout(of.schema, user);
      const isLast = of.schema.name === CATCH_ALL;
      if (rules.length === 0 && !isLast) continue;
      const candidate = { rules, of, flow: undefined, byNamespace: undefined };
      if (isLast) last = candidate;
      if (rules.length > 0) found.push(candidate);
    }
    // The last takes what nothing else is about.
    if (found.at(-1) !== last) found.push(last!);
    return found;
  }
}

/** The first that is about what is asked for, else the last. */
function firstAbout(candidates: readonly Candidate[], info: RequestInfo): Candidate {
  for (const candidate of candidates) if (isAskedFor(candidate.rules, info)) return candidate;
  return candidates.at(-1)!;
}

function flowOfNamespace(candidate: Candidate, namespace: string): Flow {
  candidate.byNamespace ??= new Map();
  let flow = candidate.byNamespace.get(namespace);
  if (flow === undefined) {
    flow = newFlow(candidate.of, namespace);
    keep(candidate.byNamespace, KEPT_MAX, namespace, flow);
  }
  return flow;
}

/** Spelled out: copied with `...`, each would have a shape of its own, of as many bytes as the flow itself. */
function newFlow({ schema, level, headers, series }: SchemaInUse, distinguisher: string): Flow {
  const { queuing } = level.spec;
  const hash = flowHash(schema.name, distinguisher);
  const hand = queuing === undefined ? NO_QUEUES : dealHand(hash, queuing.queues, queuing.handSize);
  return { schema, level, headers, series, distinguisher, hand };
}

/** The headers that name a schema and its level. */
export function flowHeaders(prefix: string, schema: FlowSchema, levelUid: string): HeaderList {
  return keptHeaders([
    [`${prefix}-PF-FlowSchema-UID`, schema.uid],
    [`${prefix}-PF-PriorityLevel-UID`, levelUid],
  ]);
}

/** All schemas of a configuration whose level is in use. */
export function schemasInUse(
  { schemas }: FlowConfiguration,
  levels: ReadonlyMap<string, FlowLevel>,
  make: (schema: FlowSchema, level: FlowLevel) => SchemaInUse,
): readonly SchemaInUse[] {
  return schemas.flatMap((schema) => {
    const level = levels.get(schema.level);
    return level === undefined ? [] : [make(schema, level)];
  });
}
