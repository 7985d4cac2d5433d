// A client that reads all the time what a writer writes: no consistent read may show less than was acknowledged before it was
// asked for, nor anything that was never sent.
import type { Answer, HttpsClient } from '../server/https-client.ts';
import type { Known } from './recorded-writer.ts';

/** Too busy, away, or not in time. */
const NO_ANSWER: ReadonlySet<number> = new Set([429, 503, 504]);
/** Between two reads: the writers are to have most of the machine. */
const PAUSE_MS = 10;

export class RecordedReader {
  /** How often the server was too busy. */
  overloads = 0;
  readonly #client: HttpsClient;
  readonly #collection: string;
  readonly #known: ReadonlyMap<string, Known>;
  readonly #mayBeOverloaded: boolean;
  #stopping = false;
  /** Rejects when a read was wrong or refused; never resolves. */
  readonly failed: Promise<never>;
  readonly #running: Promise<void>;

  constructor(client: HttpsClient, collection: string, known: ReadonlyMap<string, Known>, mayBeOverloaded: boolean) {
    this.#client = client;
    this.#collection = collection;
    this.#known = known;
    this.#mayBeOverloaded = mayBeOverloaded;
    this.#running = this.#run();
    this.failed = new Promise((_, reject) => {
      this.#running.catch(reject);
    });
    this.failed.catch(() => {}); // Whoever waits for anything else hears of it too.
  }

  /** Resolves when the request under way has ended. Rejects when a read was wrong. */
  stop(): Promise<void> {
    this.#stopping = true;
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const last = [...this.#known].at(-1);
      if (last !== undefined && last[1].acknowledged >= 0) await this.#read(...last);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #read(name: string, known: Known): Promise<void> {
    const { acknowledged } = known;
    let answer: Answer;
    try {
      answer = await this.#client.get(`${this.#collection}/${name}`);
    } catch {
      return; // The server is away.
    }
    const { status, text } = answer;
    if (status === 429 && this.#mayBeOverloaded) this.overloads++;
    else if (status === 429) throw new Error(`a read was answered with 429: ${text}`);
    if (NO_ANSWER.has(status)) return;
    const count = Number(answer.json.data?.count);
    if (status === 200 && count >= acknowledged && count <= known.sent) return;
    throw new Error(`${name} was read as ${status} ${count} after ${acknowledged} was acknowledged: ${text}`);
  }
}
