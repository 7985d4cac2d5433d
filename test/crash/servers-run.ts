// Rounds with two servers on three members of etcd: clients that write through one server and read through the other, a mishap
// that the seed draws, its end, and a check of everything that was promised. Owns the clients; what befalls is in servers-cluster.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { eventually, freshNamespace } from '../integration/objects.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { CRASH_KINDS, collectionOf } from './crash-kinds.ts';
import { ServersCluster } from './servers-cluster.ts';
import { ServersFollower } from './servers-follower.ts';
import { type Mishap, mishapsOf } from './servers-mishaps.ts';
import { nothingWritten, ServersWriter } from './servers-writer.ts';

const WRITERS = 4;
const BEFORE_MS_MAX = 500;
const LASTS_MS_MIN = 300;
const LASTS_MS_MAX = 2500;
const AFTER_MS = 300;
const READ_EVERY_MS = 5;
const FENCES_LOST = 100;
/** What a server's log says of a store that is not what it was. */
const ANNOUNCED = /etcd went back|etcd is of another history|was changed by somebody else/;

export interface ServersOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Only those whose names hold this; all when absent. */
  readonly mishap?: string;
  readonly onRound?: (report: ServersReport) => void;
  /** Hears of mishaps that are left out. */
  readonly say?: (line: string) => void;
}

export interface ServersReport {
  readonly round: number;
  readonly mishap: string;
  readonly acknowledged: number;
  /** Asked for, and not answered in time or with an error that promises nothing. */
  readonly open: number;
  readonly reads: number;
  readonly events: number;
  /** Watches that were told to begin anew. */
  readonly begunAnew: number;
  /** From the mishap's end until both servers took writes. */
  readonly healedMs: number;
  readonly problems: readonly string[];
}

/** Runs rounds until one has a problem. Answers the report of each. */
export async function runServersRounds({
  seed,
  rounds,
  mishap = '',
  onRound,
  say = () => {},
}: ServersOptions): Promise<ServersReport[]> {
  const cluster = await ServersCluster.start(['--request-timeout', '8s']);
  const reports: ServersReport[] = [];
  const mishaps = Object.entries(mishapsOf(cluster, say)).filter(([name]) => name.includes(mishap));
  const run = new ServersRun(cluster, new SeededRandom(seed), new Map(mishaps));
  try {
    await run.open();
    for (let round = 1; round <= rounds; round++) {
      const report = await run.round(round);
      reports.push(report);
      onRound?.(report);
      if (report.problems.length > 0) break;
    }
  } finally {
    await run.close();
    await cluster.dispose();
  }
  return reports;
}

class ServersRun {
  readonly #cluster: ServersCluster;
  readonly #random: SeededRandom;
  readonly #written = nothingWritten();
  readonly #mishaps: ReadonlyMap<string, Mishap>;
  #path = '';
  #writers: ServersWriter[] = [];
  #followers: ServersFollower[] = [];
  /** Mishaps in an order that chance draws; each comes once before any comes again. */
  #due: string[] = [];

  constructor(cluster: ServersCluster, random: SeededRandom, mishaps: ReadonlyMap<string, Mishap>) {
    this.#mishaps = mishaps;
    this.#cluster = cluster;
    this.#random = random;
  }

