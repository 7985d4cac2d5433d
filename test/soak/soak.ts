// The soak: a server, a churn of writes, watchers that come and go and stall, threads that break; every watcher's events and
// caches are compared with the truth all the time, and with lists at the end. Owns the server and the clients.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../bench/server/free-port.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { injectFault } from '../server/faults.ts';
import { HttpsClient } from '../server/https-client.ts';
import { ServerProcess } from '../server/server-process.ts';
import { Churn } from './churn.ts';
import { anySelection, EVERYTHING, type Selection } from './selections.ts';
import { type MemorySample, sampleMemory } from './server-memory.ts';
import { type Seen, Truth } from './truth.ts';
import type { SoakServer } from './watch-connection.ts';
import { Watcher } from './watcher.ts';

const BREAKABLE = fileURLToPath(new URL('../server/breakable-server.js', import.meta.url));
/** One of these breaks at a time. */
const BREAKING_KINDS = ['ingress', 'store', 'controllers', 'hub', 'admission'];
const SECOND_MS = 1000;
const LIFETIME_SECONDS = 60;
const STALL_SECONDS_MAX = 20;
/** The share of watchers that begin to stall in a second: with stalls of 10 s on average, one in twenty does not read. */
const STALL_SHARE = 0.005;
/** Seconds between two reports of one watcher. */
const REPORT_SECONDS = 10;
const SAMPLE_SECONDS = 5;
/** New watchers at a time while all are being started. */
const STARTED_TOGETHER = 20;
const SETTLE_MS = 60_000;
const SETTLE_CHECK_MS = 50;
const PROBLEMS_MAX = 20;
/** Of what the server said before it ended. */
const STDERR_MAX = 8000;

export interface SoakOptions {
  readonly seconds: number;
  readonly watchers: number;
  readonly writesPerSecond: number;
  /** Seconds between two breaks of a thread; 0: none, on the server as shipped. */
  readonly restartSeconds: number;
  readonly placement: string;
  readonly seed: number;
  /** Called about every five seconds. */
  readonly onProgress?: (report: SoakReport) => void;
}

export interface SoakReport {
  readonly seconds: number;
  readonly watchers: number;
  readonly stalled: number;
  readonly writes: number;
  readonly unanswered: number;
  readonly events: number;
  /** Comparisons with the truth. */
  readonly checks: number;
  readonly joined: number;
  readonly resumed: number;
  readonly expired: number;
  readonly broken: number;
  readonly samples: readonly MemorySample[];
  readonly problems: readonly string[];
}

