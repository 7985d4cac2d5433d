// Deletes, each of an object made before the load begins.
import type { Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import { writeFloor } from '../floors/floors.ts';
import { configMap, createRequest, PATHS, pod } from '../objects.ts';
import { madeKind } from '../options.ts';
import { repeat } from '../populate.ts';
import { averageBatch, readBatchTotals } from '../server/store-batches.ts';

const OBJECTS = 20_000;
const BYTES = 1200;

export const remove: Workload = {
  name: 'delete',
  summary: 'Deletes of pods that no node runs, or with --kind configmap of config maps',
  async run(bench, report) {
    const { connections, options } = bench;
    const kind = madeKind(options, 'pod');
    const objects = options.objects ?? OBJECTS;
    const bytes = options.bytes ?? BYTES;
    const { result, batch } = await bench.withTarget(async (target) => {
      const { endpoint, pid, client, prefix } = target;
      const name = `${prefix}-{seq}`;
      const path = kind === 'pod' ? PATHS.pods : PATHS.configMaps;
      const bodyOf = (of: string) => (kind === 'pod' ? pod(of, bytes, { scheduled: false }) : configMap(of, bytes));
      // Objects that go first, so that what is counted is warm, as it is where a load lasts for a time.
      const first = `${prefix}w-{seq}`;
      await repeat(bench, target, createRequest(path, bodyOf(first)), objects);
      await repeat(bench, target, { method: 'DELETE', path: `${path}/${first}` }, objects);
      await repeat(bench, target, createRequest(path, bodyOf(name)), objects);
      const before = await readBatchTotals(client);
      const done = await bench.load({
        type: 'requests',
        endpoint,
        connections,
        request: { method: 'DELETE', path: `${path}/${name}` },
        objects: 1,
        objectChoice: 'shared',
        capturesVersion: false,
        bounds: bench.wholeCount(objects),
        ...(pid === undefined ? {} : { serverPid: pid }),
      });
      return { result: done, batch: averageBatch(before, await readBatchTotals(client), connections / 2) };
    });
    const objectBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor
      ? await writeFloor(bench, { batchOperations: batch, valueBytes: objectBytes })
      : undefined;
    const details = { objectBytes, averageBatch: batch };
    report(
      figuresOf({
        workload: `delete ${kind}`,
        parameters: { kind, connections, objects },
        unit: 'requests',
        result,
        floor,
        details,
      }),
    );
  },
};
