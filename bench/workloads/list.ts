// Whole lists of a large collection.
import type { Workload } from '../bench.ts';
import { readFloor } from '../floors.ts';
import { createRequest, PATHS, pod } from '../objects.ts';
import { figuresOf } from '../report.ts';
import { repeat } from './populate.ts';

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
    const result = await bench.withTarget(async (target) => {
      const { endpoint, pid, prefix } = target;
      const body = pod(`${prefix}-{seq}`, bytes, { scheduled: false });
      await repeat(bench, target, createRequest(PATHS.pods, body), pods);
      return await bench.load({
        type: 'requests',
        endpoint,
        connections,
        request: { method: 'GET', path: PATHS.pods },
        objects: 1,
        objectChoice: 'shared',
        capturesVersion: false,
        bounds: bench.bounds(),
        ...(pid === undefined ? {} : { serverPid: pid }),
      });
    });
    const lists = Math.max(1, result.operations);
    const bodyBytes = result.bodyBytes / lists;
    const floor = bench.wantsFloor ? await readFloor(bench, bodyBytes, connections) : undefined;
    const details = {
      megabytes: bodyBytes / 1e6,
      itemBytes: bodyBytes / pods,
      megabytesPerSecond: result.bodyBytes / 1e6 / result.seconds,
      ...(result.serverCpuSeconds === undefined ? {} : { cpuSecondsEach: result.serverCpuSeconds / lists }),
    };
    const parameters = { connections, pods };
    report(figuresOf({ workload: 'list', parameters, unit: 'lists', result, floor, details }));
  },
};
