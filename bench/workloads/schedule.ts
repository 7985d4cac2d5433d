// Scheduling: pods created as fast as the server takes them, counted when a watch sees them bound.
import { type Bench, currentVersion, type Target, type Workload } from '../bench.ts';
import { eventDetails, figuresOf } from '../figures/report.ts';
import { writeFloor } from '../floors/floors.ts';
import type { LoadResult } from '../load-protocol.ts';
import { createRequest, node, PATHS, pod } from '../objects.ts';
import { repeat } from '../populate.ts';
import { averageBatch, readBatchTotals } from '../server/store-batches.ts';
import { runCases } from './schedule-cases.ts';

const NODES = 100;
const PODS = 2000;
const BYTES = 1200;
/** What a node takes unless the pods need more: twice their even share. */
const PODS_A_NODE = 110;
/** A pod is stored once when it is created and once when it is bound. */
const WRITES_A_POD = 2;
const DRAIN_SECONDS = 120;

export const schedule: Workload = {
  name: 'schedule',
  summary: '2,000 pods on 100 nodes, from create to bound; with --case the workloads of bench/scheduling',
  async run(bench, report) {
    const { case: cases } = bench.options;
    if (cases !== undefined) return runCases(bench, cases, report);
    const nodes = bench.options.nodes ?? NODES;
    const pods = bench.options.pods ?? PODS;
    const { result, batch } = await bench.withTarget((target) => load(bench, target, nodes, pods));
    const objectBytes = result.bodyBytes / Math.max(1, result.operations);
    const floor = bench.wantsFloor
      ? await writeFloor(bench, { batchOperations: batch, valueBytes: objectBytes, writesEach: WRITES_A_POD })
      : undefined;
    const parameters = { nodes, pods, connections: bench.connections };
    const details = { averageBatch: batch, ...eventDetails(result) };
    report(figuresOf({ workload: 'schedule', parameters, unit: 'pods', result, floor, details }));
  },
};

async function load(bench: Bench, target: Target, nodes: number, pods: number) {
  const { endpoint, pid, client, prefix } = target;
  await makeNodes(bench, target, nodes, Math.max(PODS_A_NODE, Math.ceil((2 * pods) / nodes)));
  const version = await currentVersion(client, PATHS.pods);
  const before = await readBatchTotals(client);
  const result: LoadResult = await bench.load({
    type: 'watch',
    endpoint,
    // A pod enters this selection when it is bound.
    watchPath: `${PATHS.pods}?watch=true&fieldSelector=spec.nodeName%21%3D&resourceVersion=${version}`,
    watchers: 1,
    sampleEvery: 1,
    firstEventOnly: true,
    write: createRequest(PATHS.pods, pod(`${prefix}-{seq}`, bench.options.bytes ?? BYTES, { scheduled: true })),
    writers: bench.connections,
    windowWrites: pods,
    drainSeconds: DRAIN_SECONDS,
    bounds: bench.wholeCount(pods),
    ...(bench.options.rate === undefined ? {} : { writesPerSecond: bench.options.rate }),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
  return { result, batch: averageBatch(before, await readBatchTotals(client), bench.connections / 2) };
}

/** Makes ready nodes. A new node may be tainted until its agent has reported, and there is none: so the taints go. */
async function makeNodes(bench: Bench, target: Target, nodes: number, podsEach: number): Promise<void> {
  const name = `${target.prefix}-node-{seq}`;
  await repeat(bench, target, createRequest(PATHS.nodes, node(name, podsEach)), nodes);
  const untaint = {
    method: 'PATCH',
    path: `${PATHS.nodes}/${name}`,
    contentType: 'application/merge-patch+json',
    body: '{"spec":{"taints":null}}',
  } as const;
  await repeat(bench, target, untaint, nodes);
}
