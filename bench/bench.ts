// What a workload has at hand: the options, the processes, a folder that vanishes, and a server to aim at, either one it
// starts or one that runs already.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DIALECT_NAMES, DIALECTS } from '../config/dialect.ts';
import { Children } from './children.ts';
import { clearProgress, showProgress } from './figures/progress.ts';
import type { Figures } from './figures/report.ts';
import type { Endpoint, LoadBounds, LoadJob, LoadReply, LoadResult } from './load-protocol.ts';
import { BENCH_NAMESPACE, PATHS } from './objects.ts';
import { type BenchOptions, UsageError } from './options.ts';
import { ApiClient } from './server/api-client.ts';
import { startBareServer } from './server/bare-server.ts';
import { endpointOf, readConnectionFile } from './server/kubeconfig.ts';
import { type ServerProcess, startServer } from './server/server-process.ts';

const DEFAULT_CONNECTIONS = 64;
const PROTOBUF_TYPES = DIALECT_NAMES.map((name) => DIALECTS[name].protobufMediaType).join(', ');
const DEFAULT_COUNT = 500_000;
const DEFAULT_SECONDS = 8;
const WARMUP_SHARE = 0.25;
/** Beyond a load's own time: connecting, draining, giving up on a stalled server. */
const LOAD_DEADLINE_MS = 120_000;
/** A load that must do a given number of operations, however slow the server: so long at most, and longer for very many. */
const WHOLE_COUNT_SECONDS = 300;
const SLOWEST_PER_SECOND = 500;

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** Hands each record over as soon as it is measured. */
  run(bench: Bench, report: (figures: Figures) => void): Promise<void>;
}

/** A server under load. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly pid: number | undefined;
  readonly client: ApiClient;
  /** Where its data is; empty when it is not the bench's own. */
  readonly dataDir: string;
  /** Goes into the names of objects, so that a second run against the same server makes other ones. */
  readonly prefix: string;
}

export class Bench {
  readonly options: BenchOptions;
  readonly children: Children;
  readonly #directory = mkdtempSync(join(tmpdir(), 'orch-bench-'));
  #directories = 0;

  constructor(options: BenchOptions, children = new Children()) {
    this.options = options;
    this.children = children;
  }

  /** Runs `use` with a bench of other options besides; its processes are among these, and its folder goes afterwards. */
  async under<T>(options: BenchOptions, use: (bench: Bench) => Promise<T>): Promise<T> {
    const other = new Bench({ ...this.options, ...options }, this.children);
    try {
      return await use(other);
    } finally {
      other.#removeFolder();
    }
  }

  get connections(): number {
    return this.options.connections ?? DEFAULT_CONNECTIONS;
  }

  /** What the loads ask for in place of JSON, in either dialect; undefined unless --protobuf was given. */
  get accept(): string | undefined {
    return this.options.protobuf === true ? PROTOBUF_TYPES : undefined;
  }

  get wantsFloor(): boolean {
    return this.options.floor !== 'no';
  }

  get isOwnServer(): boolean {
    return this.options.url === undefined && this.options.kubeconfig === undefined;
  }

  /** For a workload that measures servers of its own. Throws UsageError. */
  requireOwnServer(workload: string): void {
    if (!this.isOwnServer)
      throw new UsageError(`${workload} measures servers of its own: leave --url and --kubeconfig out`);
  }

  /** Bounds of a load that runs for a time. */
  bounds(seconds = DEFAULT_SECONDS): LoadBounds {
    const measuredSeconds = this.options.seconds ?? seconds;
    return {
      seconds: measuredSeconds,
      count: this.options.count ?? DEFAULT_COUNT,
      warmupSeconds: this.options.count === undefined ? measuredSeconds * WARMUP_SHARE : 0,
    };
  }

  /** Bounds of a load that does so many operations. */
  wholeCount(count: number): LoadBounds {
    return { seconds: Math.max(WHOLE_COUNT_SECONDS, count / SLOWEST_PER_SECOND), count, warmupSeconds: 0 };
  }

