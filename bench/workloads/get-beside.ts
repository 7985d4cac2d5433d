// Reads of single objects beside somebody who lists a large collection over and over: what long answers do to short ones.
// Slices of each kind of list take turns, so that whatever else the machine does falls on all of them.
import { DIALECT_NAMES, DIALECTS } from '../../config/dialect.ts';
import type { Bench, Target } from '../bench.ts';
import { type Figures, figuresOf } from '../figures/report.ts';
import { median } from '../figures/slices.ts';
import type { LoadResult, RequestTemplate } from '../load-protocol.ts';
import { configMap, createRequest, PATHS, pod } from '../objects.ts';
import { UsageError } from '../options.ts';
import { repeat } from '../populate.ts';

const PODS = 10_000;
const POD_BYTES = 2700;
const READ_OBJECTS = 100;
const READ_BYTES = 800;
/** One reader: its worst answer is what it waited for others. */
const CONNECTIONS = 1;
const SECONDS = 6;
const ROUNDS = 3;

/** How the lister asks. `none`: there is no lister. */
const LISTS: Readonly<Record<string, RequestTemplate | undefined>> = {
  none: undefined,
  json: { method: 'GET', path: PATHS.pods },
  table: {
    method: 'GET',
    path: PATHS.pods,
    accept: DIALECT_NAMES.map((name) => `application/json;as=Table;v=v1;g=${DIALECTS[name].metaGroup}`).join(', '),
  },
  pretty: { method: 'GET', path: `${PATHS.pods}?pretty=true` },
  yaml: { method: 'GET', path: PATHS.pods, accept: 'application/yaml' },
};

interface Slice {
  readonly reads: LoadResult;
  readonly lists: LoadResult | undefined;
}

/** Runs `get` beside the lists that `--beside` names. The ratios are to the first of them. Throws UsageError. */
export async function getBeside(bench: Bench, names: string, report: (figures: Figures) => void): Promise<void> {
  const kinds = names.split(',');
  for (const kind of kinds) {
    if (!Object.hasOwn(LISTS, kind))
      throw new UsageError(`--beside takes ${Object.keys(LISTS).join(', ')}, not "${kind}"`);
  }
  const connections = bench.options.connections ?? CONNECTIONS;
  const pods = bench.options.objects ?? PODS;
  const slices = await bench.withTarget(async (target) => {
    const { prefix } = target;
    const body = pod(`${prefix}-{seq}`, bench.options.bytes ?? POD_BYTES, { scheduled: false });
    await repeat(bench, target, createRequest(PATHS.pods, body), pods);
    await repeat(
      bench,
      target,
      createRequest(PATHS.configMaps, configMap(`${prefix}-{seq}`, READ_BYTES)),
      READ_OBJECTS,
    );
    const taken = kinds.map((): Slice[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, kind] of kinds.entries()) taken[i]!.push(await slice(bench, target, connections, LISTS[kind]));
    }
    return taken;
  });
  const worst = slices.map((of) => median(of.map(({ reads }) => reads.latency.maxMs)));
  for (const [i, kind] of kinds.entries()) {
    const of = slices[i]!;
    const result = of.find(({ reads }) => reads.latency.maxMs === worst[i])!.reads;
    const details = {
      worstMs: worst[i]!,
      worstToFirst: worst[i]! / worst[0]!,
      lists: of.reduce((sum, { lists }) => sum + (lists?.operations ?? 0), 0),
      listP50Ms: median(of.map(({ lists }) => lists?.latency.p50Ms ?? 0)),
    };
    const parameters = { connections, pods, beside: kind, rounds: ROUNDS };
    report(figuresOf({ workload: 'get', parameters, unit: 'requests', result, floor: undefined, details }));
  }
}

async function slice(
  bench: Bench,
  { endpoint, pid, prefix }: Target,
  connections: number,
  list: RequestTemplate | undefined,
): Promise<Slice> {
  const bounds = bench.bounds(SECONDS);
  const loadOf = (request: RequestTemplate, lanes: number): Promise<LoadResult> =>
    bench.load({
      type: 'requests',
      endpoint,
      connections: lanes,
      request,
      objects: READ_OBJECTS,
      objectChoice: 'shared',
      capturesVersion: false,
      bounds,
      ...(pid === undefined ? {} : { serverPid: pid }),
    });
  const [reads, lists] = await Promise.all([
    loadOf({ method: 'GET', path: `${PATHS.configMaps}/${prefix}-{object}` }, connections),
    list === undefined ? undefined : loadOf(list, 1),
  ]);
  return { reads, lists };
}
