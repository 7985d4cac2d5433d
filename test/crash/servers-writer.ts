// One client of several servers: writes objects that only it writes to, each time through any of them, and looks through another at
// what it was told. An object whose write was not answered rests until it is settled: the write may still happen.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Answer, ApiObject, HttpsClient } from '../server/https-client.ts';
import type { WatchEvent } from '../server/watch-stream.ts';
import type { CrashCollection } from './crash-client.ts';
import { WAYS_IN, WAYS_ON } from './crash-kinds.ts';
import { KnownObject } from './known-object.ts';

const OBJECTS = 12;
const LOOK_SHARE = 0.5;
const REST_MS = 20;
/** Nothing was done, and it may be asked again. */
const NOT_DONE: ReadonlySet<number> = new Set([429, 507]);

/** What all writers of a run know. */
export interface Written {
  /** The highest version that anyone was told. */
  highest: number;
  acknowledged: number;
  /** How often what was acknowledged was lost, because the store was restored: what was asked for before may be gone. */
  losses: number;
  /** It was lost in this round: a server that has not noticed refuses by what it knew. */
  isLossy: boolean;
  readonly problems: string[];
}

export function nothingWritten(): Written {
  return { highest: 0, acknowledged: 0, losses: 0, isLossy: false, problems: [] };
}

export class ServersWriter {
  readonly #clients: readonly HttpsClient[];
  readonly #collection: CrashCollection;
  readonly #objects: readonly KnownObject[];
  readonly #name: string;
  readonly #written: Written;
  #tokens = 0;

  constructor(clients: readonly HttpsClient[], name: string, collection: CrashCollection, written: Written) {
    this.#clients = clients;
    this.#name = name;
    this.#collection = collection;
    this.#written = written;
    this.#objects = Array.from({ length: OBJECTS }, (_, index) => new KnownObject(`${name}-${index}`));
  }

  /** How many of its objects wait to be settled. */
  get open(): number {
    return this.#objects.filter(({ open }) => open !== undefined).length;
  }

  async run(random: SeededRandom, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const free = this.#objects.filter(({ open }) => open === undefined);
      if (free.length === 0) await new Promise((resolve) => setTimeout(resolve, REST_MS));
      else await this.#write(free[random.below(free.length)]!, random);
    }
  }

  async #write(object: KnownObject, random: SeededRandom): Promise<void> {
    const { kind, path } = this.#collection;
    const ways = object.exists ? WAYS_ON : WAYS_IN;
    const deed = ways[random.below(ways.length)]!(kind, path, object, `${this.#name}.${++this.#tokens}`);
    const at = random.below(this.#clients.length);
    const { losses } = this.#written;
    object.open = { token: deed.token };
    let answer: Answer;
    try {
      const { body, headers } = deed;
      const settings = body === undefined ? { headers } : { headers, body };
      answer = await this.#clients[at]!.request(deed.method, deed.path, settings);
    } catch (error) {
      // A server that is not there has done nothing.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') object.open = undefined;
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      return;
    }
    const { status, text } = answer;
    // Nobody knows whether it was before or after the loss.
    if (losses !== this.#written.losses) return;
    if (NOT_DONE.has(status)) object.open = undefined;
    else if (status < 300) {
      const version = deed.token === undefined ? undefined : Number(answer.json.metadata.resourceVersion);
      object.acknowledge({ token: deed.token, version });
      this.#written.acknowledged++;
      this.#written.highest = Math.max(this.#written.highest, version ?? 0);
      if (random.next() < LOOK_SHARE) await this.#look(object, this.#clients[(at + 1) % this.#clients.length]!);
    } else if (status < 500 && !this.#written.isLossy) {
      // Nobody else writes to it: what is refused has happened before.
      this.#written.problems.push(`${deed.method} ${deed.path} was answered with ${status}: ${text.slice(0, 300)}`);
    }
  }

  /** Through another server, what was acknowledged is there. */
  async #look(object: KnownObject, client: HttpsClient): Promise<void> {
    const { losses } = this.#written;
    const answer = await client.get(`${this.#collection.path}/${object.name}`).catch(() => undefined);
    if ((answer?.status !== 200 && answer?.status !== 404) || losses !== this.#written.losses) return;
    const problem = object.settle(answer.status === 404 ? undefined : answer.json);
    if (problem !== undefined) this.#written.problems.push(`through the other server ${problem}`);
  }

  /** What is wrong with what is stored now that all is quiet. */
  settle(stored: ReadonlyMap<string, ApiObject>): readonly string[] {
    return this.#objects.flatMap((object) => object.settle(stored.get(object.name)) ?? []);
  }

  checkEvents(events: readonly WatchEvent[]): readonly string[] {
    return this.#objects.flatMap((object) => {
      return object.checkEvents(events.filter((event) => event.object.metadata.name === object.name)) ?? [];
    });
  }

  backUp(): void {
    for (const object of this.#objects) object.backUp();
  }

  restore(): void {
    for (const object of this.#objects) object.restore();
  }

  forget(): void {
    for (const object of this.#objects) object.forget();
  }
}
