// One client: sends requests to an ingress, waits for each answer, and notes what it asked and what it was told. It decides
// nothing; the workload does.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Assertion, Effect, Freshness, Look, Operation, Scope, Seen, Write, WriteOutcome } from './history.ts';
import { seenIn } from './history.ts';
import { RunningWatch, told } from './running-watch.ts';
import { Connection, type RequestParts } from './sockets.ts';
import { transactionOf } from './transaction.ts';
import type { World } from './world.ts';

const PATIENCE_MS = 40_000;
const RECONNECT_MS = 50;
/** One request in so many goes to another ingress, as behind a balancer. */
const REQUESTS_AN_INGRESS = 20;

/** An answer, or none: status 0. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly front: string;
  readonly invoked: number;
  readonly returned: number;
}

/** The collections that clients work on. */
export interface Collection {
  readonly storageKey: string;
  readonly path: (namespace: string) => string;
}

export const CONFIG_MAPS = collection('configmaps');
export const SECRETS = collection('secrets');
export const PODS = collection('pods');
export const SERVICES = collection('services');
export const DEPLOYMENTS = collection('deployments', 'apps', '/apis/apps/v1');
export const REPLICA_SETS = collection('replicasets', 'apps', '/apis/apps/v1');
export const NAMESPACE_OBJECTS: Collection = { storageKey: 'core/namespaces', path: () => '/api/v1/namespaces' };

function collection(plural: string, group = 'core', root = '/api/v1'): Collection {
  const path = (namespace: string) =>
    namespace === '' ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
  return { storageKey: `${group}/${plural}`, path };
}

export const MERGE_PATCH = 'application/merge-patch+json';
/** A write that merges a patch, of an object that keeps its finalizers. */
export const MERGED = { kind: 'patch', before: 'kept', held: undefined, contentType: MERGE_PATCH } as const;

/** One write: what it does, and how that is said. */
export interface WriteParts extends Partial<Effect> {
  readonly kind: Exclude<Write['kind'], 'collect'>;
  readonly namespace: string;
  readonly name: string;
  readonly body?: object;
  readonly contentType?: string;
  readonly query?: readonly string[];
  /** Of a deletion: the propagation policy that it asks for. */
  readonly policy?: string;
}

const ACCEPTED: Readonly<Record<Look, string>> = {
  whole: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.orch.io',
  partial: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io',
};

export class Client {
  readonly world: World;
  readonly number: number;
  readonly random: SeededRandom;
  readonly operations: Operation[] = [];
  readonly watches: RunningWatch[] = [];
  readonly assertions: Assertion[] = [];
  /** What is wrong whatever the checkers say. */
  readonly problems: string[] = [];
  #ingress: string;

  constructor(world: World, number: number, random: SeededRandom) {
    this.world = world;
    this.number = number;
    this.random = random;
    const { ingresses } = world;
    this.#ingress = ingresses[number % ingresses.length]!;
  }

  /** Sends a request and waits for its answer; goes to another ingress when its own is gone. */
  async request(parts: RequestParts): Promise<Answer> {
    if (this.random.below(REQUESTS_AN_INGRESS) === 0) this.#goElsewhere();
    const ingress = await this.connect();
    const { world } = this;
    const connection = new Connection();
    const front = world.processOf(ingress).frontOf(ingress);
    const invoked = world.moment();
    const over = new Promise<void>((resolve) => {
      connection.onOver = resolve;
      world.time.after(PATIENCE_MS, () => {
        connection.disconnect();
        resolve();
      });
    });
    let returned = Number.POSITIVE_INFINITY;
    const noteEnd = connection.onOver;
    connection.onOver = () => {
      if (connection.ended) returned = world.moment();
      noteEnd();
    };
    world.sockets.send(ingress, parts, connection);
    await over;
    const status = connection.ended ? connection.status : 0;
    // 429 is plain text.
    const isJson = status !== 0 && connection.text.startsWith('{');
    const body = isJson ? (JSON.parse(connection.text) as Record<string, unknown>) : {};
    const { method, path, query = '' } = parts;
    world.trace(`client ${this.number} @${invoked}-${returned} ${method} ${path}?${query} ${status} ${told(body)}`);
    // A webhook that fails is the only one who may.
    if (status === 500 && !connection.text.includes('failed calling webhook'))
      this.problems.push(`${method} ${path}?${query} was answered 500: ${connection.text}`);
    return { status, body, front, invoked, returned };
  }

