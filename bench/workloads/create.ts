// Creates, each of a new object.
import type { Bench, Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import { writeFloor } from '../floors/floors.ts';
import { configMap, createRequest, PATHS, pod } from '../objects.ts';
import { madeKind } from '../options.ts';
import { averageBatch, readBatchTotals } from '../server/store-batches.ts';

const KINDS = {
  configmap: { bytes: 800, path: PATHS.configMaps },
  pod: { bytes: 1200, path: PATHS.pods },
} as const;

export const create: Workload = {
  name: 'create',
  summary: 'Creates of config maps (0.8 KB), or with --kind pod of pods (1.2 KB)',
  async run(bench, report) {
    const kind = madeKind(bench.options, 'configmap');
    const bytes = bench.options.bytes ?? KINDS[kind].bytes;
    const { result, batch } = await load(bench, kind, bytes);
    const objectBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor
      ? await writeFloor(bench, { batchOperations: batch, valueBytes: objectBytes })
      : undefined;
    const parameters = { kind, connections: bench.connections, bytes };
    const details = { objectBytes, averageBatch: batch };
    report(figuresOf({ workload: `create ${kind}`, parameters, unit: 'requests', result, floor, details }));
  },
};

function load(bench: Bench, kind: keyof typeof KINDS, bytes: number) {
  return bench.withTarget(async ({ endpoint, pid, client, prefix }) => {
    const name = `${prefix}-{seq}`;
    const body = kind === 'pod' ? pod(name, bytes, { scheduled: false }) : configMap(name, bytes);
    const before = await readBatchTotals(client);
    const result = await bench.load({
      type: 'requests',
      endpoint,
      connections: bench.connections,
      request: createRequest(KINDS[kind].path, body),
      objects: 1,
      objectChoice: 'shared',
      capturesVersion: false,
      bounds: bench.bounds(),
      ...(pid === undefined ? {} : { serverPid: pid }),
    });
    return { result, batch: averageBatch(before, await readBatchTotals(client), bench.connections / 2) };
  });
}