/** Runs it. Rejects when the server does not start or ends by itself. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const run = new Soak(options);
  try {
    await run.open();
    await Promise.race([run.run().then(() => run.settle()), run.serverEnded()]);
    return run.report();
  } finally {
    await run.close();
  }
}

class Soak {
  readonly #options: SoakOptions;
  readonly #random: SeededRandom;
  readonly #truth = new Truth();
  readonly #watchers = new Set<Watcher>();
  readonly #problems: string[] = [];
  readonly #samples: MemorySample[] = [];
  /** What is to be compared when the truth has got that far. */
  #seen: Seen[] = [];
  #server: ServerProcess | undefined;
  #client: HttpsClient | undefined;
  #soakServer: SoakServer | undefined;
  #churn: Churn | undefined;
  /** Where the truth comes from. */
  #witness: Watcher | undefined;
  #startedMs = 0;
  #seconds = 0;
  #checks = 0;
  #joined = 0;
  #broken = 0;
  /** Of watchers that have left. */
  #past = { events: 0, ends: 0, expirations: 0 };

  constructor(options: SoakOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  async open(): Promise<void> {
    const { placement, restartSeconds, writesPerSecond, seconds, watchers } = this.#options;
    // The history is full, and forgotten, well before the second half of a long run begins; in a short one on a busy machine the watch
    // that the truth comes from must not fall behind it.
    const historySeconds = Math.max(30, Math.min(300, Math.round(seconds / 4)));
    const args = ['--placement', placement, '--store-compaction-interval', `${historySeconds}s`];
    const program = restartSeconds > 0 ? { program: BREAKABLE } : {};
    const server = new ServerProcess(mkdtempSync(join(tmpdir(), 'orch-soak-')), await freePort(), { args, ...program });
    this.#server = server;
    const failure = await server.start();
    if (failure !== undefined) throw new Error(`the server did not start: ${failure.stderr}`);
    const { caPem, token, port } = server;
    const client = new HttpsClient(server.url, caPem, token);
    this.#client = client;
    this.#soakServer = { port, token, secureContext: createSecureContext({ ca: caPem }) };
    this.#witness = this.#newWatcher(EVERYTHING, true);
    this.#witness.start();
    this.#churn = new Churn({
      client,
      random: this.#random,
      writesPerSecond,
      onAcknowledged: (object, version) => this.#note(this.#truth.acknowledge(object, version)),
      onProblem: (problem) => this.#note(problem),
    });
    await this.#churn.prepare();
    for (let i = 0; i < watchers; i++) {
      this.#join();
      if (i % STARTED_TOGETHER === 0) await sleep(SETTLE_CHECK_MS);
    }
  }

  async run(): Promise<void> {
    this.#startedMs = performance.now();
    this.#churn!.start();
    while (this.#seconds < this.#options.seconds && this.#problems.length < PROBLEMS_MAX) {
      this.#seconds++;
      await sleep(Math.max(0, this.#startedMs + this.#seconds * SECOND_MS - performance.now()));
      await this.#second();
    }
  }

  /** Rejects when the server ends by itself, with the last it said. */
  async serverEnded(): Promise<never> {
    const code = await this.#server!.exited();
    const { endedBy, stderr } = this.#server!;
    throw new Error(`the server ended by itself (${endedBy ?? code}):\n${stderr.slice(-STDERR_MAX)}`);
  }

  /** No more writes, everyone reads: every cache must come to equal the truth, and a list. */
  async settle(): Promise<void> {
    await this.#churn!.stop();
    for (const watcher of this.#watchers) watcher.resume();
    const giveUpMs = performance.now() + SETTLE_MS;
    const isBehind = (watcher: Watcher): boolean =>
      watcher.members !== this.#truth.members(watcher.selection.key, this.#truth.position);
    const behind = (): Watcher[] => [...this.#watchers].filter(isBehind);
    while (performance.now() < giveUpMs && (behind().length > 0 || this.#truth.acknowledgedUnseen > 0)) {
      await sleep(SETTLE_CHECK_MS);
    }
    const { expirations } = this.#witness!;
    if (expirations > 0) this.#note('the truth has a gap: its watch was behind the history, and began anew');
    for (const { selection, through } of behind().slice(0, PROBLEMS_MAX)) {
      this.#note(`${selection.key}: the cache never came to equal the truth; it is at ${through}`);
    }
    if (this.#truth.acknowledgedUnseen > 0) this.#note('an acknowledged write was never shown');
    for (const watcher of this.#watchers) watcher.report();
    this.#compare();
    await this.#compareWithLists();
  }

  report(): SoakReport {
    const { acknowledged, unanswered } = this.#churn!;
    let { events, ends, expirations } = this.#past;
    for (const watcher of [...this.#watchers, this.#witness!]) {
      events += watcher.events;
      ends += watcher.ends;
      expirations += watcher.expirations;
    }
    return {
      seconds: this.#seconds,
      watchers: this.#watchers.size,
      stalled: [...this.#watchers].filter(({ isStalled }) => isStalled).length,
      writes: acknowledged,
      unanswered,
      events,
      checks: this.#checks,
      joined: this.#joined,
      resumed: ends,
      expired: expirations,
      broken: this.#broken,
      samples: this.#samples,
      problems: this.#problems,
    };
  }

  async close(): Promise<void> {
    await this.#churn?.stop();
    for (const watcher of this.#watchers) watcher.stop();
    this.#witness?.stop();
    this.#client?.close();
    await this.#server?.stop();
    await this.#server?.dispose();
  }

  async #second(): Promise<void> {
    const random = this.#random;
    const { restartSeconds, watchers } = this.#options;
    for (const watcher of this.#watchers) {
      if (random.next() < 1 / LIFETIME_SECONDS) this.#leave(watcher);
      else if (random.next() < STALL_SHARE) this.#stall(watcher);
      else if (random.next() < 1 / REPORT_SECONDS) watcher.report();
    }
    while (this.#watchers.size < watchers) this.#join();
    this.#compare();
    if (restartSeconds > 0 && this.#seconds % restartSeconds === 0) {
      const kind = BREAKING_KINDS[this.#broken++ % BREAKING_KINDS.length]!;
      injectFault(this.#server!.dataDirectory, kind, { type: 'break' });
    }
    if (this.#seconds % SAMPLE_SECONDS !== 0) return;
    const sample = await sampleMemory(this.#client!, this.#server!.pid);
    if (sample !== undefined) this.#samples.push(sample);
    this.#options.onProgress?.(this.report());
  }

  #newWatcher(selection: Selection, isWitness: boolean): Watcher {
    return new Watcher({
      server: this.#soakServer!,
      client: this.#client!,
      selection,
      lists: isWitness || (selection !== EVERYTHING && this.#random.next() < 0.5),
      onSeen: (seen) => this.#seen.push(seen),
      onProblem: (problem) => this.#note(problem),
      ...(isWitness
        ? { onChange: (type, object, version, tier) => this.#note(this.#truth.apply(type, object, version, tier)) }
        : {}),
    });
  }

  #join(): void {
    const watcher = this.#newWatcher(
      anySelection((below) => this.#random.below(below)),
      false,
    );
    this.#watchers.add(watcher);
    this.#joined++;
    watcher.start();
  }

  #leave(watcher: Watcher): void {
    watcher.stop();
    this.#watchers.delete(watcher);
    const { events, ends, expirations } = watcher;
    this.#past.events += events;
    this.#past.ends += ends;
    this.#past.expirations += expirations;
  }

  #stall(watcher: Watcher): void {
    if (watcher.isStalled) return;
    watcher.stall();
    setTimeout(() => watcher.resume(), this.#random.below(STALL_SECONDS_MAX * SECOND_MS)).unref();
  }

  /** Compares what watchers saw, as far as the truth is known. */
  #compare(): void {
    const later: Seen[] = [];
    for (const seen of this.#seen) {
      if (seen.through > this.#witness!.through) {
        later.push(seen);
        continue;
      }
      this.#checks++;
      this.#note(this.#truth.problemOf(seen));
    }
    this.#seen = later;
  }

  /** Every cache, version by version. */
  async #compareWithLists(): Promise<void> {
    const lists = new Map<string, Float64Array>();
    for (const { selection, cache } of [...this.#watchers, this.#witness!]) {
      let listed = lists.get(selection.key);
      if (listed === undefined) {
        listed = await this.#list(selection, cache.length);
        lists.set(selection.key, listed);
      }
      if (cache.some((version, object) => version !== listed![object])) {
        this.#note(`${selection.key}: a cache does not equal a list`);
      }
      this.#checks++;
    }
  }

  async #list({ path, query }: Selection, objects: number): Promise<Float64Array> {
    const listed = new Float64Array(objects);
    const { status, text, json } = await this.#client!.get(`${path}?${query}`);
    if (status !== 200) throw new Error(`the list of ${path} was answered with ${status}: ${text}`);
    for (const { metadata } of json.items ?? []) {
      const object = Number(/^o-(\d+)$/.exec(metadata.name ?? '')?.[1] ?? -1);
      if (object >= 0) listed[object] = Number(metadata.resourceVersion);
    }
    return listed;
  }

  #note(problem: string | undefined): void {
    if (problem !== undefined && this.#problems.length < PROBLEMS_MAX) this.#problems.push(problem);
  }
}
