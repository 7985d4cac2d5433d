// Starts: of an empty store, of one with many pods, and what an idle server takes.
import type { Bench, Workload } from '../bench.ts';
import { type FloorFigures, figuresOf } from '../figures/report.ts';
import { withBareListener } from '../floors/floors.ts';
import type { LoadResult } from '../load-protocol.ts';
import { createRequest, PATHS, pod } from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';
import type { ServerProcess } from '../server/server-process.ts';

const STARTS = 5;
const PODS = 10_000;
const BYTES = 2700;
/** After this an idle server has finished what it does at the start. */
const SETTLE_MS = 3_000;

export const start: Workload = {
  name: 'start',
  summary: 'Start of an empty store, restart with 10,000 pods, memory when idle (placement single)',
  async run(bench, report) {
    bench.requireOwnServer('start');
    const starts = bench.options.count ?? STARTS;
    const floor = bench.wantsFloor ? await listenerStarts(bench, starts) : undefined;
    const empty = await serverStarts(starts, () => bench.startServer());
    report(figuresOf({ workload: 'start empty', parameters: { starts }, unit: 'starts', floor, ...empty }));

    const pods = bench.options.objects ?? PODS;
    const dataDir = await fill(bench, pods);
    const full = await serverStarts(starts, () => bench.startServer(dataDir));
    report(figuresOf({ workload: 'start full', parameters: { starts, pods }, unit: 'starts', floor, ...full }));

    const idle = await serverStarts(1, () => bench.startServer(bench.makeDirectory(), 'single'), SETTLE_MS);
    const parameters = { placement: 'single', settleMs: SETTLE_MS };
    report(figuresOf({ workload: 'idle', parameters, unit: 'starts', floor: undefined, ...idle }));
  },
};

export interface Start {
  readonly startMs: number;
  readonly readyMs: number;
  readonly cpuSeconds: number | undefined;
  readonly rssBytes: number | undefined;
}

/** Starts and stops servers one after another. */
async function serverStarts(starts: number, startOne: () => Promise<ServerProcess>, settleMs = 0) {
  const measured: Start[] = [];
  for (let index = 0; index < starts; index += 1) {
    const server = await startOne();
    try {
      if (settleMs > 0) await new Promise((resolve) => setTimeout(resolve, settleMs));
      const usage = processUsage(server.pid);
      const { startMs, readyMs } = server;
      measured.push({ startMs, readyMs, cpuSeconds: usage?.cpuSeconds, rssBytes: usage?.rssBytes });
    } finally {
      await server.stop();
    }
  }
  return { result: startResult(measured), details: { readyMs: middle(measured.map(({ readyMs }) => readyMs)) } };
}

/** Starts one after another as a load of so many. */
export function startResult(starts: readonly Start[]): LoadResult {
  const times = starts.map(({ startMs }) => startMs);
  const cpuSeconds = starts.flatMap((start) => start.cpuSeconds ?? []);
  const rssBytes = starts.flatMap((start) => start.rssBytes ?? []);
  return {
    operations: starts.length,
    writes: 0,
    seconds: times.reduce((sum, ms) => sum + ms, 0) / 1000,
    latency: { p50Ms: middle(times), p99Ms: Math.max(...times), maxMs: Math.max(...times) },
    bodyBytes: 0,
    errors: 0,
    ...(cpuSeconds.length === 0 ? {} : { serverCpuSeconds: cpuSeconds.reduce((sum, value) => sum + value, 0) }),
    ...(rssBytes.length === 0 ? {} : { serverRssBytes: middle(rssBytes) }),
  };
}

/** A process with the bare listener and nothing else. */
async function listenerStarts(bench: Bench, starts: number): Promise<FloorFigures> {
  const times: number[] = [];
  let cpuSeconds: number | null = 0;
  for (let index = 0; index < starts; index += 1) {
    await withBareListener(bench, async ({ startMs, pid }) => {
      const usage = processUsage(pid);
      times.push(startMs);
      cpuSeconds = usage === undefined || cpuSeconds === null ? null : cpuSeconds + usage.cpuSeconds;
    });
  }
  return {
    name: 'bare listener',
    perSecond: (times.length * 1000) / times.reduce((sum, ms) => sum + ms, 0),
    cpuSecondsPer1000: cpuSeconds === null ? null : (cpuSeconds * 1000) / times.length,
    p50Ms: middle(times),
    p99Ms: Math.max(...times),
    generatorCores: null,
    otherCores: null,
  };
}

/** A data directory with so many pods in it. */
function fill(bench: Bench, pods: number): Promise<string> {
  return bench.withTarget(async (target) => {
    const body = pod(`${target.prefix}-{seq}`, BYTES, { scheduled: false });
    await repeat(bench, target, createRequest(PATHS.pods, body), pods);
    return target.dataDir;
  });
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