  get #clients(): readonly HttpsClient[] {
    return this.#cluster.servers.map(({ client }) => client);
  }

  async open(): Promise<void> {
    const kind = CRASH_KINDS[0]!;
    const clients = this.#clients;
    const { name } = await freshNamespace(clients[0]!);
    this.#path = collectionOf(kind, name);
    // The namespace's own config map is made by a controller: what is followed begins behind it.
    await eventually(
      () => clients[0]!.get(this.#path),
      ({ json }) => (json.items ?? []).length > 0,
    );
    for (let number = 0; number < WRITERS; number++) {
      this.#writers.push(new ServersWriter(clients, `w${number}`, { kind, path: this.#path }, this.#written));
    }
    for (const client of clients) {
      const others = clients.filter((one) => one !== client);
      this.#followers.push(await ServersFollower.start([client, ...others], this.#path));
    }
  }

  async round(round: number): Promise<ServersReport> {
    const random = this.#random;
    const written = this.#written;
    const mishap = this.#nextMishap();
    const { prepare, befall } = this.#mishaps.get(mishap)!;
    if (prepare !== undefined) await this.#prepare(prepare, round);
    const before = written.acknowledged;
    const said = this.#cluster.servers.map(({ stdout, stderr }) => `${stdout}${stderr}`.length);
    const state = { isOver: false, reads: 0 };
    const isOver = (): boolean => state.isOver;
    const work = this.#writers.map((writer) => writer.run(new SeededRandom(random.below(2 ** 31)), isOver));
    work.push(...this.#clients.map((client) => this.#readBack(client, state)));
    await sleep(random.below(BEFORE_MS_MAX));
    const mend = await befall(this.#cluster, random, () => this.#lose());
    await sleep(LASTS_MS_MIN + random.below(LASTS_MS_MAX));
    await mend();
    const mendedMs = performance.now();
    const fences = await this.#fences(round);
    const healedMs = Math.round(performance.now() - mendedMs);
    await sleep(AFTER_MS);
    // On a busy machine the round may have seen nothing yet: what is broken by then shows only to who writes and reads.
    await eventually(
      async () => written.acknowledged > before && state.reads > 0,
      (hasSeen) => hasSeen,
    );
    state.isOver = true;
    await Promise.all(work);
    const open = this.#writers.reduce((sum, writer) => sum + writer.open, 0);
    const checked = await this.#check(round, fences);
    const problems = [...written.problems.splice(0), ...checked.problems];
    if (written.isLossy) problems.push(...this.#unannounced(said));
    written.isLossy = false;
    const acknowledged = written.acknowledged - before;
    return { round, mishap, acknowledged, open, reads: state.reads, healedMs, ...checked, problems };
  }

  /** What is known then is what a loss goes back to. */
  async #prepare(prepare: (cluster: ServersCluster) => Promise<void>, round: number): Promise<void> {
    await prepare(this.#cluster);
    for (const writer of this.#writers) writer.backUp();
    // Written now, whatever they were before: something is lost, and both servers know it. So much that what is written after the loss is
    // of lower versions for long: nothing tells a version that is given again from the one that is lost, where its client was away
    // while its server began anew.
    let lost = 0;
    for (let times = 0; times < FENCES_LOST; times++) lost = await this.#fences(round - 0.25 + times / 1000);
    // Whoever begins anew from here on does so for the loss.
    for (const follower of this.#followers) {
      await follower.reach(lost);
      follower.take();
    }
  }

  #lose(): void {
    const written = this.#written;
    written.losses++;
    written.isLossy = true;
    written.highest = 0;
    for (const writer of this.#writers) writer.restore();
  }

  /** A loss has to be said by every server that had seen what is lost. */
  #unannounced(said: readonly number[]): readonly string[] {
    return this.#cluster.servers.flatMap(({ stdout, stderr, url }, index) => {
      return ANNOUNCED.test(`${stdout}${stderr}`.slice(said[index])) ? [] : [`${url} says nothing of what is lost`];
    });
  }

  async close(): Promise<void> {
    for (const follower of this.#followers) follower.stop();
    await Promise.allSettled(this.#followers.map(({ ended }) => ended));
  }

  #nextMishap(): string {
    if (this.#due.length === 0) this.#due = [...this.#mishaps.keys()];
    return this.#due.splice(this.#random.below(this.#due.length), 1)[0]!;
  }

  /**
   * Consistent lists that show what was known before, and cached ones that never go back at their server: but once, behind a loss, when
   * the server notices.
   */
  async #readBack(client: HttpsClient, state: { isOver: boolean; reads: number }): Promise<void> {
    const written = this.#written;
    let cached = 0;
    let { losses } = written;
    while (!state.isOver) {
      await sleep(READ_EVERY_MS);
      for (const query of ['', '?resourceVersion=0']) {
        const known = query === '' ? written.highest : cached;
        const asked = written.losses;
        const answer = await client.get(`${this.#path}${query}`).catch(() => undefined);
        if (answer?.status !== 200 || asked !== written.losses) continue;
        state.reads++;
        const version = Number(answer.json.metadata.resourceVersion);
        if (query !== '') cached = version;
        if (version >= known) continue;
        if (query !== '' && losses < written.losses) losses = written.losses;
        else written.problems.push(`a list${query} at ${client.url} is of ${version}, ${known} was known`);
      }
    }
  }

  /** Writes through each server, as soon as it takes them: what it was asked for before is then decided. */
  async #fences(round: number): Promise<number> {
    const versions = await Promise.all(
      this.#clients.map(async (client, index) => {
        const body = {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { name: `fence-${index}` },
          data: { r: `${round}` },
        };
        const headers = { 'content-type': 'application/apply-patch+yaml' };
        const path = `${this.#path}/fence-${index}?fieldManager=fence&force=true`;
        const answer = await eventually(
          () => client.request('PATCH', path, { headers, body }).catch(() => undefined),
          (one) => one !== undefined && one.status < 300,
        );
        return Number(answer!.json.metadata.resourceVersion);
      }),
    );
    return Math.max(...versions);
  }

  async #check(round: number, after: number): Promise<Pick<ServersReport, 'events' | 'begunAnew' | 'problems'>> {
    const problems: string[] = [];
    // Behind everything that the writers did.
    const fence = Math.max(after, await this.#fences(round + 0.5));
    const lists = await Promise.all(
      this.#clients.map((client) =>
        eventually(
          () => client.get(this.#path),
          ({ status }) => status === 200,
        ),
      ),
    );
    const [stored, other] = lists.map(
      ({ json }) => new Map((json.items ?? []).map((item) => [item.metadata.name ?? '', item])),
    );
    const lines = lists.map(({ json }) => JSON.stringify(json.items));
    if (lines[0] !== lines[1]) problems.push(`the servers list different objects: ${stored!.size} and ${other!.size}`);
    for (const writer of this.#writers) problems.push(...writer.settle(stored!));
    let events = 0;
    let begunAnew = 0;
    for (const follower of this.#followers) {
      if (this.#written.isLossy) await follower.anew();
      await follower.reach(fence);
      const seen = follower.take();
      events += seen.events.length;
      if (seen.wasBegunAnew) begunAnew++;
      problems.push(...follower.differences(stored!));
      if (!seen.wasBegunAnew) for (const writer of this.#writers) problems.push(...writer.checkEvents(seen.events));
    }
    for (const writer of this.#writers) writer.forget();
    return { events, begunAnew, problems };
  }
}
