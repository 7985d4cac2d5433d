// The floors: what the bare listener and the bare engine do under the same load, in the same run. A ratio to them says
// how much of a request is the server's own work, whatever machine it runs on and whatever else that is doing.
import { readFileSync } from 'node:fs';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import { type Bench, resultOf } from '../bench.ts';
import { type FloorFigures, floorFigures } from '../figures/report.ts';
import type { Endpoint, EngineJob, LoadBounds, LoadReply, LoadResult } from '../load-protocol.ts';
import { configMap } from '../objects.ts';

/** A floor is simple and steady: it needs less time than the load it stands beside. */
const FLOOR_SECONDS = 3;
const FLOOR_WARMUP_SECONDS = 1;
const LISTENER_START_MS = 20_000;
const ENGINE_DEADLINE_MS = 120_000;
const COUNT_MAX = 2_000_000;

const FLOOR_BOUNDS: LoadBounds = {
  seconds: FLOOR_SECONDS,
  count: COUNT_MAX,
  warmupSeconds: FLOOR_WARMUP_SECONDS,
};

export interface BareListener {
  readonly endpoint: Endpoint;
  readonly pid: number;
  /** From the start of the process to the listening socket. */
  readonly startMs: number;
}

/** Runs `use` with a bare listener that has a new self-signed certificate. */
export async function withBareListener<T>(bench: Bench, use: (listener: BareListener) => Promise<T>): Promise<T> {
  const directory = bench.makeDirectory();
  // As the server does: the same kind of key, so that handshakes cost the same.
  const { certFile, keyFile } = await selfSignedPair(directory);
  const certPem = readFileSync(certFile, 'utf8');
  const startedMs = performance.now();
  const child = bench.children.fork('floor-listener');
  try {
    const { port } = await bench.children.ask<{ port: number }>(child, { keyFile, certFile }, LISTENER_START_MS);
    const startMs = performance.now() - startedMs;
    return await use({ endpoint: { host: '127.0.0.1', port, tls: { ca: certPem } }, pid: child.pid!, startMs });
  } finally {
    await bench.children.stop(child);
  }
}

/** Answers of `bytes` bytes from the bare listener. */
export function readFloor(bench: Bench, bytes: number, connections: number): Promise<FloorFigures> {
  return withBareListener(bench, async ({ endpoint, pid }) => {
    const result = await bench.load({
      type: 'requests',
      endpoint,
      connections,
      request: { method: 'GET', path: `/bytes?n=${Math.round(bytes)}` },
      objects: 1,
      objectChoice: 'shared',
      capturesVersion: false,
      bounds: FLOOR_BOUNDS,
      serverPid: pid,
    });
    return floorFigures('bare listener', result);
  });
}

export interface WatchFloor {
  readonly watchers: number;
  readonly sampleEvery: number;
  /** Size of one event with its frame. */
  readonly frameBytes: number;
  readonly writers: number;
  readonly windowWrites: number;
  readonly writesPerSecond: number | undefined;
}

/** The bare listener fanning out one frame a write to as many watches. */
export function watchFloor(bench: Bench, floor: WatchFloor): Promise<FloorFigures> {
  const { frameBytes, writesPerSecond } = floor;
  return withBareListener(bench, async ({ endpoint, pid }) => {
    const result = await bench.load({
      type: 'watch',
      endpoint,
      watchPath: '/watch',
      watchers: floor.watchers,
      sampleEvery: floor.sampleEvery,
      firstEventOnly: false,
      write: {
        method: 'PUT',
        path: `/publish?frame=${Math.round(frameBytes)}`,
        body: configMap('floor', Math.max(200, frameBytes / 2)),
      },
      writers: floor.writers,
      ...(writesPerSecond === undefined ? {} : { writesPerSecond }),
      windowWrites: floor.windowWrites,
      drainSeconds: 10,
      bounds: FLOOR_BOUNDS,
      serverPid: pid,
    });
    return floorFigures('bare listener', result);
  });
}

export interface WriteFloor {
  readonly batchOperations: number;
  readonly valueBytes: number;
  /** How many keys the writes go round; absent: every write makes a new one. */
  readonly keys?: number;
  /** Writes of the engine that one operation of the workload takes. */
  readonly writesEach?: number;
}

/** The bare engine: synced batches of that size, one after another. */
export async function writeFloor(bench: Bench, floor: WriteFloor): Promise<FloorFigures> {
  const result = await runEngine(bench, {
    directory: bench.makeDirectory(),
    batchOperations: Math.max(1, Math.round(bench.options.batch ?? floor.batchOperations)),
    valueBytes: Math.round(floor.valueBytes),
    keys: floor.keys ?? COUNT_MAX,
    bounds: FLOOR_BOUNDS,
  });
  return floorFigures('bare engine', result, floor.writesEach);
}

async function runEngine(bench: Bench, job: EngineJob): Promise<LoadResult> {
  const child = bench.children.fork('floor-engine');
  return resultOf(await bench.children.ask<LoadReply>(child, job, ENGINE_DEADLINE_MS));
}
