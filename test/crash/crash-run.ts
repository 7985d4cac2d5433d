// Crash rounds: a real server on a real folder, clients that write to it and watch it, kill -9 at a moment that the seed says,
// a new start on what is left, and a check of everything that was promised. Owns the server, its folder and the clients; what
// must hold is in check-round.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/server/free-port.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { freshNamespace } from '../integration/objects.ts';
import { ResumedWatch } from '../integration/resumed-watch.ts';
import { HttpsClient } from '../server/https-client.ts';
import { ServerProcess } from '../server/server-process.ts';
import { type Checked, checkRound, type Round } from './check-round.ts';
import { checkStore, type DurableWrite } from './check-store.ts';
import { CrashClient, type CrashCollection } from './crash-client.ts';
import { CRASH_KINDS, collectionOf } from './crash-kinds.ts';
import { Families } from './families.ts';
import { SharedCounter } from './shared-counter.ts';
import { UnsyncedDisk } from './unsynced-disk.ts';

const CLIENTS = 4;
const KILL_MS_MIN = 80;
const KILL_MS_MAX = 600;
const ACKNOWLEDGED_MS = 120_000;
const LOOK_MS = 5;
/** The share of starts that are killed as well, before or just after they are ready. */
const KILLED_START_SHARE = 0.2;
const KILLED_START_MS_MAX = 600;
/** Long enough for a round on a busy machine, short enough that compaction happens within some rounds. */
const HISTORY = ['--store-compaction-interval', '30s'];
/** How long a sync takes at most on a disk that loses what is not synced: there is then always something to lose. */
const SYNC_MS_MAX = 4;

const PLACEMENTS = ['single', 'default', 'wide'] as const;

export interface CrashOptions {
  readonly seed: number;
  readonly rounds: number;
  /** What was not synced is lost or torn at each crash. */
  readonly dropUnsynced: boolean;
  /** How long a sync takes then, which is how much there is to lose; some milliseconds that the seed says when absent. */
  readonly syncMs?: number;
  /** The three shipped ones in turn when absent. */
  readonly placement?: string;
  /** In place of orch: a server with a bug, for testing these tests. */
  readonly program?: string;
  /** Called after each round. */
  readonly onRound?: (report: RoundReport) => void;
}

export interface RoundReport {
  readonly round: number;
  readonly placement: string;
  readonly killedAfterMs: number;
  /** Writes that were answered before the crash. */
  readonly acknowledged: number;
  /** Writes that were not, and had happened nevertheless. */
  readonly happened: number;
  readonly events: number;
  /** How the server's folder was found: the operations on its files since the start, when they are journaled. */
  readonly operations: number;
  /** What is not as promised. */
  readonly problems: readonly string[];
}

/** Runs rounds until one has a problem. Answers the report of each. */
export async function runCrashRounds(options: CrashOptions): Promise<RoundReport[]> {
  const run = new CrashRun(options);
  const reports: RoundReport[] = [];
  try {
    await run.open();
    for (let round = 1; round <= options.rounds; round++) {
      const report = await run.round(round);
      reports.push(report);
      options.onRound?.(report);
      if (report.problems.length > 0) break;
    }
  } finally {
    await run.close();
  }
  return reports;
}

/** What came of a round whose clients were not asked. */
const NOTHING = { happened: 0, events: 0 };

class CrashRun {
  readonly #options: CrashOptions;
  readonly #random: SeededRandom;
  readonly #folder = mkdtempSync(join(tmpdir(), 'orch-crash-'));
  readonly #disk: UnsyncedDisk | undefined;
  #port = 0;
  #server: ServerProcess | undefined;
  #client: HttpsClient | undefined;
  #clients: CrashClient[] = [];
  #watches: { collection: CrashCollection; watch: ResumedWatch; version: string }[] = [];
  #counter: SharedCounter | undefined;
  #families: Families | undefined;

