// Rounds of a quota under load: clients that create pods all at once, more than a quota has room for, kill -9 in some rounds, and
// another start. Checked: there are never more than the quota allows, none hears of a conflict, and what is used is what is there
// soon after it is quiet. Owns the server, its folder and the clients.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/server/free-port.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { type Namespace, namespaceForPods, POD_SPEC } from '../integration/objects.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { ServerProcess } from '../server/server-process.ts';

const CLIENTS = 64;
const ROOM = 100;
/** Each client asks for so many at most: together more than there is room for. */
const PODS_EACH = 3;
const KILL_SHARE = 0.15;
const KILL_MS_MAX = 250;
const DELETE_SHARE = 0.1;
const LOOK_MS = 20;
/** Nothing that is counted takes longer; what the promise says is QUIET_MS_MAX of the report. */
const PATIENCE_MS = 120_000;
const PLACEMENTS = ['default', 'single', 'wide'] as const;

/** How soon after the last answer the usage is to be what is there. */
export const QUIET_MS_MAX = 2000;

export interface QuotaRoundReport {
  readonly round: number;
  readonly placement: string;
  readonly wasKilled: boolean;
  readonly taken: number;
  readonly refused: number;
  /** From the last answer until the usage was what is there. */
  readonly quietMs: number;
  readonly problems: readonly string[];
}

export interface QuotaOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly onRound?: (report: QuotaRoundReport) => void;
}

interface Tally {
  taken: number;
  refused: number;
  readonly problems: string[];
}

/** Runs rounds until one has a problem. Answers the report of each. */
export async function runQuotaRounds({ seed, rounds, onRound }: QuotaOptions): Promise<QuotaRoundReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quota-rounds-'));
  const server = new ServerProcess(folder, await freePort(), {});
  const reports: QuotaRoundReport[] = [];
  try {
    await server.restart(['--placement', PLACEMENTS[0]]);
    const run = new QuotaRun(server, await furnished(server.client), new SeededRandom(seed));
    for (let round = 1; round <= rounds; round++) {
      const report = await run.round(round);
      reports.push(report);
      onRound?.(report);
      if (report.problems.length > 0) break;
    }
  } finally {
    await server.kill9();
    rmSync(folder, { recursive: true, force: true });
  }
  return reports;
}

/** A namespace with a quota that has been counted. */
async function furnished(client: HttpsClient): Promise<Namespace> {
  const namespace = await namespaceForPods(client);
  const hard = { pods: String(ROOM), 'count/pods': String(ROOM) };
  await client.request('POST', `${namespace.core}/resourcequotas`, {
    body: { metadata: { name: 'q' }, spec: { hard } },
  });
  while ((await usedOf(client, namespace)) === undefined) await sleep(LOOK_MS);
  return namespace;
}

class QuotaRun {
  readonly #server: ServerProcess;
  readonly #namespace: Namespace;
  readonly #random: SeededRandom;
  #placement: string = PLACEMENTS[0];

  constructor(server: ServerProcess, namespace: Namespace, random: SeededRandom) {
    this.#server = server;
    this.#namespace = namespace;
    this.#random = random;
  }

  async round(round: number): Promise<QuotaRoundReport> {
    const wasKilled = this.#random.next() < KILL_SHARE;
    const tally: Tally = { taken: 0, refused: 0, problems: [] };
    const placement = this.#placement;
    const begun = this.#all(`r${round}a`, tally, wasKilled);
    if (wasKilled) {
      await sleep(this.#random.below(KILL_MS_MAX));
      await this.#server.kill9();
      await begun;
      this.#placement = PLACEMENTS[this.#random.below(PLACEMENTS.length)]!;
      await this.#server.restart(['--placement', this.#placement]);
      await this.#all(`r${round}b`, tally, false);
    }
    await begun;
    const quietMs = await this.#untilCounted(tally.problems);
    await this.#makeRoom(tally.problems);
    return { round, placement, wasKilled, ...tally, quietMs };
  }

  async #all(prefix: string, tally: Tally, mayBreakOff: boolean): Promise<void> {
    await Promise.all(
      Array.from({ length: CLIENTS }, (_, number) => this.#client(`${prefix}-${number}`, tally, mayBreakOff)),
    );
  }

  /** Creates pods, and deletes some of them again, until there is no room. */
  async #client(prefix: string, tally: Tally, mayBreakOff: boolean): Promise<void> {
    const { client } = this.#server;
    const path = `${this.#namespace.core}/pods`;
    try {
      for (let left = PODS_EACH; left > 0; left--) {
        const name = `${prefix}-${left}`;
        const { status, text } = await client.request('POST', path, { body: { metadata: { name }, spec: POD_SPEC } });
        if (status === 201) tally.taken++;
        else if (status === 403 && text.includes('exceeded quota')) tally.refused++;
        else if (status === 429) left++;
        else tally.problems.push(`a create was answered ${status} ${text.slice(0, 300)}`);
        if (status === 201 && this.#random.next() < DELETE_SHARE) {
          await client.request('DELETE', `${path}/${name}`);
          left++;
        }
      }
    } catch (error) {
      // A kept connection may be closed just as it is used again; whoever asked does not know what came of it.
      if (mayBreakOff || this.#server.isRunning) return;
      tally.problems.push(`the server has ended: ${String(error)} ${this.#server.stderr.slice(-500)}`);
    }
  }

  /** Waits until what is used is what is there, and answers how long that took. */
  async #untilCounted(problems: string[]): Promise<number> {
    const { client } = this.#server;
    const beganMs = performance.now();
    for (;;) {
      const there = await podsOf(client, this.#namespace);
      const used = await usedOf(client, this.#namespace);
      const tookMs = Math.round(performance.now() - beganMs);
      if (there > ROOM) problems.push(`${there} pods under a quota of ${ROOM}`);
      if (there > ROOM || used === there) return tookMs;
      if (tookMs > PATIENCE_MS) {
        problems.push(`${there} pods are there, and ${used} are used after ${tookMs} ms`);
        return tookMs;
      }
      await sleep(LOOK_MS);
    }
  }

  /** All pods go, or half of them, for the next round; the usage follows. */
  async #makeRoom(problems: string[]): Promise<void> {
    const half = this.#random.below(2) === 0 ? `?limit=${ROOM / 2}` : '';
    await this.#server.client.request('DELETE', `${this.#namespace.core}/pods${half}`, {
      body: { gracePeriodSeconds: 0 },
    });
    await this.#untilCounted(problems);
  }
}

async function podsOf(client: HttpsClient, { core }: Namespace): Promise<number> {
  const { json } = await client.get(`${core}/pods`);
  return json.items?.length ?? 0;
}

/** Undefined: nobody has counted yet, or not all the same. */
async function usedOf(client: HttpsClient, { core }: Namespace): Promise<number | undefined> {
  const { status } = (await client.get(`${core}/resourcequotas/q`)).json;
  const used = (status as { used?: Readonly<Record<string, string>> } | undefined)?.used;
  return used?.pods === undefined || used.pods !== used['count/pods'] ? undefined : Number(used.pods);
}
