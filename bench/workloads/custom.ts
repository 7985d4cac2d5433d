// Custom objects beside config maps of the same size: the same loads on both, and what many definitions cost a server. Each record
// of a custom object says how many times the CPU of the config map's it took.

import { type Bench, currentVersion, type Target, type Workload } from '../bench.ts';
import { type Figures, figuresOf } from '../figures/report.ts';
import { cpuEach, median, sum } from '../figures/slices.ts';
import type { LoadResult, RequestTemplate } from '../load-protocol.ts';
import {
  CONFIG_MAP_PATCH,
  CUSTOM_PATCH,
  configMap,
  createRequest,
  customObject,
  DEFINED_GROUP,
  definition,
  PATHS,
} from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';
import type { ApiClient } from '../server/api-client.ts';
import { startResult } from './start.ts';

const BYTES = 1024;
const OBJECTS = 1000;
const SECONDS_EACH = 1;
const ROUNDS = 5;
const WATCHERS = 50;
const WRITERS = 8;
const WINDOW_WRITES = 32;
const DRAIN_SECONDS = 15;
const DEFINITIONS = 500;
const SCHEMA_BYTES = 10_000;
/** After this an idle server has finished what it does at the start. */
const SETTLE_MS = 3_000;

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly made: (name: string, bytes: number) => string;
  /** A merge patch of one field. */
  readonly patch: string;
}

const KINDS: readonly Kind[] = [
  { name: 'config map', path: PATHS.configMaps, made: configMap, patch: CONFIG_MAP_PATCH },
  { name: 'custom object', path: PATHS.customObjects, made: customObject, patch: CUSTOM_PATCH },
];

export const custom: Workload = {
  name: 'custom',
  summary: 'Custom objects of 1 KB beside config maps (create, patch, get, list, watch), and 500 definitions of 10 KB',
  async run(bench, report) {
    bench.requireOwnServer('custom');
    await bench.withTarget((target) => compare(bench, target, report));
    await measureDefinitions(bench, report);
  },
};

/** The `round`th slice of a load. Names of what it makes begin with the round's. */
type Load = (bench: Bench, target: Target, kind: Kind, round: number) => Promise<LoadResult>;

const one = ({ path }: Kind, { prefix }: Target): string => `${path}/${prefix}-{object}`;

const LOADS: Readonly<Record<string, Load>> = {
  get: (bench, target, kind) => requests(bench, target, { method: 'GET', path: one(kind, target) }),
  list: (bench, target, { path }) => requests(bench, target, { method: 'GET', path }, 'shared', 1),
  patch: (bench, target, kind) => requests(bench, target, patchOf(one(kind, target), kind.patch), 'owned'),
  create: (bench, target, { path, made }, round) =>
    requests(bench, target, createRequest(path, made(`c${round}-{seq}`, BYTES))),
  watch: events,
};

/** Slices of both kinds take turns on one server; the first of each warms up. Told is the median of their ratios. */
async function compare(bench: Bench, target: Target, report: (figures: Figures) => void): Promise<void> {
  await define(target.client, 'benchthings', 1);
  for (const { path, made } of KINDS)
    await repeat(bench, target, createRequest(path, made(`${target.prefix}-{seq}`, BYTES)), OBJECTS);
  for (const [name, load] of Object.entries(LOADS)) {
    const slices = KINDS.map((): LoadResult[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      const order = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const index of order) {
        const result = await load(bench, target, KINDS[index]!, round);
        if (round > 0) slices[index]!.push(result);
      }
    }
    const [maps, objects] = slices as [LoadResult[], LoadResult[]];
    const cpuToConfigMap = median(objects.map((of, round) => cpuEach(of) / cpuEach(maps[round]!)));
    const told = (kind: Kind, of: readonly LoadResult[], details: Figures['details']): void => {
      const parameters = { kind: kind.name, bytes: BYTES, rounds: ROUNDS };
      const workload = `${name} ${kind.name}`;
      report(figuresOf({ workload, parameters, unit: 'requests', result: sum(of), floor: undefined, details }));
    };
    told(KINDS[0]!, maps, {});
    told(KINDS[1]!, objects, { cpuToConfigMap });
  }
}

