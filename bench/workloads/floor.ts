// The floors alone: what this machine gives to a listener and an engine with nothing on top.
import type { Workload } from '../bench.ts';
import { type Figures, type FloorFigures, figuresOf } from '../figures/report.ts';
import { readFloor, watchFloor, writeFloor } from '../floors/floors.ts';

const GET_BYTES = 1100;
const LIST_BYTES = 32_000_000;
const VALUE_BYTES = 1100;
const BATCH = 32;
const FRAME_BYTES = 700;
const WATCHERS = 1000;

export const floor: Workload = {
  name: 'floor',
  summary: 'Every floor alone: the bare listener and the bare engine',
  async run(bench, report) {
    const { connections, options } = bench;
    const bytes = options.bytes ?? GET_BYTES;
    report(figures('floor get', { connections, bytes }, 'requests', await readFloor(bench, bytes, connections)));
    const listParameters = { connections: 1, bytes: LIST_BYTES };
    report(figures('floor list', listParameters, 'lists', await readFloor(bench, LIST_BYTES, 1)));
    const watchers = options.watchers ?? WATCHERS;
    const shape = { watchers, sampleEvery: Math.max(1, Math.floor(watchers / 50)), writers: 16, windowWrites: 64 };
    const watch = await watchFloor(bench, { ...shape, frameBytes: FRAME_BYTES, writesPerSecond: options.rate });
    report(figures('floor watch', { watchers, frameBytes: FRAME_BYTES }, 'events', watch));
    const batch = options.batch ?? BATCH;
    const write = await writeFloor(bench, { batchOperations: batch, valueBytes: VALUE_BYTES });
    report(figures('floor write', { batch, bytes: VALUE_BYTES }, 'writes', write));
  },
};

/** A floor as a record of its own. */
function figures(workload: string, parameters: Figures['parameters'], unit: string, of: FloorFigures): Figures {
  const { perSecond, cpuSecondsPer1000, p50Ms, p99Ms, generatorCores, otherCores } = of;
  const nothing = { operations: 0, writes: 0, seconds: 0, latency: { p50Ms, p99Ms, maxMs: p99Ms }, bodyBytes: 0 };
  const result = { ...nothing, errors: 0 };
  return {
    ...figuresOf({ workload, parameters, unit, result, floor: undefined }),
    perSecond,
    cpuSecondsPer1000,
    generatorCores,
    otherCores,
  };
}
