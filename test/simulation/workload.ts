// What the clients of a run do, drawn from the seed: writes of all kinds on a few names, reads of every freshness, watches
// that break and are resumed, pods that are created and bound by several at once.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { type Answer, type Client, CONFIG_MAPS, type Collection, PODS, type RunningWatch, SECRETS } from './client.ts';
import { type Freshness, type Scope, seenIn, versionOf } from './history.ts';

export const NAMESPACES = ['a', 'a-b'] as const;
export const NODES = ['n0', 'n1'] as const;
const NAMES = ['o0', 'o1', 'o2'];
const THINK_MS_MAX = 150;
const FINALIZER = 'example.com/hold';
const FRESHNESS: readonly Freshness[] = ['mostRecent', 'any', 'notOlderThan', 'exact'];

/** One client's part of a run. */
export class Workload {
  readonly #client: Client;
  readonly #random: SeededRandom;
  /** The highest revision that any client of the run has been told of. */
  readonly #known: () => number;
  /** Objects as they were read last, to be written back. */
  readonly #read = new Map<string, Record<string, unknown>>();
  /** The highest revision it has seen. */
  #seen = 0;
  #tags = 0;

  constructor(client: Client, known: () => number) {
    this.#client = client;
    this.#random = client.random;
    this.#known = known;
  }

