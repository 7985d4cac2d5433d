// One client: sends requests to an ingress, waits for each answer, and notes what it asked and what it was told. It decides
// nothing; the workload does.
import type { StoreProtocol } from '../../actors/store/protocol.ts';
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Freshness, Operation, Scope, Seen, Watch, WatchEvent, Write, WriteOutcome } from './history.ts';
import { seenIn } from './history.ts';
import { Connection, type RequestParts } from './sockets.ts';
import { transactionOf } from './transaction.ts';
import { INGRESSES, threadOf, type World } from './world.ts';

const PATIENCE_MS = 40_000;
const RECONNECT_MS = 50;

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

function collection(plural: string): Collection {
  const path = (namespace: string) =>
    namespace === '' ? `/api/v1/${plural}` : `/api/v1/namespaces/${namespace}/${plural}`;
  return { storageKey: `core/${plural}`, path };
}

export class Client {
  readonly world: World;
  readonly number: number;
  readonly random: SeededRandom;
  readonly operations: Operation[] = [];
  readonly watches: RunningWatch[] = [];
  /** What is wrong whatever the checkers say. */
  readonly problems: string[] = [];
  #ingress: string;

  constructor(world: World, number: number, random: SeededRandom) {
    this.world = world;
    this.number = number;
    this.random = random;
    this.#ingress = INGRESSES[number % INGRESSES.length]!;
  }

  /** Sends a request and waits for its answer; goes to another ingress when its own is gone. */
  async request(parts: RequestParts): Promise<Answer> {
    const ingress = await this.connect();
    const { world } = this;
    const connection = new Connection();
    const front = world.frontOf(ingress);
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
    if (status === 500) this.problems.push(`${method} ${path}?${query} was answered 500: ${connection.text}`);
    return { status, body, front, invoked, returned };
  }

  /** An ingress that takes requests. */
  async connect(): Promise<string> {
    for (;;) {
      if (this.world.sockets.isAccepting(this.#ingress)) return this.#ingress;
      this.#ingress = INGRESSES[this.random.below(INGRESSES.length)]!;
      await this.world.sleep(RECONNECT_MS);
    }
  }

  async write(
    { storageKey, path }: Collection,
    kind: Write['kind'],
    key: { readonly namespace: string; readonly name: string },
    what: Pick<Write, 'tag' | 'held' | 'expects'>,
    body?: object,
  ): Promise<WriteOutcome> {
    const { namespace, name } = key;
    const own = path(namespace);
    const answer = await this.request({
      method: METHODS[kind],
      path: kind === 'create' ? own : `${own}/${name}`,
      ...(kind === 'patch' ? { contentType: 'application/merge-patch+json' } : {}),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const outcome = outcomeOf(storageKey, answer);
    const { invoked, returned, front } = answer;
    const interval = { client: this.number, front, invoked, returned };
    this.operations.push({ ...interval, kind, key: `${storageKey}/${namespace}/${name}`, ...what, outcome });
    return outcome;
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
    const { storageKey, namespace, frontOnly } = scope;
    const selector = frontOnly ? ['labelSelector=tier%3Dfront'] : [];
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
    const outcome = status === 200 ? { revision, items } : status === 410 ? 'expired' : 'refused';
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
    const store = world.threads.ref<StoreProtocol>(threadOf(ingress), 'store');
    const message = { type: 'commit', transactions: [{ operations }], payload } as const;
    const work = store.ask<'commit'>(message, { deadlineMs: PATIENCE_MS }).catch(() => {});
    // A thread that ends takes its questions with it.
    await Promise.race([work, world.sleep(PATIENCE_MS)]);
  }

  /** Opens a watch, which goes on by itself. `after` undefined: from the present. */
  async watch(
    { path }: Collection,
    scope: Scope,
    after: number | undefined,
    least: () => number,
  ): Promise<RunningWatch> {
    const ingress = await this.connect();
    const { world } = this;
    const selector = scope.frontOnly ? ['labelSelector=tier%3Dfront'] : [];
    const version = after === undefined ? [] : [`resourceVersion=${after}`];
    const query = ['watch=1', 'allowWatchBookmarks=true', ...selector, ...version];
    if (this.random.below(4) === 0) query.push(`timeoutSeconds=${1 + this.random.below(20)}`);
    const opened = world.moment();
    const facts = { client: this.number, front: world.frontOf(ingress), opened, least: least(), after };
    const watch = new RunningWatch(this, scope, facts);
    this.watches.push(watch);
    world.sockets.send(
      ingress,
      { method: 'GET', path: path(scope.namespace), query: query.join('&') },
      watch.connection,
    );
    return watch;
  }
}

interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
}

const METHODS = { create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

/** 429 promises that nothing was done, as every 4xx does; 5xx promises nothing. */
function outcomeOf(storageKey: string, { status, body }: Answer): WriteOutcome {
  if (status === 0 || status >= 500) return { is: 'unknown', code: status };
  if (status >= 400) return { is: 'refused', code: status };
  return { is: 'ok', object: body.kind === 'Status' ? undefined : seenIn(storageKey, body) };
}

function told({ kind, metadata, message }: Record<string, unknown>): string {
  if (kind === 'Status') return String(message ?? 'done');
  return (metadata as ListMetadata | undefined)?.resourceVersion ?? '';
}

/** An open watch: reads as fast as the seed says, and knows where it could be resumed. */
export class RunningWatch {
  readonly connection = new Connection();
  readonly scope: Scope;
  readonly #facts: Pick<Watch, 'client' | 'front' | 'opened' | 'least' | 'after'>;
  readonly #client: Client;
  readonly #events: WatchEvent[] = [];
  #expired = false;
  #chunk = 0;
  /** Reads whatever comes, at once. */
  isEager = false;

  constructor(client: Client, scope: Scope, facts: Pick<Watch, 'client' | 'front' | 'opened' | 'least' | 'after'>) {
    this.#client = client;
    this.scope = scope;
    this.#facts = facts;
    const { connection } = this;
    connection.onChunk = (chunk) => this.#read(chunk);
    connection.isFull = () => !this.isEager && client.random.below(5) === 0;
  }

  /** The revision that a next watch would go on from; undefined when nothing is known. */
  get position(): number | undefined {
    return this.#events.at(-1)?.object.revision ?? this.#facts.after;
  }

  get isExpired(): boolean {
    return this.#expired;
  }

  get record(): Watch {
    const { connection, scope } = this;
    const { status, isOver, writesWhileFull } = connection;
    const end = this.#expired ? 'expired' : status >= 400 ? 'refused' : isOver ? 'over' : 'open';
    return { ...scope, ...this.#facts, events: this.#events, end, writesWhileFull };
  }

  #read(chunk: string): void {
    const { connection } = this;
    if (connection.status !== 200) return;
    const { storageKey } = this.scope;
    const number = this.#chunk++;
    for (const line of chunk.split('\n')) {
      if (line.trim() === '') continue;
      const { type, object } = JSON.parse(line) as { type: string; object: Record<string, unknown> };
      this.#client.world.trace(
        `watch of client ${this.#client.number} @${this.#facts.opened}: ${type} ${told(object)}`,
      );
      if (type !== 'ERROR') this.#events.push({ type, object: seenIn(storageKey, object), chunk: number });
      else if (object.code === 410) this.#expired = true;
      else this.#client.problems.push(`a watch ended with ${line}`);
    }
  }
}
