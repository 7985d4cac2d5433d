// The writes of the soak: creates, changes, moves between tiers and deletes of its objects, at a steady rate, each object by one
// request at a time. Says each acknowledged version.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { collectionOf, NAMESPACES, nameOf, namespaceOf, OBJECTS, pathOf, type Tier } from './selections.ts';

const TICK_MS = 10;
/** Requests at a time; what is due beyond that waits. */
const OUTSTANDING_MAX = 32;
/** Of a hundred writes to an object that is there. */
const DELETES = 12;
const MOVES = 15;
const FILLER = 'x'.repeat(600);
const MERGE = { 'content-type': 'application/merge-patch+json' };

/** What is known of an object: its tier, that there is none, or nothing, after a write that was not answered. */
type Known = Tier | 'absent' | 'unknown';

export interface ChurnParts {
  readonly client: HttpsClient;
  readonly random: SeededRandom;
  readonly writesPerSecond: number;
  readonly onAcknowledged: (object: number, version: number) => void;
  readonly onProblem: (problem: string) => void;
}

export class Churn {
  acknowledged = 0;
  /** Writes that the server could not answer, because a part of it was away. */
  unanswered = 0;
  readonly #parts: ChurnParts;
  readonly #known: Known[] = Array.from({ length: OBJECTS }, () => 'absent');
  readonly #busy = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #begun = 0;
  #writes = 0;
  #idle: (() => void) | undefined;

  constructor(parts: ChurnParts) {
    this.#parts = parts;
  }

  /** Makes the namespaces and about two of three objects. */
  async prepare(): Promise<void> {
    const { client } = this.#parts;
    for (let i = 0; i < NAMESPACES; i++) {
      const body = { metadata: { name: namespaceOf(i) } };
      const { status, text } = await client.request('POST', '/api/v1/namespaces', { body });
      if (status !== 201) throw new Error(`no namespace could be made: ${text}`);
    }
    for (let object = 0; object < OBJECTS; object++) if (object % 3 !== 0) await this.#write(object);
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Resolves when every write has been answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#busy.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #tick(): void {
    const due = ((performance.now() - this.#startedMs) / 1000) * this.#parts.writesPerSecond;
    // What could not be written in time, because the server was away, is not made up for.
    if (due - this.#begun > this.#parts.writesPerSecond) this.#begun = due;
    while (this.#begun < due && this.#busy.size < OUTSTANDING_MAX) {
      const object = this.#parts.random.below(OBJECTS);
      if (this.#busy.has(object)) continue;
      this.#begun++;
      void this.#write(object);
    }
  }

  async #write(object: number): Promise<void> {
    this.#busy.add(object);
    try {
      if (this.#known[object] === 'unknown') await this.#look(object);
      else await this.#change(object, this.#known[object]!);
    } catch {
      // Reset or cut off: it may have been done or not.
      this.#known[object] = 'unknown';
      this.unanswered++;
    }
    this.#busy.delete(object);
    if (this.#busy.size === 0) this.#idle?.();
  }

  async #change(object: number, known: Known): Promise<void> {
    const { client, random } = this.#parts;
    const choice = random.below(100);
    const data = { seq: String(++this.#writes), filler: FILLER };
    if (known === 'absent') {
      const tier = choice < 50 ? 'a' : 'b';
      const body = { metadata: { name: nameOf(object), labels: { tier } }, data };
      this.#settle(object, await client.request('POST', collectionOf(object), { body }), 201, tier);
    } else if (choice < DELETES) {
      this.#settle(object, await client.request('DELETE', pathOf(object)), 200, 'absent');
    } else {
      const tier: Tier = choice < DELETES + MOVES ? (known === 'a' ? 'b' : 'a') : (known as Tier);
      const body = tier === known ? { data } : { metadata: { labels: { tier } }, data };
      this.#settle(object, await client.request('PATCH', pathOf(object), { body, headers: MERGE }), 200, tier);
    }
  }

  #settle(object: number, { status, text, json }: Answer, wanted: number, after: Known): void {
    if (status === wanted) {
      this.#known[object] = after;
      this.acknowledged++;
      if (after !== 'absent') this.#parts.onAcknowledged(object, Number(json.metadata.resourceVersion));
      return;
    }
    this.#known[object] = 'unknown';
    this.unanswered++;
    if (status !== 503 && status !== 504) this.#parts.onProblem(`a write of ${nameOf(object)} got ${status}: ${text}`);
  }

  /** What became of a write that was not answered. */
  async #look(object: number): Promise<void> {
    const { status, json } = await this.#parts.client.get(pathOf(object));
    if (status === 404) this.#known[object] = 'absent';
    else if (status === 200) this.#known[object] = json.metadata.labels?.tier as Tier;
  }
}
