// Whole lists of a large collection.
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import { readFloor } from '../floors/floors.ts';
import type { LoadResult } from '../load-protocol.ts';
import { createRequest, leastAnswer, PATHS, pod } from '../objects.ts';
import { repeat } from '../populate.ts';

const PODS = 10_000;
/** As sent; with what the server adds an item of the list has about 3,200 bytes. */
const BYTES = 2700;
/** One after another: the time of a list is then its own. */
const CONNECTIONS = 1;

export const list: Workload = {
  name: 'list',
  summary: 'Lists of 10,000 pods (32 MB)',
  async run(bench, report) {
    const connections = bench.options.connections ?? CONNECTIONS;
    const pods = bench.options.objects ?? PODS;
    const bytes = bench.options.bytes ?? BYTES;
    if (bench.options.limit !== undefined && bench.accept !== undefined) throw new Error('--limit reads JSON only');
    const accepts = bench.accept === undefined ? [undefined] : [undefined, bench.accept];
    const results = await bench.withTarget(async (target) => {
      const body = pod(`${target.prefix}-{seq}`, bytes, { scheduled: false });
      await repeat(bench, target, createRequest(PATHS.pods, body), pods);
      const measured: LoadResult[] = [];
      const least = pods * leastAnswer(bytes);
      for (const accept of accepts) measured.push(await lists(bench, target, { connections, least, accept }));
      return measured;
    });
    for (const [i, result] of results.entries()) {
      const count = Math.max(1, result.operations);
      const bodyBytes = result.bodyBytes / count;
      const floor = bench.wantsFloor ? await readFloor(bench, bodyBytes, connections) : undefined;
      const cpuSecondsEach = cpuEach(result);
      const details = {
        megabytes: bodyBytes / 1e6,
        itemBytes: bodyBytes / pods,
        megabytesPerSecond: result.bodyBytes / 1e6 / result.seconds,
        ...(Number.isNaN(cpuSecondsEach) ? {} : { cpuSecondsEach }),
        ...(i === 0 || Number.isNaN(cpuSecondsEach) ? {} : { cpuToJson: cpuSecondsEach / cpuEach(results[0]!) }),
      };
      const { limit } = bench.options;
      const protobuf = accepts[i] !== undefined;
      const parameters = { connections, pods, protobuf, ...(limit === undefined ? {} : { limit }) };
      report(figuresOf({ workload: 'list', parameters, unit: 'lists', result, floor, details }));
    }
  },
};

function lists(
  bench: Bench,
  { endpoint, pid }: Target,
  {
    connections,
    least,
    accept,
  }: { readonly connections: number; readonly least: number; readonly accept: string | undefined },
): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections,
    request: { method: 'GET', path: PATHS.pods, ...(accept === undefined ? {} : { accept }) },
    objects: 1,
    objectChoice: 'shared',
    answerBytesMin: least,
    capturesVersion: false,
    ...(bench.options.limit === undefined ? {} : { pageLimit: bench.options.limit }),
    bounds: bench.bounds(),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}

/** CPU seconds of the server for one list; not a number where they are not known. */
function cpuEach({ serverCpuSeconds, operations }: LoadResult): number {
  return serverCpuSeconds === undefined ? Number.NaN : serverCpuSeconds / Math.max(1, operations);
}
