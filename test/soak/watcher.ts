// One watcher of the soak: begins with a list or with initial events, keeps a cache of versions, goes on after every end of its
// watch from where it was, and checks each event as it comes. What it has seen is compared with the truth by `Seen`s.
import type { HttpsClient } from '../server/https-client.ts';
import type { EventType } from './event-reader.ts';
import { tierOf } from './event-reader.ts';
import { OBJECTS, type Selection, type Tier } from './selections.ts';
import { mixed, type Seen } from './truth.ts';
import { type SoakServer, WatchConnection, type WatchSink } from './watch-connection.ts';

const RETRY_MS = 50;

export interface WatcherParts {
  readonly server: SoakServer;
  readonly client: HttpsClient;
  readonly selection: Selection;
  /** Begin with a list; with initial events otherwise. */
  readonly lists: boolean;
  readonly onSeen: (seen: Seen) => void;
  readonly onProblem: (problem: string) => void;
  /** Called for each event, where the watcher is the one that the truth comes from. */
  readonly onChange?: (type: EventType, object: number, version: number, tier: Tier) => void;
}

export class Watcher implements WatchSink {
  readonly selection: Selection;
  /** The object's version, by its number; 0: not there. */
  readonly cache = new Float64Array(OBJECTS);
  events = 0;
  /** How often the watch had to begin anew because it was too far behind. */
  expirations = 0;
  /** How often the watch ended. */
  ends = 0;
  readonly #parts: WatcherParts;
  #connection: WatchConnection | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  #stalled = false;
  /** The initial events are still coming. */
  #isInitial = false;
  /** Where the sums begin. */
  #after = 0;
  #through = 0;
  #eventSum = 0;
  #memberSum = 0;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.selection = parts.selection;
  }

  /** Up to which version everything has been seen. */
  get through(): number {
    return this.#through;
  }

  get isStalled(): boolean {
    return this.#stalled;
  }

  get members(): number {
    return this.#memberSum;
  }

  start(): void {
    this.#begin();
  }

  /** Stops reading until `resume`. */
  stall(): void {
    this.#stalled = true;
    this.#connection?.pause();
  }

  resume(): void {
    this.#stalled = false;
    this.#connection?.resume();
  }

  /** Hands on what was seen since the last time. */
  report(): void {
    if (this.#isInitial || this.#through === 0) return;
    const { key } = this.selection;
    const [after, through, events, members] = [this.#after, this.#through, this.#eventSum, this.#memberSum];
    this.#parts.onSeen({ key, after, through, events, members });
    this.#after = this.#through;
    this.#eventSum = 0;
  }

  /** Ends the watch. */
  stop(): void {
    this.report();
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#connection?.close();
  }

  onHead(status: number): void {
    if (status === 410) this.#expire();
    // What is over, or away, ends the connection, after which it is tried again.
    else if (status !== 200) this.#again(() => this.#goOn());
  }

  onEnd(): void {
    this.ends++;
    this.#again(() => (this.#isInitial ? this.#begin() : this.#goOn()));
  }

  onEvent(type: EventType, object: number, version: number, line: Buffer): void {
    this.events++;
    if (type === 'ERROR') {
      this.#expire();
      return;
    }
    if (this.#isInitial) {
      this.#takeInitial(type, object, version);
      return;
    }
    if (version <= this.#through && type !== 'BOOKMARK')
      this.#problem(`${type} ${object} at ${version} came late or twice`);
    if (version < this.#through) return;
    this.#through = version;
    if (type === 'BOOKMARK' || object < 0) return;
    this.#keep(type, object, version);
    this.#parts.onChange?.(type, object, version, tierOf(line));
  }

  #keep(type: EventType, object: number, version: number): void {
    const before = this.cache[object]!;
    if ((type === 'ADDED') !== (before === 0)) this.#problem(`${type} ${object} at ${version}, which was at ${before}`);
    if (before !== 0) this.#memberSum -= mixed('MEMBER', object, before);
    if (type !== 'DELETED') this.#memberSum += mixed('MEMBER', object, version);
    this.#memberSum >>>= 0;
    this.cache[object] = type === 'DELETED' ? 0 : version;
    this.#eventSum = (this.#eventSum + mixed(type, object, version)) >>> 0;
  }

  /** The state that the watch begins with comes as additions, and is over with the bookmark. */
  #takeInitial(type: EventType, object: number, version: number): void {
    if (type === 'BOOKMARK') this.#started(version);
    else if (object >= 0) this.#place(object, version);
  }

  #place(object: number, version: number): void {
    if (this.cache[object] !== 0) this.#problem(`${object} came twice in the state it began with`);
    this.cache[object] = version;
    this.#memberSum = (this.#memberSum + mixed('MEMBER', object, version)) >>> 0;
  }

  #started(version: number): void {
    this.#isInitial = false;
    this.#after = version;
    this.#through = version;
    // The state itself is checked, with no event.
    this.report();
  }

  #begin(): void {
    this.cache.fill(0);
    this.#memberSum = 0;
    this.#eventSum = 0;
    this.#through = 0;
    this.#isInitial = true;
    if (this.#parts.lists) void this.#list();
    else this.#open('sendInitialEvents=true&resourceVersionMatch=NotOlderThan');
  }

  async #list(): Promise<void> {
    const { path, query } = this.selection;
    try {
      const { status, json } = await this.#parts.client.get(`${path}?${query}`);
      if (this.#stopped) return;
      if (status === 200) {
        for (const { metadata } of json.items ?? []) {
          const object = Number(/^o-(\d+)$/.exec(metadata.name ?? '')?.[1] ?? -1);
          if (object >= 0) this.#place(object, Number(metadata.resourceVersion));
        }
        this.#started(Number(json.metadata.resourceVersion));
        this.#goOn();
        return;
      }
    } catch {
      // The server is away.
    }
    this.#again(() => this.#begin());
  }

  /** From where it was. */
  #goOn(): void {
    if (this.#through === 0) this.#begin();
    else this.#open(`resourceVersion=${this.#through}`);
  }

  #open(start: string): void {
    const { path, query } = this.selection;
    const { server } = this.#parts;
    this.#connection?.close();
    this.#connection = new WatchConnection(server, `${path}?watch=1&allowWatchBookmarks=true&${start}&${query}`, this);
    if (this.#stalled) this.#connection.pause();
  }

  #expire(): void {
    this.expirations++;
    this.report();
    this.#again(() => this.#begin());
  }

  #again(how: () => void): void {
    this.#connection?.close();
    this.#connection = undefined;
    clearTimeout(this.#retry);
    if (!this.#stopped) this.#retry = setTimeout(how, RETRY_MS);
  }

  #problem(problem: string): void {
    this.#parts.onProblem(`${this.selection.key}: ${problem}`);
  }
}
