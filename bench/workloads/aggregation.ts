// What it costs to pass a request on: reads of an extension server's objects beside reads of config maps of the same size, which
// are answered here. Slices of both take turns. The extension server's own CPU is not counted.
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIALECTS } from '../../config/dialect.ts';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { type Figures, figuresOf, floorFigures } from '../figures/report.ts';
import { cpuEach, median, sum } from '../figures/slices.ts';
import type { ExtensionJob, LoadResult } from '../load-protocol.ts';
import { BENCH_NAMESPACE, configMap, createRequest, PATHS } from '../objects.ts';
import { UsageError } from '../options.ts';
import { repeat } from '../populate.ts';
import type { ApiClient } from '../server/api-client.ts';

const BYTES = 800;
const OBJECTS = 100;
const ROUNDS = 5;
const SECONDS_EACH = 2;
const START_MS = 20_000;
const POLL_MS = 50;

const GROUP = 'extension.example.com';
const API_VERSION = `${GROUP}/v1`;
const SERVICE = 'extension';

const LOADS = ['direct', 'passed on'] as const;
type Load = (typeof LOADS)[number];

export const aggregation: Workload = {
  name: 'aggregation',
  summary: 'Reads that are passed on to an extension server, beside reads that are answered here',
  async run(bench, report) {
    bench.requireOwnServer('aggregation');
    const host = outsideAddress();
    if (host === undefined) throw new UsageError('aggregation needs an IPv4 address of this machine besides loopback');
    await bench.withTarget(async (target) => {
      await withExtension(bench, host, async (port) => {
        await register(target.client, host, port);
        await measure(bench, target, report);
      });
    });
  },
};

/** Extension servers are called at addresses that others could reach. */
function outsideAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flat();
  return all.find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
}

/** Runs `use` beside an extension server in a process of its own. */
async function withExtension(bench: Bench, host: string, use: (port: number) => Promise<void>): Promise<void> {
  const files = await selfSignedPair(bench.makeDirectory());
  const child = bench.children.fork('extension');
  const resource = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list'] };
  const discovery = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: API_VERSION, resources: [resource] };
  const document = configMap('thing', BYTES);
  try {
    const job: ExtensionJob = { ...files, host, discovery: JSON.stringify(discovery), document };
    const { port } = await bench.children.ask<{ port: number }>(child, job, START_MS);
    await use(port);
  } finally {
    await bench.children.stop(child);
  }
}

/** Registers the group, and waits until its server is found available. */
async function register(client: ApiClient, host: string, port: number): Promise<void> {
  const service = { metadata: { name: SERVICE }, spec: { type: 'ExternalName', externalName: host } };
  await client.expect('POST', `/api/v1/namespaces/${BENCH_NAMESPACE}/services`, JSON.stringify(service));
  const spec = {
    group: GROUP,
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    service: { namespace: BENCH_NAMESPACE, name: SERVICE, port },
  };
  const registered = { metadata: { name: `v1.${GROUP}` }, spec };
  const apiServices = `/apis/${DIALECTS.orch.spell('apiregistration.@group')}/v1/apiservices`;
  await client.expect('POST', apiServices, JSON.stringify(registered));
  const deadlineMs = performance.now() + START_MS;
  for (;;) {
    const { status, text } = await client.send('GET', thing('a'));
    if (status === 200) return;
    if (performance.now() > deadlineMs) throw new Error(`the extension server was not reached: ${text}`);
    await sleep(POLL_MS);
  }
}

const thing = (name: string): string => `/apis/${API_VERSION}/namespaces/${BENCH_NAMESPACE}/things/${name}`;

async function measure(bench: Bench, target: Target, report: (figures: Figures) => void): Promise<void> {
  await repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${target.prefix}-{seq}`, BYTES)), OBJECTS);
  const paths: Readonly<Record<Load, string>> = {
    direct: `${PATHS.configMaps}/${target.prefix}-{object}`,
    'passed on': thing('{object}'),
  };
  const slices: Readonly<Record<Load, LoadResult[]>> = { direct: [], 'passed on': [] };
  // Who goes first changes, so that a machine that gets busier or idler is no advantage.
  for (let round = 0; round < ROUNDS; round++) {
    for (const load of round % 2 === 0 ? LOADS : LOADS.toReversed()) {
      slices[load].push(await reads(bench, target, paths[load]));
    }
  }
  const ratios = slices['passed on'].map((of, i) => cpuEach(of) / cpuEach(slices.direct[i]!));
  for (const load of LOADS) {
    const isDirect = load === 'direct';
    const parameters = { reads: load, connections: bench.connections, bytes: BYTES, rounds: ROUNDS };
    const details: Readonly<Record<string, number>> = isDirect ? {} : { medianCpuRatio: median(ratios) };
    const floor = isDirect ? undefined : floorFigures('answered here', sum(slices.direct));
    const result = sum(slices[load]);
    report(figuresOf({ workload: 'aggregation', parameters, unit: 'requests', result, floor, details }));
  }
}

function reads(bench: Bench, { endpoint, pid }: Target, path: string): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections: bench.connections,
    request: { method: 'GET', path },
    objects: OBJECTS,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: bench.bounds(SECONDS_EACH),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}
