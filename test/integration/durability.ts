// Clients that write to and watch a server while parts of it, or all of it, are taken away, and what must hold afterwards:
// every acknowledged write is there, and a watch that is resumed misses nothing and repeats nothing.
import type { ExecutionContext } from 'ava';
import type { HttpsClient } from '../server/https-client.ts';
import type { Scope } from '../server/server-process.ts';
import type { Namespace } from './objects.ts';
import { eventually } from './objects.ts';
import { RecordedReader } from './recorded-reader.ts';
import { type Known, RecordedWriter } from './recorded-writer.ts';
import { ResumedWatch } from './resumed-watch.ts';

const WRITERS = 4;

export class Clients {
  readonly watch: ResumedWatch;
  readonly #client: HttpsClient;
  readonly #collection: string;
  readonly #writers: readonly RecordedWriter[];
  readonly #readers: readonly RecordedReader[];

  constructor(client: HttpsClient, collection: string, version: string, mayBeOverloaded: boolean) {
    this.#client = client;
    this.#collection = collection;
    this.watch = new ResumedWatch(client, collection, version);
    const names = Array.from({ length: WRITERS }, (_, i) => `w${i}`);
    this.#writers = names.map((name) => new RecordedWriter(client, collection, name, mayBeOverloaded));
    this.#readers = this.#writers.map(({ known }) => new RecordedReader(client, collection, known, mayBeOverloaded));
  }

  /** How often the server was too busy for a request. */
  get overloads(): number {
    return [...this.#writers, ...this.#readers].reduce((sum, { overloads }) => sum + overloads, 0);
  }

  /** Resolves when that many more writes have been acknowledged to every writer. Rejects when one was refused. */
  async progress(writes: number): Promise<void> {
    const goals = this.#writers.map((writer) => writer.acknowledged + writes);
    const reached = eventually(
      () => Promise.resolve(this.#writers.every((writer, i) => writer.acknowledged >= goals[i]!)),
      (done) => done,
    );
    const failures = [...this.#writers, ...this.#readers, this.watch].map(({ failed }) => failed);
    await Promise.race([reached, ...failures]);
  }

  /** Ends all clients, whatever they have seen. */
  async stop(): Promise<void> {
    await Promise.allSettled([...this.#writers, ...this.#readers, this.watch].map((one) => one.stop()));
  }

  /** Stops the clients, waits until the watch has seen the end, and checks what must hold. */
  async finish(t: ExecutionContext): Promise<void> {
    await Promise.all([...this.#writers, ...this.#readers].map((one) => one.stop()));
    const list = await eventually(
      () => this.#client.get(this.#collection),
      ({ status }) => status === 200,
    );
    const stored = new Map<string, { count: number; version: string }>();
    for (const { metadata, data } of list.json.items ?? []) {
      stored.set(metadata.name ?? '', { count: Number(data?.count), version: metadata.resourceVersion ?? '' });
    }
    const last = Math.max(...[...stored.values()].map(({ version }) => Number(version)));
    const caughtUp = eventually(
      () => Promise.resolve(Number(this.watch.events.at(-1)?.object.metadata.resourceVersion ?? 0) >= last),
      (done) => done,
    );
    await Promise.race([caughtUp, this.watch.failed]);
    await this.watch.stop();

    const known = new Map<string, Known>(this.#writers.flatMap((writer) => [...writer.known]));
    assertStored(t, known, stored);
    assertWatched(t, known, this.watch);
  }
}

/**
 * Clients at work in a namespace, until the test is over. `mayBeOverloaded`: the server may answer 429, and is asked again.
 */
export async function startClients(
  scope: Scope,
  client: HttpsClient,
  namespace: Namespace,
  mayBeOverloaded = false,
): Promise<Clients> {
  const { json } = await eventually(
    () => client.get(namespace.configMaps),
    ({ status }) => status === 200,
  );
  const clients = new Clients(client, namespace.configMaps, json.metadata.resourceVersion ?? '', mayBeOverloaded);
  scope.teardown(() => clients.stop());
  return clients;
}

function assertStored(
  t: ExecutionContext,
  known: ReadonlyMap<string, Known>,
  stored: ReadonlyMap<string, { readonly count: number; readonly version: string }>,
): void {
  for (const [name, { acknowledged, versions, sent }] of known) {
    if (acknowledged < 0) continue;
    const object = stored.get(name);
    if (object === undefined) {
      t.fail(`${name} was acknowledged and is not there`);
      continue;
    }
    t.true(object.count >= acknowledged && object.count <= sent, `${name} holds ${object.count} of ${acknowledged}`);
    if (object.count === acknowledged) t.is(versions.get(object.version), acknowledged, `${name} has another version`);
  }
}

function assertWatched(t: ExecutionContext, known: ReadonlyMap<string, Known>, { events }: ResumedWatch): void {
  let before = 0;
  const seen = new Map<string, number>();
  for (const { type, object } of events) {
    const { name = '', resourceVersion = '' } = object.metadata;
    const version = Number(resourceVersion);
    if (version <= before) t.fail(`${name} at ${version} came after ${before}`);
    before = version;
    if (!known.has(name)) continue;
    const earlier = seen.get(name);
    const count = Number(object.data?.count);
    if (type !== (earlier === undefined ? 'ADDED' : 'MODIFIED')) t.fail(`${type} ${name} after ${earlier}`);
    if (count <= (earlier ?? -1)) t.fail(`${name} went from ${earlier} to ${count}`);
    seen.set(name, count);
  }
  const versions = new Map(events.map(({ object }) => [object.metadata.resourceVersion ?? '', object]));
  for (const [name, object] of known) {
    for (const [version, count] of object.versions) {
      const event = versions.get(version);
      t.is(event?.metadata.name, name, `version ${version} of ${name} was not seen`);
      t.is(Number(event?.data?.count), count, name);
    }
  }
}