  constructor(options: CrashOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
    const drawn = 1 + this.#random.below(SYNC_MS_MAX);
    const { syncMs = drawn } = options;
    if (options.dropUnsynced) this.#disk = new UnsyncedDisk(this.#data, syncMs);
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** A first server, and everything that the rounds work on. */
  async open(): Promise<void> {
    this.#port = await freePort();
    const server = await this.#start(this.#placement(1));
    const client = new HttpsClient(server.url, server.caPem, server.token);
    this.#client = client;
    const { name } = await freshNamespace(client);
    const collections = CRASH_KINDS.map((kind) => ({ kind, path: collectionOf(kind, name) }));
    this.#counter = new SharedCounter(client, collections[0]!.path);
    await this.#counter.create();
    this.#families = new Families(client, `/api/v1/namespaces/${(await freshNamespace(client)).name}/configmaps`);
    for (const collection of collections) {
      const { metadata } = (await client.get(collection.path)).json;
      const version = metadata.resourceVersion ?? '';
      this.#watches.push({ collection, version, watch: new ResumedWatch(client, collection.path, version) });
    }
    for (let i = 0; i < CLIENTS; i++) {
      this.#clients.push(new CrashClient(client, `w${i}`, collections, this.#counter));
    }
  }

  async round(round: number): Promise<RoundReport> {
    const random = this.#random;
    const placement = this.#placement(round);
    const before = this.#acknowledged;
    const killedAfterMs = KILL_MS_MIN + random.below(KILL_MS_MAX - KILL_MS_MIN);
    const problems: string[] = [];
    const running = this.#clients.map((client) => client.run(new SeededRandom(random.below(2 ** 31))));
    running.push(this.#families!.run(new SeededRandom(random.below(2 ** 31))));
    for (const run of running) run.catch(() => {}); // Looked at below.
    await sleep(killedAfterMs);
    await this.#somethingAcknowledged(before);
    let operations = await this.#crash();
    for (const end of await Promise.allSettled(running)) {
      if (end.status === 'rejected') problems.push(String(end.reason));
    }
    const acknowledged = this.#acknowledged - before;
    problems.push(...(await checkStore(this.#data, this.#durableWrites())));
    // Clients would wait until their patience ends for what is lost.
    if (problems.length > 0) return { round, placement, killedAfterMs, acknowledged, operations, ...NOTHING, problems };
    while (random.next() < KILLED_START_SHARE) operations += await this.#crashedStart(this.#placement(round + 1));
    const partial = { round, placement, killedAfterMs, acknowledged, operations };
    let checked: Checked = { ...NOTHING, problems: [] };
    try {
      await this.#start(this.#placement(round + 1));
      checked = await checkRound(this.#checked(round));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
    return { ...partial, ...checked, problems: [...problems, ...checked.problems] };
  }

  async close(): Promise<void> {
    this.#client?.close();
    await this.#server?.kill9();
    await Promise.allSettled(this.#watches.map(({ watch }) => watch.stop()));
    this.#disk?.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #acknowledged(): number {
    return this.#clients.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  /** On a busy machine the moment may come before the first answer: a crash then would lose nothing that was promised. */
  async #somethingAcknowledged(before: number): Promise<void> {
    for (let waitedMs = 0; this.#acknowledged === before && waitedMs < ACKNOWLEDGED_MS; waitedMs += LOOK_MS) {
      await sleep(LOOK_MS);
    }
  }

  /** What the clients know to be done since the last round. */
  #durableWrites(): DurableWrite[] {
    return this.#clients.flatMap(({ objects }) =>
      [...objects].flatMap(([{ kind }, known]) =>
        known.flatMap(({ name, versions }) =>
          versions.map((version) => ({ storageKey: kind.storageKey, name, version })),
        ),
      ),
    );
  }

  #checked(round: number): Round {
    return {
      number: round,
      client: this.#client!,
      counter: this.#counter!,
      families: this.#families!,
      collections: this.#watches.map((followed) => ({
        collection: followed.collection,
        watch: followed.watch,
        version: followed.version,
        objects: this.#clients.flatMap(({ objects }) => objects.get(followed.collection) ?? []),
        reached: (version) => {
          followed.version = version;
        },
      })),
    };
  }

  #placement(round: number): string {
    return this.#options.placement ?? PLACEMENTS[(round - 1) % PLACEMENTS.length]!;
  }

  /** Resolves when the server is ready. Throws when it does not get there. */
  async #start(placement: string): Promise<ServerProcess> {
    const server = this.#process(placement);
    const failure = await server.start();
    if (failure === undefined) return server;
    const { code, stdout, stderr } = failure;
    throw new Error(`the server did not start again (code ${code}): ${stdout}${stderr}`);
  }

  #process(placement: string): ServerProcess {
    const { program } = this.#options;
    this.#server = new ServerProcess(this.#data, this.#port, {
      args: ['--placement', placement, ...HISTORY],
      ...(program === undefined ? {} : { program }),
      ...(this.#disk === undefined ? {} : { env: this.#disk.arm() }),
    });
    return this.#server;
  }

  /** A server that is killed while it starts. Answers as `#crash` does. */
  async #crashedStart(placement: string): Promise<number> {
    const started = this.#process(placement).start();
    await Promise.race([started, sleep(this.#random.below(KILLED_START_MS_MAX))]);
    const operations = await this.#crash();
    await started;
    return operations;
  }

  /** Ends the server. Answers how many operations on its files were journaled, where they are. */
  async #crash(): Promise<number> {
    await this.#server?.kill9();
    return this.#disk?.cut(this.#random) ?? 0;
  }
}
