// A client that follows a collection as client libraries do: it lists once, watches from there, and when a watch breaks,
// watches again from the last version it has seen. It keeps every event, so that a test can look for gaps and repeats.
import type { HttpsClient } from '../server/https-client.ts';
import type { WatchEnd, WatchEvent, WatchStream } from '../server/watch-stream.ts';

/** Between tries while the server is away. */
const RETRY_MS = 10;

export class ResumedWatch {
  readonly events: WatchEvent[] = [];
  /** How each watch of the chain has ended. */
  readonly ends: WatchEnd[] = [];
  readonly #client: HttpsClient;
  readonly #collection: string;
  #version: string;
  #stopping = false;
  #watch: WatchStream | undefined;
  /** Rejects when the watch went wrong; never resolves. */
  readonly failed: Promise<never>;
  readonly #running: Promise<void>;

  constructor(client: HttpsClient, collection: string, version: string) {
    this.#client = client;
    this.#collection = collection;
    this.#version = version;
    this.#running = this.#run();
    this.failed = new Promise((_, reject) => {
      this.#running.catch(reject);
    });
    this.failed.catch(() => {}); // Whoever waits for anything else hears of it too.
  }

  /** True while a watch is open. */
  get isOpen(): boolean {
    return this.#watch !== undefined;
  }

  /** Resolves when nothing comes any more. Rejects when the server said that changes were lost. */
  stop(): Promise<void> {
    this.#stopping = true;
    this.#watch?.close();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const watch = await this.#open();
      if (watch === undefined) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        continue;
      }
      this.#watch = watch;
      for await (const event of watch) {
        if (event.type === 'ERROR') throw new Error(`the watch went wrong: ${JSON.stringify(event.object)}`);
        this.#version = event.object.metadata.resourceVersion ?? '';
        this.events.push(event);
      }
      this.#watch = undefined;
      this.ends.push(await watch.ended);
    }
  }

  async #open(): Promise<WatchStream | undefined> {
    try {
      const watch = await this.#client.watch(`${this.#collection}?watch=1&resourceVersion=${this.#version}`);
      if (watch.status === 200) return watch;
      watch.close();
    } catch {
      // Not there yet.
    }
    return undefined;
  }
}
