// A client that follows a collection through several servers: it goes on at another when its own is gone or silent, and begins
// anew where it is told 410. Keeps the cache that comes of it, and the events since they were last taken.
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import type { WatchEvent, WatchStream } from '../server/watch-stream.ts';

const RETRY_MS = 20;
const PATIENCE_MS = 120_000;

export class ServersFollower {
  readonly ended: Promise<void>;
  readonly #clients: readonly HttpsClient[];
  readonly #path: string;
  readonly #cache = new Map<string, string>();
  #events: WatchEvent[] = [];
  #version = 0;
  #wasBegunAnew = false;
  #isStopping = false;
  #at = 0;
  #watch: WatchStream | undefined;

  private constructor(clients: readonly HttpsClient[], path: string) {
    this.#clients = clients;
    this.#path = path;
    this.ended = Promise.resolve().then(() => this.#run());
  }

  /** The first of the clients is its own. */
  static async start(clients: readonly HttpsClient[], path: string): Promise<ServersFollower> {
    const follower = new ServersFollower(clients, path);
    while (follower.#version === 0) await pause();
    follower.#wasBegunAnew = false;
    return follower;
  }

  stop(): void {
    this.#isStopping = true;
    this.#watch?.close();
  }

  /** Waits until everything up to a version was seen. Rejects when it does not come. */
  async reach(version: number): Promise<void> {
    for (const fromMs = performance.now(); this.#version < version; await pause()) {
      if (performance.now() - fromMs > PATIENCE_MS)
        throw new Error(`a watch stopped at ${this.#version} of ${version}`);
    }
  }

  /** Waits until it was told to begin anew. Rejects when it never is. */
  async anew(): Promise<void> {
    for (const fromMs = performance.now(); !this.#wasBegunAnew; await pause()) {
      if (performance.now() - fromMs > PATIENCE_MS)
        throw new Error(`a watch stays at ${this.#version} of a history that is gone`);
    }
  }

  /** The events since the last call. */
  take(): { readonly events: readonly WatchEvent[]; readonly wasBegunAnew: boolean } {
    const taken = { events: this.#events, wasBegunAnew: this.#wasBegunAnew };
    this.#events = [];
    this.#wasBegunAnew = false;
    return taken;
  }

  /** Where the cache is not what is there. */
  differences(stored: ReadonlyMap<string, ApiObject>): readonly string[] {
    const problems: string[] = [];
    for (const name of new Set([...stored.keys(), ...this.#cache.keys()])) {
      const [there, held] = [stored.get(name)?.metadata.resourceVersion, this.#cache.get(name)];
      if (there !== held)
        problems.push(`a cache holds ${name} at ${held ?? 'nothing'}, there is ${there ?? 'nothing'}`);
    }
    return problems;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const client = this.#clients[this.#at % this.#clients.length]!;
      try {
        if (this.#version === 0) await this.#list(client);
        await this.#follow(client);
      } catch {
        // Not there.
      }
      this.#at++;
      await pause();
    }
  }

  async #list(client: HttpsClient): Promise<void> {
    const { status, json } = await client.get(this.#path);
    if (status !== 200) throw new Error('not now');
    this.#cache.clear();
    for (const { metadata } of json.items ?? []) this.#cache.set(metadata.name ?? '', metadata.resourceVersion ?? '');
    this.#wasBegunAnew = true;
    this.#version = Number(json.metadata.resourceVersion);
  }

  async #follow(client: HttpsClient): Promise<void> {
    const watch = await client.watch(`${this.#path}?watch=1&resourceVersion=${this.#version}`);
    this.#watch = watch;
    if (watch.status !== 200) {
      watch.close();
      return;
    }
    for await (const event of watch) {
      if (event.type === 'ERROR') {
        this.#version = 0;
        break;
      }
      const { name = '', resourceVersion = '' } = event.object.metadata;
      if (event.type === 'DELETED') this.#cache.delete(name);
      else this.#cache.set(name, resourceVersion);
      this.#events.push(event);
      this.#version = Number(resourceVersion);
    }
    watch.close();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_MS);
  });
}
