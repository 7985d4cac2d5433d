// The frame around what is counted: wall time, the server's CPU time and memory, and the generator's own CPU time, all
// read at the same two moments.
import { type ProcessUsage, processUsage } from './process-usage.ts';

export interface Measured {
  readonly seconds: number;
  readonly generatorCpuSeconds: number;
  readonly serverCpuSeconds?: number;
  readonly serverRssBytes?: number;
}

export class Measurement {
  readonly #serverPid: number | undefined;
  #startMs = 0;
  #own: NodeJS.CpuUsage | undefined;
  #server: ProcessUsage | undefined;

  constructor(serverPid: number | undefined) {
    this.#serverPid = serverPid;
  }

  get running(): boolean {
    return this.#own !== undefined;
  }

  begin(nowMs: number): void {
    this.#startMs = nowMs;
    this.#own = process.cpuUsage();
    if (this.#serverPid !== undefined) this.#server = processUsage(this.#serverPid);
  }

  end(nowMs: number): Measured {
    if (this.#own === undefined) return { seconds: 0, generatorCpuSeconds: 0 };
    const { user, system } = process.cpuUsage(this.#own);
    const seconds = (nowMs - this.#startMs) / 1000;
    const own = { seconds, generatorCpuSeconds: (user + system) / 1e6 };
    const before = this.#server;
    const after = this.#serverPid === undefined ? undefined : processUsage(this.#serverPid);
    if (before === undefined || after === undefined) return own;
    return { ...own, serverCpuSeconds: after.cpuSeconds - before.cpuSeconds, serverRssBytes: after.rssBytes };
  }
}
