// Fan-out: many watches on one collection, and a writer. At a steady rate for the delay of an event, flat out for how
// many can be delivered; without any writes for what an open watch takes.
import { DIALECTS } from '../../config/dialect.ts';
import { type Bench, currentVersion, type Workload } from '../bench.ts';
import { eventDetails, figuresOf } from '../figures/report.ts';
import { watchFloor } from '../floors/floors.ts';
import type { LoadBounds, LoadResult, WatchJob } from '../load-protocol.ts';
import { configMap, createRequest, PATHS } from '../objects.ts';
import { repeat } from '../populate.ts';

const WATCHERS = 1000;
const BYTES = 400;
const STEADY_WRITES_PER_SECOND = 20;
const WRITERS = 16;
/** Enough to keep the server busy, few enough to stay far inside the window of events it keeps. */
const WINDOW_WRITES = 64;
const SAMPLES = 50;
const STREAMS_EACH = 100;
/** Whichever dialect the server speaks. */
const PROTOBUF_STREAMS = Object.values(DIALECTS)
  .map(({ protobufMediaType }) => `${protobufMediaType};stream=watch`)
  .join(', ');
const DRAIN_SECONDS = 15;
const SECONDS_EACH = 4;
/** At least: until the server has given back what opening the watches took. */
const SECONDS_IDLE = 30;
/** Of so many watches one is opened first, to measure what the others take. */
const SOME_OF = 5;
const ROUNDS_BEFORE = 3;
/** Numbers a load may give to its writes. */
const WRITES_MAX = 1_000_000;

interface Phase {
  readonly name: string;
  readonly writesPerSecond: number | undefined;
}

export const watch: Workload = {
  name: 'watch',
  summary: '1,000 watches of one collection, a writer at a steady rate and then flat out',
  async run(bench, report) {
    const { rate } = bench.options;
    const name = rate === 0 ? 'watch idle' : 'watch steady';
    const steady = { name, writesPerSecond: rate ?? STEADY_WRITES_PER_SECOND };
    const phases: Phase[] =
      rate === undefined ? [steady, { name: 'watch flat', writesPerSecond: undefined }] : [steady];
    for (const phase of phases) {
      const shape = shapeOf(bench, phase);
      const { rssBytesPerWatch, ...result } = await load(bench, shape);
      const frameBytes = result.bodyBytes / Math.max(1, result.operations);
      const floor = bench.wantsFloor && rate !== 0 ? await watchFloor(bench, { ...shape, frameBytes }) : undefined;
      const { stalled, http2, protobuf, selector } = bench.options;
      const parameters = {
        watchers: shape.watchers,
        ...(stalled === undefined ? {} : { stalled }),
        ...(http2 === true ? { http2 } : {}),
        ...(protobuf === true ? { protobuf } : {}),
        ...(selector === undefined ? {} : { selector }),
        ...(phase.writesPerSecond === undefined ? { window: shape.windowWrites } : { rate: phase.writesPerSecond }),
      };
      const { faults } = result;
      const details = {
        frameBytes,
        writesPerSecond: result.writes / result.seconds,
        ...eventDetails(result),
        ...faults,
        ...(rssBytesPerWatch === undefined ? {} : { rssBytesPerWatch }),
      };
      report(
        figuresOf({
          workload: phase.name,
          parameters,
          unit: 'events',
          result,
          floor,
          details,
          buckets: result.buckets,
        }),
      );
    }
  },
};

function shapeOf(bench: Bench, phase: Phase) {
  const watchers = bench.options.watchers ?? WATCHERS;
  return {
    watchers,
    sampleEvery: Math.max(1, Math.floor(watchers / SAMPLES)),
    writers: Math.min(bench.options.connections ?? WRITERS, WRITERS),
    windowWrites: bench.options.window ?? WINDOW_WRITES,
    writesPerSecond: phase.writesPerSecond,
    ...(bench.options.http2 === true ? { streamsEach: STREAMS_EACH } : {}),
  };
}

/** `rssBytesPerWatch`: where nothing is written. */
interface WatchResult extends LoadResult {
  readonly rssBytesPerWatch?: number;
}

function load(bench: Bench, shape: ReturnType<typeof shapeOf>): Promise<WatchResult> {
  const { bytes = BYTES, selector, stalled, protobuf } = bench.options;
  const { writesPerSecond, ...rest } = shape;
  const selected = selector === undefined ? '' : `&labelSelector=${encodeURIComponent(selector)}`;
  return bench.withTarget(async (target) => {
    const { endpoint, pid, client, prefix } = target;
    // Of another length than what is written: a write that changes nothing causes no event.
    const before = configMap(`${prefix}-{seq}`, bytes + 1);
    await repeat(bench, target, createRequest(PATHS.configMaps, before), shape.writers);
    const version = await currentVersion(client, PATHS.configMaps);
    const name = `${prefix}-{object}`;
    const job: WatchJob = {
      type: 'watch',
      endpoint,
      watchPath: `${PATHS.configMaps}?watch=true&resourceVersion=${version}${selected}`,
      ...rest,
      ...(stalled === undefined ? {} : { stalled }),
      ...(protobuf === true ? { encoding: 'protobuf', accept: PROTOBUF_STREAMS } : {}),
      ...(writesPerSecond === undefined ? {} : { writesPerSecond }),
      firstEventOnly: false,
      write: { method: 'PUT', path: `${PATHS.configMaps}/${name}`, body: configMap(name, bytes) },
      drainSeconds: DRAIN_SECONDS,
      bounds: writeBounds(bench),
      ...(pid === undefined ? {} : { serverPid: pid }),
    };
    return writesPerSecond === 0 ? await loadIdle(bench, job) : await bench.load(job);
  });
}

/**
 * Opens some and then all: the difference is what a watch takes. The first of a server bring in code and room that those after
 * them use as well, all of which is to be there by then: as many are opened before, several times.
 */
async function loadIdle(bench: Bench, job: WatchJob): Promise<WatchResult> {
  const some = Math.ceil(job.watchers / SOME_OF);
  for (let round = 0; round < ROUNDS_BEFORE; round++)
    await bench.load({ ...job, watchers: some, bounds: { ...job.bounds, seconds: SECONDS_EACH } });
  const { rssBytes: before } = await bench.load({ ...job, watchers: some });
  const result = await bench.load(job);
  const { rssBytes: after } = result;
  if (before === undefined || after === undefined || some === job.watchers) return result;
  return { ...result, rssBytesPerWatch: (after - before) / (job.watchers - some) };
}

function writeBounds(bench: Bench): LoadBounds {
  const isIdle = bench.options.rate === 0;
  const bounds = bench.bounds(isIdle ? SECONDS_IDLE : SECONDS_EACH);
  const seconds = isIdle ? Math.max(bounds.seconds, SECONDS_IDLE) : bounds.seconds;
  return { ...bounds, seconds, count: bench.options.count ?? WRITES_MAX };
}
