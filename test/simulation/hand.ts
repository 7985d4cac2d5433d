// What the steps of one client share: its client, its luck, tags that no other write has, and what it has read last.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Client, Collection } from './client.ts';
import { type Freshness, seenIn, versionOf } from './history.ts';

/** Namespaces that stay. */
export const NAMESPACES = ['a', 'a-b'] as const;
export const NODES = ['n0', 'n1'] as const;
/** Objects that nobody but the clients changes. */
export const PLAIN_NAMES = ['o0', 'o1', 'o2'] as const;
export const FINALIZER = 'example.com/hold';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export class Hand {
  readonly client: Client;
  readonly random: SeededRandom;
  /** The highest revision that any client of the run has been told of. */
  readonly known: () => number;
  /** The highest revision it has seen. */
  seen = 0;
  /** Objects as they were read last, to be written back. */
  readonly #read = new Map<string, Record<string, unknown>>();
  #tags = 0;

  constructor(client: Client, known: () => number) {
    this.client = client;
    this.random = client.random;
    this.known = known;
  }

  /** What it may name in a read that is to be no older: it or another client has been told of it, perhaps by another hub. */
  told(): number {
    return Math.max(1, this.seen, this.known());
  }

  tag(): string {
    return `w${this.client.number}.${this.#tags++}`;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.random.below(from.length)]!;
  }

  /** True once in so many times. */
  rarely(times: number): boolean {
    return this.random.below(times) === 0;
  }

  plainName(): ObjectName {
    return { namespace: this.pick(NAMESPACES), name: this.pick(PLAIN_NAMES) };
  }

  /** An object without content; of many sizes, so that slabs are filled in many ways. */
  object(metadata: object, tag: string, held: boolean): Record<string, unknown> {
    const labels = this.rarely(2) ? { tier: 'front' } : {};
    const finalizers = held ? { finalizers: [FINALIZER] } : {};
    const annotations = { tag, filler: 'x'.repeat(this.random.below(this.rarely(8) ? 1500 : 60)) };
    return { metadata: { ...metadata, annotations, labels, ...finalizers } };
  }

  /** Reads an object; answers it, undefined when there is none. */
  async read(
    collection: Collection,
    { namespace, name }: ObjectName,
    freshness: Freshness,
  ): Promise<Record<string, unknown> | undefined> {
    const asked = freshness === 'notOlderThan' ? this.told() : 0;
    const answer = await this.client.get(collection, namespace, name, freshness, asked);
    const path = `${collection.storageKey}/${namespace}/${name}`;
    if (answer.status !== 200) {
      this.#read.delete(path);
      return undefined;
    }
    this.#read.set(path, answer.body);
    this.seen = Math.max(this.seen, seenIn(collection.storageKey, answer.body).revision);
    return answer.body;
  }

  /** What was read some time ago or now; undefined when there was nothing. */
  async lastRead(collection: Collection, key: ObjectName): Promise<Record<string, unknown> | undefined> {
    const read = this.#read.get(`${collection.storageKey}/${key.namespace}/${key.name}`);
    return read === undefined || this.rarely(2) ? this.read(collection, key, 'mostRecent') : read;
  }

  forget({ storageKey }: Collection, { namespace, name }: ObjectName): void {
    this.#read.delete(`${storageKey}/${namespace}/${name}`);
  }
}

/** What a write that insists on this object says: the version as the checkers name it, and as the server does. */
export function insistingOn(
  { storageKey }: Collection,
  read: Record<string, unknown>,
): { readonly expects: string; readonly resourceVersion: string } {
  const seen = seenIn(storageKey, read);
  return { expects: versionOf(seen), resourceVersion: String(seen.revision) };
}
