// A bench that takes a CPU profile of the server during its loads, but not while it warms up; the one of the last load holds.
import { gunzipSync } from 'node:zlib';
import { Bench, type Target } from '../bench.ts';
import type { Endpoint, LoadJob, LoadResult } from '../load-protocol.ts';
import { ApiClient } from '../server/api-client.ts';
import type { ProfiledLoad } from './parts.ts';
import { decodePprof } from './pprof-reader.ts';
import { byThread, type ThreadStacks } from './thread-stacks.ts';

/** The load goes on for longer than its profile. */
const MARGIN_SECONDS = 1;
/** Of a load that ends with its count, which has no warm-up either. */
const WHOLE_COUNT_SECONDS = 2;

export class ProfiledBench extends Bench {
  /** Of the load that was measured last. */
  profile: readonly ThreadStacks[] = [];
  profiled: ProfiledLoad | undefined;

  /** As whom profiles are asked for, by the process of the server: not every load is an administrator's. */
  readonly #administrators = new Map<number, Endpoint>();

  override withTarget<T>(use: (target: Target) => Promise<T>, more?: readonly string[]): Promise<T> {
    return super.withTarget((target) => {
      if (target.pid !== undefined) this.#administrators.set(target.pid, target.endpoint);
      return use(target);
    }, more);
  }

  override async load(job: LoadJob): Promise<LoadResult> {
    const { serverPid, endpoint, bounds } = job;
    const { warmupSeconds, seconds } = bounds;
    if (serverPid === undefined) return await super.load(job);
    const profiledSeconds = warmupSeconds === 0 ? WHOLE_COUNT_SECONDS : Math.floor(seconds - MARGIN_SECONDS);
    const lastsSeconds = Math.max(1, profiledSeconds);
    const administrator = this.#administrators.get(serverPid) ?? endpoint;
    const [result, profile] = await Promise.all([
      super.load(job),
      this.#take(administrator, warmupSeconds, lastsSeconds),
    ]);
    const { operations, serverCpuSeconds } = result;
    this.profiled = {
      operationsPerSecond: operations / result.seconds,
      profiledSeconds: lastsSeconds,
      microseconds: serverCpuSeconds && (serverCpuSeconds * 1e6) / operations,
    };
    this.profile = profile;
    return result;
  }

  async #take(endpoint: Endpoint, afterSeconds: number, seconds: number): Promise<readonly ThreadStacks[]> {
    await new Promise((resolve) => setTimeout(resolve, afterSeconds * 1000));
    const client = new ApiClient(endpoint);
    try {
      const bytes = await client.bytes(`/debug/pprof/profile?seconds=${seconds}`);
      return byThread((await decodePprof(gunzipSync(bytes))).samples);
    } finally {
      client.close();
    }
  }
}