const patchOf = (path: string, body: string): RequestTemplate => ({
  method: 'PATCH',
  path,
  body,
  contentType: 'application/merge-patch+json',
});

function requests(
  bench: Bench,
  { endpoint, pid }: Target,
  request: RequestTemplate,
  objectChoice: 'shared' | 'owned' = 'shared',
  connections = bench.connections,
): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections,
    request,
    objects: OBJECTS,
    objectChoice,
    capturesVersion: false,
    bounds: bench.bounds(SECONDS_EACH),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}

async function events(
  bench: Bench,
  { endpoint, pid, client }: Target,
  { path, made }: Kind,
  round: number,
): Promise<LoadResult> {
  const version = await currentVersion(client, path);
  return await bench.load({
    type: 'watch',
    endpoint,
    watchPath: `${path}?watch=1&resourceVersion=${version}`,
    watchers: WATCHERS,
    sampleEvery: 1,
    firstEventOnly: false,
    write: createRequest(path, made(`w${round}-{seq}`, BYTES)),
    writers: WRITERS,
    windowWrites: WINDOW_WRITES,
    drainSeconds: DRAIN_SECONDS,
    bounds: bench.bounds(SECONDS_EACH),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}

/** Makes a definition, and answers with the time until its objects are listed. */
async function define(client: ApiClient, plural: string, schemaBytes: number): Promise<number> {
  const body = definition(await definitionsPath(client).then(groupOf), plural, schemaBytes);
  const fromMs = performance.now();
  await client.expect('POST', await definitionsPath(client), body);
  for (;;) {
    const { status } = await client.send('GET', `/apis/${DEFINED_GROUP}/v1/${plural}?limit=1`);
    if (status === 200) return performance.now() - fromMs;
  }
}

/** Whatever the server's dialect calls the group. */
async function definitionsPath(client: ApiClient): Promise<string> {
  const { groups } = JSON.parse(await client.expect('GET', '/apis')) as { groups: { name: string }[] };
  const group = groups.find(({ name }) => name.startsWith('apiextensions.'))!.name;
  return `/apis/${group}/v1/customresourcedefinitions`;
}

const groupOf = (path: string): string => path.split('/')[2]!;

async function measureDefinitions(bench: Bench, report: Parameters<Workload['run']>[1]): Promise<void> {
  const definitions = bench.options.objects ?? DEFINITIONS;
  const servedMs: number[] = [];
  const emptyDir = bench.makeDirectory();
  await (await bench.startServer(emptyDir)).stop();
  const dataDir = await bench.withTarget(async ({ client, dataDir: filled }) => {
    for (let index = 0; index < definitions; index++)
      servedMs.push(await define(client, `things${index}`, SCHEMA_BYTES));
    return filled;
  });
  const none = await startOnce(bench, emptyDir);
  const all = await startOnce(bench, dataDir);
  servedMs.sort((a, b) => a - b);
  const details = {
    startMoreMs: all.startMs - none.startMs,
    readyMoreMs: all.readyMs - none.readyMs,
    bytesPerDefinition: ((all.rssBytes ?? Number.NaN) - (none.rssBytes ?? Number.NaN)) / definitions,
    servedP50Ms: servedMs[servedMs.length >> 1] ?? 0,
    servedMaxMs: servedMs.at(-1) ?? 0,
  };
  const parameters = { definitions, schemaBytes: SCHEMA_BYTES };
  report(
    figuresOf({
      workload: 'definitions',
      parameters,
      unit: 'starts',
      result: startResult([all]),
      floor: undefined,
      details,
    }),
  );
}

async function startOnce(bench: Bench, dataDir: string) {
  const server = await bench.startServer(dataDir);
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const usage = processUsage(server.pid);
    const { startMs, readyMs } = server;
    return { startMs, readyMs, cpuSeconds: usage?.cpuSeconds, rssBytes: usage?.rssBytes };
  } finally {
    await server.stop();
  }
}
