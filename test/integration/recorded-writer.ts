// A client that writes all the time and remembers what it was told: what a server may not lose, and what it may have done
// without saying so, because it died before it could.
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { configMap } from './objects.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };
/** A part of the server is away, or did not answer in time. */
const CANNOT_SAY: ReadonlySet<number> = new Set([503, 504]);
/** Nothing was done; to be sent again. */
const TOO_MANY = 429;
/** Between tries while the server is away. */
const RETRY_MS = 10;

/** What is known of one object. */
export interface Known {
  /** The last count whose write was acknowledged; -1: not even the creation. */
  acknowledged: number;
  /** Every acknowledged write: version → count. */
  readonly versions: Map<string, number>;
  /** The last count sent: the most that may be stored. */
  sent: number;
}

/** Creates objects and counts up in them, one request at a time, until it is stopped. */
export class RecordedWriter {
  readonly known = new Map<string, Known>();
  readonly #client: HttpsClient;
  readonly #collection: string;
  readonly #prefix: string;
  readonly #mayBeOverloaded: boolean;
  #stopping = false;
  #acknowledged = 0;
  /** How often the server was too busy. */
  overloads = 0;
  /** Rejects when a write was refused; never resolves. */
  readonly failed: Promise<never>;
  readonly #running: Promise<void>;

  /** `mayBeOverloaded`: the server may answer that it is too busy; without it, that is a refusal like any other. */
  constructor(client: HttpsClient, collection: string, prefix: string, mayBeOverloaded = false) {
    this.#client = client;
    this.#collection = collection;
    this.#prefix = prefix;
    this.#mayBeOverloaded = mayBeOverloaded;
    this.#running = this.#run();
    this.failed = new Promise((_, reject) => {
      this.#running.catch(reject);
    });
    this.failed.catch(() => {}); // Whoever waits for anything else hears of it too.
  }

  /** Writes acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Resolves when the request under way has ended. Rejects when a write was refused. */
  stop(): Promise<void> {
    this.#stopping = true;
    return this.#running;
  }

  async #run(): Promise<void> {
    for (let i = 0; !this.#stopping; i++) {
      // Every third write makes a new object, the others count up in an earlier one.
      const name = `${this.#prefix}-${i % 3 === 0 ? i : i - (i % 3)}`;
      if (i % 3 === 0) await this.#create(name);
      else await this.#count(name);
    }
  }

  async #create(name: string): Promise<void> {
    const known: Known = { acknowledged: -1, versions: new Map(), sent: 0 };
    this.known.set(name, known);
    const answer = await this.#send('POST', this.#collection, configMap({ name }, { count: '0' }), {});
    if (answer !== undefined) this.#acknowledge(known, 0, answer, 201);
  }

  async #count(name: string): Promise<void> {
    const known = this.known.get(name);
    // Of an object whose creation was not acknowledged nothing is expected.
    if (known === undefined || known.acknowledged < 0) return;
    known.sent++;
    const { sent } = known;
    const body = { data: { count: String(sent) } };
    const answer = await this.#send('PATCH', `${this.#collection}/${name}`, body, MERGE);
    if (answer !== undefined) this.#acknowledge(known, sent, answer, 200);
  }

  #acknowledge(known: Known, count: number, { status, text, json }: Answer, wanted: number): void {
    if (status !== wanted) throw new Error(`a write was answered with ${status}: ${text}`);
    known.acknowledged = count;
    known.versions.set(json.metadata.resourceVersion ?? '', count);
    this.#acknowledged++;
  }

  /** The answer; undefined when the server was away, or could not say. */
  async #send(
    method: string,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer | undefined> {
    let answer: Answer | undefined;
    try {
      answer = await this.#client.request(method, path, { body, headers });
    } catch {
      // Refused, reset, or cut off: it may have been done or not.
    }
    if (answer?.status === TOO_MANY && this.#mayBeOverloaded && answer.headers['retry-after'] !== undefined) {
      this.overloads++;
    } else if (answer !== undefined && !CANNOT_SAY.has(answer.status)) return answer;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return undefined;
  }
}
