// An object that several clients count up in, each writing under the version it has read: every acknowledged step must be in
// the sum, and no other than those that were asked for.
import type { Answer, HttpsClient } from '../server/https-client.ts';
import type { WatchEvent } from '../server/watch-stream.ts';

const COUNT = 'count';
const NAME = 'counter';

export class SharedCounter {
  readonly name = NAME;
  acknowledged = 0;
  /** Steps that were asked for and not answered: each may be in the sum or not. */
  open = 0;
  readonly #client: HttpsClient;
  readonly #collection: string;
  #seen = 0;

  constructor(client: HttpsClient, collection: string) {
    this.#client = client;
    this.#collection = collection;
  }

  /** Makes the object. Throws when it cannot be made. */
  async create(): Promise<void> {
    const { status, text } = await this.#client.request('POST', this.#collection, { body: counterObject(0) });
    if (status !== 201) throw new Error(`no counter could be made: ${text}`);
  }

  /** One step, or none when another client was faster. False when the server did not answer. Rejects when it refused. */
  async countUp(): Promise<boolean> {
    const path = `${this.#collection}/${NAME}`;
    let answer: Answer;
    try {
      const { json } = await this.#client.get(path);
      const { resourceVersion = '' } = json.metadata;
      this.open++;
      const body = counterObject(Number(json.data?.[COUNT]) + 1, resourceVersion);
      answer = await this.#client.request('PUT', path, { body });
    } catch {
      return false;
    }
    this.open--;
    if (answer.status === 200) this.acknowledged++;
    else if (answer.status !== 409) throw new Error(`the counter was answered with ${answer.status}: ${answer.text}`);
    return true;
  }

  /** Settles what was open by what is stored now. Returns what is wrong with that. */
  settle(stored: number): string | undefined {
    const { acknowledged, open } = this;
    this.acknowledged = stored;
    this.open = 0;
    if (stored >= acknowledged && stored <= acknowledged + open) return undefined;
    return `the counter is ${stored}, of ${acknowledged} acknowledged steps and ${open} unanswered ones`;
  }

  /** What is wrong with the counter's events since the last call. */
  checkEvents(events: readonly WatchEvent[]): string | undefined {
    for (const { object } of events) {
      const count = Number(object.data?.[COUNT]);
      if (count !== ++this.#seen) return `a watch saw the counter at ${count} where ${this.#seen} was due`;
    }
    return this.#seen === this.acknowledged ? undefined : `a watch saw the counter up to ${this.#seen} only`;
  }
}

export function countOf(data: Readonly<Record<string, string>> | undefined): number {
  return Number(data?.[COUNT]);
}

function counterObject(count: number, resourceVersion = ''): object {
  const metadata = resourceVersion === '' ? { name: NAME } : { name: NAME, resourceVersion };
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { [COUNT]: String(count) } };
}
