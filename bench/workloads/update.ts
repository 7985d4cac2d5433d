// Changes of objects that are there: PUT under the version last seen, or merge patches. Every connection changes objects
// of its own, so that no write is lost to a conflict.
import type { Bench, Target, Workload } from '../bench.ts';
import { writeFloor } from '../floors.ts';
import type { RequestTemplate } from '../load-protocol.ts';
import { CONFIG_MAP_PATCH, configMap, configMapUpdate, createRequest, PATHS } from '../objects.ts';
import { figuresOf } from '../report.ts';
import { averageBatch, readBatchTotals } from '../store-batches.ts';
import { repeat } from './populate.ts';

const OBJECTS = 1024;
const BYTES = 800;

export const update: Workload = {
  name: 'update',
  summary: 'PUT of config maps under their current version, or with --patch JSON merge patches',
  async run(bench, report) {
    const { connections, options } = bench;
    const objects = Math.max(connections, options.objects ?? OBJECTS);
    const bytes = options.bytes ?? BYTES;
    const method = options.patch === true ? 'PATCH' : 'PUT';
    const { result, batch } = await bench.withTarget((target) => load(bench, target, method, objects, bytes));
    const objectBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor
      ? await writeFloor(bench, { batchOperations: batch, valueBytes: objectBytes, keys: objects })
      : undefined;
    const parameters = { method, connections, objects, bytes };
    const details = { objectBytes, averageBatch: batch };
    report(figuresOf({ workload: `update ${method}`, parameters, unit: 'requests', result, floor, details }));
  },
};

async function load(bench: Bench, target: Target, method: 'PUT' | 'PATCH', objects: number, bytes: number) {
  const { endpoint, pid, client, prefix } = target;
  await repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${prefix}-{seq}`, bytes)), objects);
  const before = await readBatchTotals(client);
  const result = await bench.load({
    type: 'requests',
    endpoint,
    connections: bench.connections,
    request: changeRequest(method, `${prefix}-{object}`, bytes),
    objects,
    objectChoice: 'owned',
    capturesVersion: method === 'PUT',
    bounds: bench.bounds(),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
  return { result, batch: averageBatch(before, await readBatchTotals(client), bench.connections / 2) };
}

function changeRequest(method: 'PUT' | 'PATCH', name: string, bytes: number): RequestTemplate {
  const path = `${PATHS.configMaps}/${name}`;
  return method === 'PUT'
    ? { method, path, body: configMapUpdate(name, bytes) }
    : { method, path, body: CONFIG_MAP_PATCH, contentType: 'application/merge-patch+json' };
}