  /** A new empty folder. */
  makeDirectory(): string {
    this.#directories += 1;
    const path = join(this.#directory, String(this.#directories));
    mkdirSync(path);
    return path;
  }

  /** Runs a load in a process of its own. Rejects with what went wrong there. */
  async load(job: LoadJob): Promise<LoadResult> {
    const child = this.children.fork('load-generator');
    const deadlineMs = (job.bounds.seconds + job.bounds.warmupSeconds) * 1000 + LOAD_DEADLINE_MS;
    const reply = await this.children.ask<LoadReply>(child, job, deadlineMs, ({ progress }) => showProgress(progress));
    clearProgress();
    return resultOf(reply);
  }

  /** Starts a server on a data directory, a new one by default; with --bare, the bare one. */
  startServer(
    dataDir = this.makeDirectory(),
    placement = this.options.placement ?? 'default',
    more: readonly string[] = [],
  ): Promise<ServerProcess> {
    if (this.options.bare === true) return startBareServer(this.children, dataDir);
    const options = [
      ...more,
      ...(this.options.http2 === true ? ['ingress=node'] : []),
      ...(this.options['server-option'] ?? []),
    ];
    return startServer(this.children, { dataDir, placement, options });
  }

  /**
   * Runs `use` against a server with the bench's namespace in it, then stops the server or clears up in it.
   *
   * @param more options of a server of the bench's own, `name=value`.
   */
  async withTarget<T>(use: (target: Target) => Promise<T>, more: readonly string[] = []): Promise<T> {
    if (!this.isOwnServer) return await this.#withForeignTarget(use);
    const dataDir = this.makeDirectory();
    const { endpoint, pid, checkAlive, stop } = await this.startServer(dataDir, this.options.placement, more);
    try {
      return await withClient(endpoint, async (client) => {
        await prepareNamespace(client);
        return await use({ endpoint, pid, client, dataDir, prefix: 'b' });
      }).finally(checkAlive);
    } finally {
      await stop();
    }
  }

  async #withForeignTarget<T>(use: (target: Target) => Promise<T>): Promise<T> {
    const { url, kubeconfig, token, pid, 'allow-remote': allowRemote } = this.options;
    const endpoint =
      url === undefined ? readConnectionFile(kubeconfig!, allowRemote) : endpointOf(url, token, {}, allowRemote);
    return await withClient(endpoint, async (client) => {
      await prepareNamespace(client);
      try {
        return await use({ endpoint, pid, client, dataDir: '', prefix: `b${Date.now().toString(36)}` });
      } finally {
        await clearUp(client);
      }
    });
  }

  /** Ends every process and removes the folder. */
  async close(): Promise<void> {
    await this.children.stopAll();
    this.#removeFolder();
  }

  #removeFolder(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Unwraps what a process answered. */
export function resultOf(reply: LoadReply): LoadResult {
  if ('failed' in reply) throw new Error(reply.failed);
  return reply.ok;
}

/** The resourceVersion of a list that holds at most one item: where a watch begins. */
export async function currentVersion(client: ApiClient, path: string): Promise<string> {
  const list = JSON.parse(await client.expect('GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
  return list.metadata.resourceVersion;
}

async function withClient<T>(endpoint: Endpoint, use: (client: ApiClient) => Promise<T>): Promise<T> {
  const client = new ApiClient(endpoint);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

const ALREADY_EXISTS = 409;
const NOT_FOUND = 404;
const ASKED_GONE_EVERY_MS = 100;
const ASKED_GONE_MAX = 600;

async function prepareNamespace(client: ApiClient): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: BENCH_NAMESPACE } };
  await client.expect('POST', '/api/v1/namespaces', JSON.stringify(namespace), [ALREADY_EXISTS]);
  // A controller makes it in time; pods are refused until then.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  const accounts = `/api/v1/namespaces/${BENCH_NAMESPACE}/serviceaccounts`;
  await client.expect('POST', accounts, JSON.stringify(account), [ALREADY_EXISTS]);
}

async function clearUp(client: ApiClient): Promise<void> {
  await client.expect('DELETE', PATHS.configMaps);
  await client.expect('DELETE', `${PATHS.pods}?gracePeriodSeconds=0`);
  await client.expect('DELETE', PATHS.deployments);
  await client.expect('DELETE', `${PATHS.nodes}?labelSelector=zone%3D${BENCH_NAMESPACE}`);
  const namespace = `/api/v1/namespaces/${BENCH_NAMESPACE}`;
  await client.expect('DELETE', namespace, undefined, [NOT_FOUND, ALREADY_EXISTS]);
  // Whoever comes next makes it anew, and cannot while it is going.
  for (let asked = 0; asked < ASKED_GONE_MAX; asked++) {
    if ((await client.send('GET', namespace)).status === NOT_FOUND) return;
    await pause(ASKED_GONE_EVERY_MS);
  }
}