  /** An ingress that takes requests. */
  async connect(): Promise<string> {
    for (;;) {
      if (this.world.sockets.isAccepting(this.#ingress)) return this.#ingress;
      this.#goElsewhere();
      await this.world.sleep(RECONNECT_MS);
    }
  }

  #goElsewhere(): void {
    const { ingresses } = this.world;
    this.#ingress = ingresses[this.random.below(ingresses.length)]!;
  }

  async write({ storageKey, path }: Collection, parts: WriteParts): Promise<WriteOutcome> {
    const { kind, namespace, name, body, contentType, query = [], dry = false, policy } = parts;
    const { tag = '', before = 'cleared', held = false, expects } = parts;
    const own = path(namespace);
    const answer = await this.request({
      method: METHODS[kind],
      path: kind === 'create' ? own : `${own}/${name}`,
      ...(contentType === undefined ? {} : { contentType }),
      query: (dry ? [...query, 'dryRun=All'] : query).join('&'),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const outcome = outcomeOf(storageKey, answer);
    const { invoked, returned, front } = answer;
    const effect: Effect = { tag, before, held: 'held' in parts ? parts.held : held, expects, dry };
    const key = `${storageKey}/${namespace}/${name}`;
    this.operations.push({ client: this.number, front, invoked, returned, kind, key, ...effect, policy, outcome });
    return outcome;
  }

  /** Deletes everything in a namespace that the selector lets through; `names`: what may be there. */
  async deleteCollection({ storageKey, path }: Collection, scope: Scope, names: readonly string[]): Promise<void> {
    const answer = await this.request({
      method: 'DELETE',
      path: path(scope.namespace),
      query: selectorsOf(scope).join('&'),
    });
    const { status, body, front, invoked, returned } = answer;
    const interval = { client: this.number, front, invoked, returned };
    const part = {
      kind: 'collect',
      tag: '',
      before: 'kept',
      held: undefined,
      expects: undefined,
      dry: false,
      policy: undefined,
    } as const;
    if (status === 200) {
      const { metadata, items: some } = body as unknown as { metadata: ListMetadata; items: object[] };
      const items = some.map((item) => seenIn(storageKey, item));
      const outcome = { revision: Number(metadata.resourceVersion), items };
      this.operations.push({ ...interval, ...scope, kind: 'list', freshness: 'mostRecent', asked: 0, outcome });
      for (const { key } of items)
        this.operations.push({ ...interval, ...part, key, outcome: { is: 'ok', object: undefined } });
    } else {
      // Objects are deleted one after another: some may be gone, whatever the answer says of the rest. Of a type that is not
      // there, nothing is.
      const outcome: WriteOutcome = { is: status === 404 ? 'refused' : 'unknown', code: status };
      for (const name of names) {
        this.operations.push({ ...interval, ...part, key: `${storageKey}/${scope.namespace}/${name}`, outcome });
      }
    }
  }

  async get(
    { storageKey, path }: Collection,
    namespace: string,
    name: string,
    freshness: Freshness,
    asked: number,
  ): Promise<Answer> {
    const query =
      freshness === 'any' ? 'resourceVersion=0' : freshness === 'mostRecent' ? '' : `resourceVersion=${asked}`;
    const answer = await this.request({ method: 'GET', path: `${path(namespace)}/${name}`, query });
    const { status, body, front, invoked, returned } = answer;
    const outcome = status === 200 ? seenIn(storageKey, body) : status === 404 ? 'absent' : 'refused';
    const key = `${storageKey}/${namespace}/${name}`;
    this.operations.push({
      client: this.number,
      front,
      invoked,
      returned,
      kind: 'get',
      key,
      freshness,
      asked,
      outcome,
    });
    return answer;
  }

  /** A list, in chunks when there is a limit. Answers its revision; 0 when there is none. */
  async list({ path }: Collection, scope: Scope, freshness: Freshness, asked: number, limit: number): Promise<number> {
    const { storageKey, namespace } = scope;
    const selector = selectorsOf(scope);
    const version = {
      mostRecent: [],
      any: ['resourceVersion=0'],
      notOlderThan: [`resourceVersion=${asked}`, 'resourceVersionMatch=NotOlderThan'],
      exact: [`resourceVersion=${asked}`, 'resourceVersionMatch=Exact'],
    }[freshness];
    const items: Seen[] = [];
    let first: Answer | undefined;
    let last: Answer | undefined;
    let revision = 0;
    for (let next = ''; last === undefined || next !== ''; ) {
      const paging = limit > 0 ? [`limit=${limit}`] : [];
      const start = next === '' ? version : [`continue=${encodeURIComponent(next)}`];
      last = await this.request({
        method: 'GET',
        path: path(namespace),
        query: [...selector, ...start, ...paging].join('&'),
      });
      first ??= last;
      if (last.status !== 200) break;
      const { metadata, items: some } = last.body as { metadata: ListMetadata; items: object[] };
      const at = Number(metadata.resourceVersion);
      if (revision !== 0 && at !== revision) this.problems.push(`the chunks of a list are of ${revision} and ${at}`);
      revision = at;
      for (const item of some) items.push(seenIn(storageKey, item));
      next = metadata.continue ?? '';
    }
    const { status } = last!;
    const outcome =
      status === 200 ? { revision, items } : status === 410 ? 'expired' : status === 404 ? 'absent' : 'refused';
    const { invoked, front } = first!;
    const { returned } = last!;
    this.operations.push({
      ...scope,
      client: this.number,
      front,
      invoked,
      returned,
      kind: 'list',
      freshness,
      asked,
      outcome,
    });
    return status === 200 ? revision : 0;
  }

  /** Puts objects into one transaction of the store; whether it comes about is for the disk to say. */
  async commitTogether({ storageKey }: Collection, objects: readonly Record<string, unknown>[]): Promise<void> {
    const ingress = await this.connect();
    const { world } = this;
    const { operations, payload } = transactionOf(storageKey, objects);
    const store = world.processOf(ingress).storeBehind(ingress);
    const message = { type: 'commit', transactions: [{ operations }], payload } as const;
    const work = store.ask<'commit'>(message, { deadlineMs: PATIENCE_MS }).catch(() => {});
    // A thread that ends takes its questions with it.
    await Promise.race([work, world.sleep(PATIENCE_MS)]);
  }

  /** Opens a watch, which goes on by itself. `after` undefined: from the present. */
  async watch(
    { path }: Collection,
    scope: Scope,
    look: Look,
    after: number | undefined,
    least: () => number,
  ): Promise<RunningWatch> {
    const ingress = await this.connect();
    const { world } = this;
    const version = after === undefined ? [] : [`resourceVersion=${after}`];
    const query = ['watch=1', 'allowWatchBookmarks=true', ...selectorsOf(scope), ...version];
    // Short ones as a rule: what ends with a bookmark is to end while there is something to be told.
    if (this.random.below(4) === 0) query.push(`timeoutSeconds=${1 + this.random.below(1 + this.random.below(20))}`);
    const opened = world.moment();
    const facts = {
      client: this.number,
      front: world.processOf(ingress).frontOf(ingress),
      opened,
      least: least(),
      after,
      look,
    };
    const watch = new RunningWatch(this, scope, facts);
    this.watches.push(watch);
    const request = { method: 'GET', path: path(scope.namespace), query: query.join('&'), accept: ACCEPTED[look] };
    world.sockets.send(ingress, request, watch.connection);
    return watch;
  }
}

function selectorsOf({ frontOnly, name, node }: Scope): readonly string[] {
  const fields = [name === '' ? '' : `metadata.name=${name}`, node === '' ? '' : `spec.nodeName=${node}`];
  const fieldSelector = fields.filter((term) => term !== '').join(',');
  return [
    ...(frontOnly ? ['labelSelector=tier%3Dfront'] : []),
    ...(fieldSelector === '' ? [] : [`fieldSelector=${encodeURIComponent(fieldSelector)}`]),
  ];
}

interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
}

const METHODS = { create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

/** 429 promises that nothing was done, as every 4xx does, and so does 507; another 5xx promises nothing. */
export function outcomeOf(storageKey: string, { status, body }: Answer): WriteOutcome {
  if (status === 507) return { is: 'refused', code: status };
  if (status === 0 || status >= 500) return { is: 'unknown', code: status };
  if (status >= 400) return { is: 'refused', code: status };
  return { is: 'ok', object: body.kind === 'Status' ? undefined : seenIn(storageKey, body) };
}
