// One client of a crash round: writes to objects that only it writes to, one request at a time, as its seed says, until the
// server is gone; and remembers what it was told. Now and then it counts up in an object that all clients share.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import type { CrashKind } from './crash-kinds.ts';
import { WAYS_IN, WAYS_ON } from './crash-kinds.ts';
import { KnownObject } from './known-object.ts';
import type { SharedCounter } from './shared-counter.ts';

const OBJECTS_OF_A_KIND = 6;
const COUNT_SHARE = 0.1;
const WRITTEN: ReadonlySet<number> = new Set([200, 201]);

export interface CrashCollection {
  readonly kind: CrashKind;
  readonly path: string;
}

export class CrashClient {
  /** By collection, then by name. */
  readonly objects: ReadonlyMap<CrashCollection, readonly KnownObject[]>;
  acknowledged = 0;
  readonly #client: HttpsClient;
  readonly #name: string;
  readonly #counter: SharedCounter;
  #tokens = 0;

  constructor(client: HttpsClient, name: string, collections: readonly CrashCollection[], counter: SharedCounter) {
    this.#client = client;
    this.#name = name;
    this.#counter = counter;
    this.objects = new Map(
      collections.map((collection) => [
        collection,
        Array.from({ length: OBJECTS_OF_A_KIND }, (_, index) => new KnownObject(`${name}-${index}`)),
      ]),
    );
  }

  /** Writes until a request is not answered. Rejects when one is refused. */
  async run(random: SeededRandom): Promise<void> {
    while (await this.#write(random));
  }

  /** False when the server did not answer. */
  async #write(random: SeededRandom): Promise<boolean> {
    if (random.next() < COUNT_SHARE) return this.#counter.countUp();
    const [collection, objects] = pick([...this.objects], random);
    const object = pick(objects, random);
    const way = pick(object.exists ? WAYS_ON : WAYS_IN, random);
    const deed = way(collection.kind, collection.path, object, `${this.#name}.${++this.#tokens}`);
    object.open = { token: deed.token };
    let answer: Answer;
    try {
      const { body, headers } = deed;
      answer = await this.#client.request(deed.method, deed.path, body === undefined ? { headers } : { headers, body });
    } catch {
      // Refused, reset, or cut off: it may have been done or not.
      return false;
    }
    const { status, text, json } = answer;
    if (!WRITTEN.has(status)) throw new Error(`${deed.method} ${deed.path} was answered with ${status}: ${text}`);
    const version = deed.token === undefined ? undefined : Number(json.metadata.resourceVersion);
    object.acknowledge({ token: deed.token, version });
    this.acknowledged++;
    return true;
  }
}

function pick<T>(from: readonly T[], random: SeededRandom): T {
  return from[random.below(from.length)]!;
}
