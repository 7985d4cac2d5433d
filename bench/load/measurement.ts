// The frame around what is counted: wall time, the server's CPU time and memory, the generator's own CPU time and the
// whole machine's, all read at the same two moments.
import { machineBusySeconds, type ProcessUsage, processUsage } from '../process-usage.ts';

export interface Measured {
  readonly seconds: number;
  readonly generatorCpuSeconds: number;
  readonly serverCpuSeconds?: number;
  readonly serverRssBytes?: number;
  readonly machineCpuSeconds?: number;
}

export class Measurement {
  readonly #serverPid: number | undefined;
  #startMs = 0;
  #own: NodeJS.CpuUsage | undefined;
  #server: ProcessUsage | undefined;
  #machineSeconds: number | undefined;

  constructor(serverPid: number | undefined) {
    this.#serverPid = serverPid;
  }

  get running(): boolean {
    return this.#own !== undefined;
  }

  begin(nowMs: number): void {
    this.#startMs = nowMs;
    this.#own = process.cpuUsage();
    this.#machineSeconds = machineBusySeconds();
    if (this.#serverPid !== undefined) this.#server = processUsage(this.#serverPid);
  }

  end(nowMs: number): Measured {
    if (this.#own === undefined) return { seconds: 0, generatorCpuSeconds: 0 };
    const { user, system } = process.cpuUsage(this.#own);
    const seconds = (nowMs - this.#startMs) / 1000;
    const machineSeconds = machineBusySeconds();
    const own = {
      seconds,
      generatorCpuSeconds: (user + system) / 1e6,
      ...(machineSeconds === undefined || this.#machineSeconds === undefined
        ? {}
        : { machineCpuSeconds: machineSeconds - this.#machineSeconds }),
    };
    const before = this.#server;
    const after = this.#serverPid === undefined ? undefined : processUsage(this.#serverPid);
    if (before === undefined || after === undefined) return own;
    return { ...own, serverCpuSeconds: after.cpuSeconds - before.cpuSeconds, serverRssBytes: after.rssBytes };
  }
}
