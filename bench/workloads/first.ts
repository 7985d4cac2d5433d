// What the first requests after a start cost beside later ones of the same server: code that was not compiled yet, caches
// that were empty. The floor of each record is the warm server.
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import type { LoadResult, RequestTemplate } from '../load-protocol.ts';
import { configMap, createRequest, PATHS } from '../objects.ts';
import { repeat } from '../populate.ts';

const REQUESTS = 1_000;
const BYTES = 800;

export const first: Workload = {
  name: 'first',
  summary: 'The first 1,000 GETs and creates of config maps after a start, beside warm ones',
  async run(bench, report) {
    const count = bench.options.count ?? REQUESTS;
    for (const kind of ['get', 'create'] as const) {
      // A server each, so that neither warms what the other measures.
      const { cold, warm } = await bench.withTarget((target) => measure(bench, target, kind, count));
      const floor = floorFigures('the warm server', warm);
      const parameters = { requests: count, connections: bench.connections };
      report(figuresOf({ workload: `first ${kind}`, parameters, unit: 'requests', result: cold, floor }));
    }
  },
};

async function measure(bench: Bench, target: Target, kind: 'get' | 'create', count: number) {
  const { prefix } = target;
  if (kind === 'create') {
    const request = (part: string) => createRequest(PATHS.configMaps, configMap(`${prefix}-${part}-{seq}`, BYTES));
    const cold = await repeat(bench, target, request('cold'), count);
    return { cold, warm: await warmed(bench, target, request('warm')) };
  }
  await repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${prefix}-{seq}`, BYTES)), 1);
  const request: RequestTemplate = { method: 'GET', path: `${PATHS.configMaps}/${prefix}-00000000` };
  const cold = await repeat(bench, target, request, count);
  return { cold, warm: await warmed(bench, target, request) };
}

function warmed(bench: Bench, { endpoint, pid }: Target, request: RequestTemplate): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections: bench.connections,
    request,
    objects: 1,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: bench.bounds(),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}
