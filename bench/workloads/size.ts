// A store with many objects: what they take in memory, how a start with them compares with a bare scan of the same LevelDB, and
// whether creates and reads cost more at the end than at the beginning.
import { join } from 'node:path';
import { type Bench, resultOf, type Target, type Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import type { LoadReply, LoadResult } from '../load-protocol.ts';
import { configMap, createRequest, PATHS } from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';
import { startResult } from './start.ts';

const OBJECTS = 100_000;
const BYTES = 800;
/** What a server takes without objects, as far as it is no part of the figure. */
const EMPTY_BYTES = 120 * 1_000_000;
/** After this a started server has given back what it read in. */
const SETTLE_MS = 5_000;
const SCAN_DEADLINE_MS = 300_000;

export const size: Workload = {
  name: 'size',
  summary: 'A store of 100,000 config maps: memory, start beside a bare scan, creates and reads beside the first ones',
  async run(bench, report) {
    bench.requireOwnServer('size');
    const objects = bench.options.objects ?? OBJECTS;
    const bytes = bench.options.bytes ?? BYTES;
    const parameters = { objects, bytes };
    const filled = await bench.withTarget((target) => fill(bench, target, objects, bytes));
    for (const kind of ['create', 'get'] as const) {
      const { early, late } = filled[kind];
      const floor = floorFigures('the first ones', early);
      report(figuresOf({ workload: `size ${kind}`, parameters, unit: 'requests', result: late, floor }));
    }
    const scan = await bareScan(bench, filled.dataDir);
    const { result, rssBytes, readyMs } = await startWith(bench, filled.dataDir);
    const floor = floorFigures('bare scan', scan);
    const ready = { readySeconds: readyMs / 1000 };
    report(figuresOf({ workload: 'size start', parameters, unit: 'starts', result, floor, details: ready }));
    const stored = scan.bodyBytes;
    const times = rssBytes === undefined ? {} : { timesTheirBytes: Math.max(0, rssBytes - EMPTY_BYTES) / stored };
    const details = { storedBytes: stored, ...times };
    report(figuresOf({ workload: 'size memory', parameters, unit: 'starts', result, floor: undefined, details }));
  },
};

async function fill(bench: Bench, target: Target, objects: number, bytes: number) {
  const { prefix, dataDir } = target;
  const create = (part: string, count: number): Promise<LoadResult> =>
    repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${prefix}-${part}-{seq}`, bytes)), count);
  const get = (): Promise<LoadResult> =>
    repeat(bench, target, { method: 'GET', path: `${PATHS.configMaps}/${prefix}-warm-00000000` }, SAMPLE);
  await create('warm', SAMPLE);
  await get();
  const [createEarly, getEarly] = [await create('early', SAMPLE), await get()];
  await create('many', Math.max(1, objects - 3 * SAMPLE));
  const [createLate, getLate] = [await create('late', SAMPLE), await get()];
  return { dataDir, create: { early: createEarly, late: createLate }, get: { early: getEarly, late: getLate } };
}

/** Requests of which a cost is taken. */
const SAMPLE = 5_000;

async function bareScan(bench: Bench, dataDir: string): Promise<LoadResult> {
  const child = bench.children.fork('floor-scan');
  return resultOf(await bench.children.ask<LoadReply>(child, { directory: join(dataDir, 'store') }, SCAN_DEADLINE_MS));
}

async function startWith(bench: Bench, dataDir: string) {
  const server = await bench.startServer(dataDir);
  try {
    const atReady = processUsage(server.pid);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const settled = processUsage(server.pid);
    const { startMs, readyMs } = server;
    const one = { startMs, readyMs, cpuSeconds: atReady?.cpuSeconds, rssBytes: settled?.rssBytes };
    return { result: startResult([one]), rssBytes: settled?.rssBytes, readyMs };
  } finally {
    await server.stop();
  }
}
