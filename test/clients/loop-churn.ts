// The writes that watch loops follow: config maps that come, change, move between tiers and go, and pods beside them. Goes on
// while the server is away, and does not mind what of its writes was kept.
import type { Answer, HttpsClient } from '../server/https-client.ts';

const OBJECTS = 40;
const WRITERS = 2;
/** Between two writes of a writer: about a hundred writes a second in all. */
const PAUSE_MS = 15;
/** What writes get that find an object gone, or there, or a server that is starting. */
const EXPECTED: readonly number[] = [404, 409, 429, 503, 504];
const MERGE = { 'content-type': 'application/merge-patch+json' };

export class LoopChurn {
  writes = 0;
  readonly problems: string[] = [];
  readonly #client: HttpsClient;
  readonly #core: string;
  #next = 0;
  #isOn = false;
  #writers: Promise<void>[] = [];

  constructor(client: HttpsClient, namespace: string) {
    this.#client = client;
    this.#core = `/api/v1/namespaces/${namespace}`;
  }

  start(): void {
    this.#isOn = true;
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  /** Resolves when nothing is on its way any more. */
  async stop(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#writers);
  }

  async #write(): Promise<void> {
    while (this.#isOn) {
      const { status, text } = await this.#one(this.#next++).catch(() => ({ status: 503, text: '' }));
      if (status < 300) this.writes++;
      else if (!EXPECTED.includes(status)) this.problems.push(`a write got ${status}: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Of seven writes to an object one deletes it; the next finds it gone and makes it anew. */
  async #one(count: number): Promise<Answer> {
    const object = (count * 7) % OBJECTS;
    const turn = Math.floor(count / OBJECTS) + object;
    const isPod = object % 3 === 0;
    const collection = `${this.#core}/${isPod ? 'pods' : 'configmaps'}`;
    const path = `${collection}/o-${object}`;
    if (turn % 7 === 0) return this.#client.request('DELETE', path, { body: { gracePeriodSeconds: 0 } });
    const labels = { tier: turn % 3 === 0 ? 'a' : 'b', turn: String(turn) };
    const changed = await this.#client.request('PATCH', path, { body: { metadata: { labels } }, headers: MERGE });
    if (changed.status !== 404) return changed;
    // Nothing places it, so that it goes at once when it is deleted.
    const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example/main:1' }] };
    const body = { metadata: { name: `o-${object}`, labels }, ...(isPod ? { spec } : {}) };
    return this.#client.request('POST', collection, { body });
  }
}
