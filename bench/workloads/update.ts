// Changes of objects that are there, one kind of request after another: PUT under the version last seen, patches, or applies
// that change nothing. Every connection changes objects of its own, so that no write is lost to a conflict.
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import { readFloor, writeFloor } from '../floors/floors.ts';
import type { RequestTemplate } from '../load-protocol.ts';
import {
  CONFIG_MAP_PATCH,
  configMap,
  configMapUpdate,
  createRequest,
  deployment,
  PATHS,
  POD_PATCH,
  pod,
  podUpdate,
} from '../objects.ts';
import { UsageError } from '../options.ts';
import { repeat } from '../populate.ts';
import { averageBatch, readBatchTotals } from '../server/store-batches.ts';

const OBJECTS = 1024;

const CHANGES = ['put', 'merge', 'strategic', 'apply'] as const;
export type Change = (typeof CHANGES)[number];
export type ChangedKind = 'configmap' | 'pod' | 'deployment';

interface ChangedObject {
  readonly path: string;
  readonly bytes: number;
  /** The object as it is made. */
  readonly made: (name: string, bytes: number) => string;
  /** The object as it is put, `{version}` being the one last seen. */
  readonly put: (name: string, bytes: number) => string;
  readonly patch: string;
}

const KINDS: Readonly<Record<ChangedKind, ChangedObject>> = {
  configmap: { path: PATHS.configMaps, bytes: 800, made: configMap, put: configMapUpdate, patch: CONFIG_MAP_PATCH },
  pod: {
    path: PATHS.pods,
    bytes: 1200,
    made: (name, bytes) => pod(name, bytes, { scheduled: false }),
    put: podUpdate,
    patch: POD_PATCH,
  },
  deployment: { path: PATHS.deployments, bytes: 2000, made: deployment, put: deployment, patch: POD_PATCH },
};

const MEDIA_TYPES: Readonly<Record<Exclude<Change, 'put'>, string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export const update: Workload = {
  name: 'update',
  summary: 'PUT of config maps; --kind pod or deployment, --change merge, strategic or apply (which changes nothing)',
  async run(bench, report) {
    const { connections, options } = bench;
    const kind = (options.kind ?? 'configmap') as ChangedKind;
    const change = (options.change as Change | undefined) ?? (options.patch === true ? 'merge' : 'put');
    if (options.bare === true && change === 'apply') throw new UsageError('the bare server knows of no apply');
    const objects = Math.max(connections, options.objects ?? OBJECTS);
    const bytes = options.bytes ?? KINDS[kind].bytes;
    const { result, batch } = await bench.withTarget((target) => load(bench, target, kind, change, objects, bytes));
    const objectBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor ? await floorOf(bench, change, batch, objectBytes, objects) : undefined;
    const parameters = { kind, change, connections, objects, bytes };
    const details = { objectBytes, averageBatch: batch };
    report(figuresOf({ workload: `${change} ${kind}`, parameters, unit: 'requests', result, floor, details }));
  },
};

/** An apply that changes nothing writes nothing: it is an answer. */
function floorOf(bench: Bench, change: Change, batchOperations: number, valueBytes: number, keys: number) {
  if (change === 'apply') return readFloor(bench, valueBytes, bench.connections);
  return writeFloor(bench, { batchOperations, valueBytes, keys });
}

async function load(bench: Bench, target: Target, kind: ChangedKind, change: Change, objects: number, bytes: number) {
  const { endpoint, pid, client, prefix } = target;
  const { path, made } = KINDS[kind];
  const create =
    change === 'apply'
      ? changeRequest(kind, change, `${prefix}-{seq}`, bytes)
      : createRequest(path, made(`${prefix}-{seq}`, bytes));
  await repeat(bench, target, create, objects);
  const before = await readBatchTotals(client);
  const result = await bench.load({
    type: 'requests',
    endpoint,
    connections: bench.connections,
    request: changeRequest(kind, change, `${prefix}-{object}`, bytes),
    objects,
    objectChoice: 'owned',
    capturesVersion: change === 'put',
    bounds: bench.bounds(),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
  return { result, batch: averageBatch(before, await readBatchTotals(client), bench.connections / 2) };
}

function changeRequest(kind: ChangedKind, change: Change, name: string, bytes: number): RequestTemplate {
  const { path: collection, made, put, patch } = KINDS[kind];
  const path = `${collection}/${name}`;
  if (change === 'put') return { method: 'PUT', path, body: put(name, bytes) };
  const contentType = MEDIA_TYPES[change];
  if (change !== 'apply') return { method: 'PATCH', path, body: patch, contentType };
  // Its number would be a change: every apply of an object says the same.
  const body = made(name, bytes).replaceAll('"{seq}"', '"00000000"');
  return { method: 'PATCH', path: `${path}?fieldManager=bench&force=true`, body, contentType };
}
