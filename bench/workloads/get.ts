// Reads of single objects.
import type { Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import { readFloor } from '../floors/floors.ts';
import { configMap, createRequest, leastAnswer, PATHS } from '../objects.ts';
import { repeat } from '../populate.ts';
import { getBeside } from './get-beside.ts';

const OBJECTS = 1000;
const BYTES = 800;

export const get: Workload = {
  name: 'get',
  summary: 'Reads of one config map of 1,000',
  async run(bench, report) {
    if (bench.options.beside !== undefined) return await getBeside(bench, bench.options.beside, report);
    const { accept, connections } = bench;
    const objects = bench.options.objects ?? OBJECTS;
    const bytes = bench.options.bytes ?? BYTES;
    const result = await bench.withTarget(async (target) => {
      const { endpoint, pid, prefix } = target;
      await repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${prefix}-{seq}`, bytes)), objects);
      return await bench.load({
        type: 'requests',
        endpoint,
        connections,
        request: {
          method: 'GET',
          path: `${PATHS.configMaps}/${prefix}-{object}`,
          ...(accept === undefined ? {} : { accept }),
        },
        objects,
        objectChoice: 'shared',
        answerBytesMin: leastAnswer(bytes),
        capturesVersion: false,
        bounds: bench.bounds(),
        ...(pid === undefined ? {} : { serverPid: pid }),
      });
    });
    const bodyBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor ? await readFloor(bench, bodyBytes, connections) : undefined;
    const parameters = { connections, objects, protobuf: accept !== undefined };
    report(figuresOf({ workload: 'get', parameters, unit: 'requests', result, floor, details: { bodyBytes } }));
  },
};
