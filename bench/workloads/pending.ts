// Pods that no node takes, as in a cluster whose nodes are all gone: what the scheduler's work with them does to reads beside it,
// and when a server that has them is ready. Beside each a server with as many config maps, as large, to which nothing is done.
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import { median } from '../figures/slices.ts';
import type { LoadResult } from '../load-protocol.ts';
import { configMap, createRequest, PATHS, pod } from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';
import { type Start, startResult } from './start.ts';

const OBJECTS = 50_000;
const POD_BYTES = 1200;
/** Few: what a read waits for is the server's other work, not other reads. */
const CONNECTIONS = 4;
const SLICE_SECONDS = 3;
const SLICES = 5;
const STARTS = 5;

export const pending: Workload = {
  name: 'pending',
  summary: '50,000 pods that no node takes: GETs beside them, and the start, beside a server with config maps',
  async run(bench, report) {
    bench.requireOwnServer('pending');
    const objects = bench.options.objects ?? OBJECTS;
    const read = await bench.withTarget((busy) =>
      bench.withTarget((quiet) => readsBeside(bench, busy, quiet, objects)),
    );
    const parameters = { objects };
    const p99 = (of: readonly LoadResult[]) => median(of.map(({ latency }) => latency.p99Ms));
    report(
      figuresOf({
        workload: 'pending get',
        parameters: { ...parameters, connections: CONNECTIONS, slices: SLICES },
        unit: 'requests',
        result: read.busy.at(-1)!,
        floor: floorFigures('beside config maps', read.quiet.at(-1)!),
        details: { p99Ms: p99(read.busy), p99ToQuiet: p99(read.busy) / p99(read.quiet) },
      }),
    );
    const starts = await startsInTurns(bench, read.directories);
    const ready = (of: readonly Start[]) => median(of.map(({ readyMs }) => readyMs));
    report(
      figuresOf({
        workload: 'pending start',
        parameters: { ...parameters, starts: STARTS },
        unit: 'starts',
        result: startResult(starts.busy),
        floor: floorFigures('with config maps', startResult(starts.quiet)),
        details: { readyMs: ready(starts.busy), readyToQuiet: ready(starts.busy) / ready(starts.quiet) },
      }),
    );
  },
};

/** Fills both servers, and reads from each in turn. */
async function readsBeside(bench: Bench, busy: Target, quiet: Target, objects: number) {
  const bytes = await fillWithPods(bench, busy, objects);
  await fillWithConfigMaps(bench, quiet, objects, bytes);
  // Beside the pods the read object is a config map as well.
  await fillWithConfigMaps(bench, busy, 1, bytes);
  const reads: { readonly busy: LoadResult[]; readonly quiet: LoadResult[] } = { busy: [], quiet: [] };
  for (let slice = 0; slice < SLICES; slice++) {
    reads.quiet.push(await readSlice(bench, quiet));
    reads.busy.push(await readSlice(bench, busy));
  }
  return { ...reads, directories: { busy: busy.dataDir, quiet: quiet.dataDir } };
}

/** Answers how large a pod is as it is shown. */
async function fillWithPods(bench: Bench, target: Target, objects: number): Promise<number> {
  const body = pod(`${target.prefix}-{seq}`, bench.options.bytes ?? POD_BYTES, { scheduled: true });
  const { bodyBytes } = await repeat(bench, target, createRequest(PATHS.pods, body), objects);
  return Math.round(bodyBytes / objects);
}

/** Config maps that are shown in about `bytes` bytes. */
async function fillWithConfigMaps(bench: Bench, target: Target, objects: number, bytes: number): Promise<void> {
  const { prefix } = target;
  const sample = createRequest(PATHS.configMaps, configMap(`${prefix}-sample-{seq}`, bytes));
  const { bodyBytes } = await repeat(bench, target, sample, 1);
  const body = configMap(`${prefix}-{seq}`, 2 * bytes - bodyBytes);
  await repeat(bench, target, createRequest(PATHS.configMaps, body), objects);
}

function readSlice(bench: Bench, { endpoint, pid, prefix }: Target): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections: CONNECTIONS,
    request: { method: 'GET', path: `${PATHS.configMaps}/${prefix}-00000000` },
    objects: 1,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: bench.bounds(SLICE_SECONDS),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}

async function startsInTurns(bench: Bench, directories: { readonly busy: string; readonly quiet: string }) {
  const starts: { readonly busy: Start[]; readonly quiet: Start[] } = { busy: [], quiet: [] };
  for (let turn = 0; turn < STARTS; turn++) {
    for (const which of ['quiet', 'busy'] as const) {
      const server = await bench.startServer(directories[which]);
      const usage = processUsage(server.pid);
      const { startMs, readyMs } = server;
      starts[which].push({ startMs, readyMs, cpuSeconds: usage?.cpuSeconds, rssBytes: usage?.rssBytes });
      await server.stop();
    }
  }
  return starts;
}