  /** A number of steps, each awaited before the next. */
  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await this.#client.world.sleep(this.#random.below(THINK_MS_MAX));
      await this.#step();
    }
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const collection = random.below(4) === 0 ? SECRETS : CONFIG_MAPS;
    const share = random.below(27);
    if (share < 5) await this.#create(collection);
    else if (share < 10) await this.#update(collection);
    else if (share < 12) await this.#patch(collection);
    else if (share < 14) await this.#delete(collection);
    else if (share < 16) await this.#get(collection);
    else if (share < 19) await this.#list(collection);
    else if (share < 21) await this.#watch(random.below(6) === 0 ? PODS : collection);
    else if (share < 25) await this.#pod();
    else if (share < 26) await this.#pair();
    else this.#breakWatch();
  }

  #tag(): string {
    return `w${this.#client.number}.${this.#tags++}`;
  }

  #key(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#pick(NAMESPACES), name: this.#pick(NAMES) };
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)]!;
  }

  async #create(collection: Collection): Promise<void> {
    const { namespace, name } = this.#key();
    const tag = this.#tag();
    const held = this.#random.below(4) === 0;
    const body = this.#object({ name, namespace }, tag, held);
    await this.#client.write(collection, 'create', { namespace, name }, { tag, held, expects: undefined }, body);
  }

  #object(metadata: object, tag: string, held: boolean): Record<string, unknown> {
    const random = this.#random;
    const labels = random.below(2) === 0 ? { tier: 'front' } : {};
    const finalizers = held ? { finalizers: [FINALIZER] } : {};
    // Of many sizes, so that slabs are filled in many ways.
    const annotations = { tag, filler: 'x'.repeat(random.below(random.below(8) === 0 ? 1500 : 60)) };
    return { metadata: { ...metadata, annotations, labels, ...finalizers } };
  }

  /** With the version that was read before, or without any. */
  async #update(collection: Collection): Promise<void> {
    const random = this.#random;
    const key = this.#key();
    const { namespace, name } = key;
    const path = `${collection.storageKey}/${namespace}/${name}`;
    const insists = random.below(3) > 0;
    if (insists && (!this.#read.has(path) || random.below(2) === 0)) await this.#readOne(collection, key, 'mostRecent');
    const read = this.#read.get(path);
    const tag = this.#tag();
    const held = random.below(4) === 0;
    if (!insists || read === undefined) {
      const body = this.#object({ name, namespace }, tag, held);
      await this.#client.write(collection, 'update', key, { tag, held, expects: undefined }, body);
      return;
    }
    const { metadata, ...rest } = read as { metadata: Record<string, unknown> };
    const { finalizers: _finalizers, ...kept } = metadata;
    const body = { ...rest, ...this.#object(kept, tag, held) };
    const expects = versionOf(seenIn(collection.storageKey, read));
    const outcome = await this.#client.write(collection, 'update', key, { tag, held, expects }, body);
    if (outcome.is !== 'ok') this.#read.delete(path);
  }

  async #patch(collection: Collection): Promise<void> {
    const tag = this.#tag();
    const body = { metadata: { annotations: { tag }, labels: { tier: this.#pick(['front', 'back']) } } };
    await this.#client.write(collection, 'patch', this.#key(), { tag, held: false, expects: undefined }, body);
  }

  async #delete(collection: Collection): Promise<void> {
    await this.#client.write(collection, 'delete', this.#key(), { tag: '', held: false, expects: undefined });
  }

  async #get(collection: Collection): Promise<void> {
    await this.#readOne(collection, this.#key(), this.#pick(['mostRecent', 'mostRecent', 'any', 'notOlderThan']));
  }

  async #readOne(
    collection: Collection,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    freshness: Freshness,
  ): Promise<void> {
    const asked = freshness === 'notOlderThan' ? Math.max(1, this.#seen) : 0;
    const answer = await this.#client.get(collection, namespace, name, freshness, asked);
    const path = `${collection.storageKey}/${namespace}/${name}`;
    if (answer.status !== 200) {
      this.#read.delete(path);
      return;
    }
    this.#read.set(path, answer.body);
    this.#seen = Math.max(this.#seen, seenIn(collection.storageKey, answer.body).revision);
  }

  #scope({ storageKey }: Collection): Scope {
    return { storageKey, namespace: this.#pick(['', ...NAMESPACES]), frontOnly: this.#random.below(3) === 0 };
  }

  async #list(collection: Collection): Promise<void> {
    const random = this.#random;
    const freshness = this.#pick(FRESHNESS);
    const asked = Math.max(1, freshness === 'exact' ? this.#seen - random.below(12) : this.#seen);
    const limit = random.below(2) === 0 ? 1 + random.below(3) : 0;
    const needsVersion = freshness === 'notOlderThan' || freshness === 'exact';
    const revision = await this.#client.list(
      collection,
      this.#scope(collection),
      freshness,
      needsVersion ? asked : 0,
      limit,
    );
    if (freshness !== 'exact') this.#seen = Math.max(this.#seen, revision);
  }

  /** Lists and watches from there, as clients do; or takes the present as it comes; or goes back a little. */
  async #watch(collection: Collection): Promise<void> {
    const random = this.#random;
    const scope = this.#scope(collection);
    const choice = random.below(4);
    let after: number | undefined;
    if (choice === 1) after = Math.max(1, this.#seen - random.below(10));
    else if (choice > 1) {
      after = await this.#client.list(collection, scope, 'mostRecent', 0, 0);
      if (after === 0) return;
    }
    await this.#follow(collection, await this.#client.watch(collection, scope, after, this.#known));
  }

  /** Drains the watch now and then, and resumes it from where it was when it ends. */
  async #follow(collection: Collection, first: RunningWatch): Promise<void> {
    const { world } = this.#client;
    const live = async (): Promise<void> => {
      let watch = first;
      for (let resumed = 0; resumed < 4; ) {
        await world.sleep(20 + this.#random.below(1500));
        if (this.#random.below(10) > 0) watch.connection.drain();
        const { isOver } = watch.connection;
        if (!isOver || world.faults.isOver) {
          if (world.faults.isOver) return;
          continue;
        }
        if (watch.isExpired || watch.position === undefined || watch.connection.status >= 400) return;
        watch = await this.#client.watch(collection, watch.scope, watch.position, this.#known);
        resumed++;
      }
    };
    live().catch((error: unknown) => this.#client.problems.push(`a watch: ${String(error)}`));
  }

  #breakWatch(): void {
    const { watches } = this.#client;
    watches[this.#random.below(Math.max(1, watches.length))]?.connection.disconnect();
  }

  /** Two objects under one revision, as only an actor can write them. */
  async #pair(): Promise<void> {
    const namespace = this.#pick(NAMESPACES);
    const tag = this.#tag();
    const objects = ['left', 'right'].map((name) => this.#object({ name, namespace }, tag, false));
    await this.#client.commitTogether(CONFIG_MAPS, objects);
  }

  /** Creates a pod, binds one as a scheduler would, or deletes one. */
  async #pod(): Promise<void> {
    const random = this.#random;
    const key = { namespace: this.#pick(NAMESPACES), name: `p${random.below(2)}` };
    const tag = this.#tag();
    const what = { tag, held: false, expects: undefined };
    const choice = random.below(5);
    if (choice < 2) {
      const containers = [{ name: 'c', image: 'i' }];
      const metadata = { name: key.name, annotations: { tag } };
      // Some are left to the scheduler, and bound by clients all the same.
      const spec = { containers, schedulerName: random.below(2) === 0 ? 'none' : 'default-scheduler' };
      await this.#client.write(PODS, 'create', key, what, { metadata, spec });
    } else if (choice < 4) {
      const body = { target: { kind: 'Node', name: this.#pick(NODES) }, metadata: { name: key.name } };
      const path = `${PODS.path(key.namespace)}/${key.name}/binding`;
      await this.#client.request({ method: 'POST', path, body: JSON.stringify(body) });
    } else {
      await this.#client.write(PODS, 'delete', key, what, { gracePeriodSeconds: 0 });
    }
  }
}

/** Reads everything once more, when all has come to rest: what was lost shows now. */
export async function readEverything(client: Client): Promise<void> {
  const settled = async (ask: () => Promise<Answer>): Promise<void> => {
    while ((await ask()).status >= 500) await client.world.sleep(100);
  };
  for (const collection of [CONFIG_MAPS, SECRETS]) {
    for (const namespace of NAMESPACES) {
      for (const name of NAMES) await settled(() => client.get(collection, namespace, name, 'mostRecent', 0));
    }
    const scope = { storageKey: collection.storageKey, namespace: '', frontOnly: false };
    await client.list(collection, scope, 'mostRecent', 0, 0);
  }
}
