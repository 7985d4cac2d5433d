// What admission costs: creates of pods without a plug-in, with those that run by default, with a quota and a LimitRange in the
// namespace, with a webhook; and what a slow webhook does to writes that are none of its business. Slices of all cases take turns.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_ADMISSION_PLUGINS } from '../../config/admission-plugins.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { type Figures, figuresOf, floorFigures } from '../figures/report.ts';
import { cpuEach, median, sum } from '../figures/slices.ts';
import type { LoadResult, RequestTemplate, WebhookJob } from '../load-protocol.ts';
import { BENCH_NAMESPACE, configMap, createRequest, pod } from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';

const PODS = 4000;
const POD_BYTES = 1200;
const CONFIG_MAP_BYTES = 800;
const ROUNDS = 6;
/** What follows a write, such as a quota's count, belongs to it. */
const QUIET_MS = 400;
const SLOW_MS = 1000;
/** Writes that wait for the slow webhook all the time. */
const SLOW_CONNECTIONS = 16;
const START_MS = 20_000;
const ENOUGH = '1000000';

/** CPU for a pod over that without a plug-in, and CPU seconds more for 1,000: what is meant not to be passed. */
const BUDGETS = { default: 1.15, quota: 1.35, webhook: 0.15 };

const NAMESPACES = {
  plain: BENCH_NAMESPACE,
  quota: 'bench-quota',
  hooked: 'bench-hooked',
  slow: 'bench-slow',
} as const;

interface Case {
  readonly target: Target;
  readonly namespace: string;
  readonly slices: LoadResult[];
}

type CaseName = 'none' | 'default' | 'quota' | 'webhook';

export const admission: Workload = {
  name: 'admission',
  summary: 'Creates of pods without plug-ins, with the default ones, a quota and a LimitRange, a webhook',
  async run(bench, report) {
    bench.requireOwnServer('admission');
    const disabled = DEFAULT_ADMISSION_PLUGINS.join(',');
    await bench.withTarget(
      (bare) => bench.withTarget((whole) => measure(bench, bare, whole, report)),
      [`disable-admission-plugins=${disabled}`],
    );
  },
};

async function measure(bench: Bench, bare: Target, whole: Target, report: (figures: Figures) => void): Promise<void> {
  await withWebhook(bench, async ({ port, caPem }) => {
    await furnish(whole, `https://127.0.0.1:${port}`, caPem);
    const cases: Readonly<Record<CaseName, Case>> = {
      none: { target: bare, namespace: NAMESPACES.plain, slices: [] },
      default: { target: whole, namespace: NAMESPACES.plain, slices: [] },
      quota: { target: whole, namespace: NAMESPACES.quota, slices: [] },
      webhook: { target: whole, namespace: NAMESPACES.hooked, slices: [] },
    };
    const count = bench.options.count ?? PODS;
    await warmUp(bench, bare, count * 2);
    await takeTurns(bench, Object.values(cases), count);
    reportCases(bench, cases, count, report);
    await reportOthers(bench, whole, count, report);
  });
}

/** One server serves three of the cases: the other is to have compiled as much before it is measured. */
async function warmUp(bench: Bench, target: Target, count: number): Promise<void> {
  const body = pod('warm-{seq}', POD_BYTES, { scheduled: false });
  await repeat(bench, target, createRequest(podsOf(NAMESPACES.plain), body), count);
}

/** The first round warms up. Who goes first changes, so that a machine that gets busier or idler is no advantage. */
async function takeTurns(bench: Bench, cases: readonly Case[], count: number): Promise<void> {
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { target, namespace, slices } of round % 2 === 0 ? cases : cases.toReversed()) {
      const request = createRequest(podsOf(namespace), pod(`r${round}-{seq}`, POD_BYTES, { scheduled: false }));
      const result = await slice(bench, target, request, count);
      if (round > 0) slices.push(result);
    }
  }
}

/** A load with the CPU of what it leaves to be done. */
async function slice(bench: Bench, target: Target, request: RequestTemplate, count: number): Promise<LoadResult> {
  const { pid } = target;
  const cpuSeconds = (): number => (pid === undefined ? Number.NaN : (processUsage(pid)?.cpuSeconds ?? Number.NaN));
  const before = cpuSeconds();
  const result = await repeat(bench, target, request, count);
  await sleep(QUIET_MS);
  const serverCpuSeconds = cpuSeconds() - before;
  return Number.isNaN(serverCpuSeconds) ? result : { ...result, serverCpuSeconds };
}

function reportCases(
  bench: Bench,
  cases: Readonly<Record<CaseName, Case>>,
  pods: number,
  report: (figures: Figures) => void,
): void {
  const over = (name: CaseName, base: CaseName, compare: (one: number, other: number) => number): number =>
    median(cases[name].slices.map((of, i) => compare(cpuEach(of), cpuEach(cases[base].slices[i]!))));
  const ratio = (one: number, other: number): number => one / other;
  const more = (one: number, other: number): number => (one - other) * 1000;
  const details = {
    none: {},
    default: { medianCpuRatio: over('default', 'none', ratio), budget: BUDGETS.default },
    quota: { medianCpuRatio: over('quota', 'none', ratio), budget: BUDGETS.quota },
    webhook: { moreCpuSecondsPer1000: over('webhook', 'default', more), budget: BUDGETS.webhook },
  } as const satisfies Record<CaseName, Readonly<Record<string, number>>>;
  for (const name of ['none', 'default', 'quota', 'webhook'] as const) {
    const base = name === 'webhook' ? 'default' : 'none';
    const floor = name === 'none' ? undefined : floorFigures(`${base} plug-ins`, sum(cases[base].slices));
    const parameters = { plugins: name, connections: bench.connections, pods, rounds: ROUNDS };
    const result = sum(cases[name].slices);
    report(figuresOf({ workload: 'admission', parameters, unit: 'requests', result, floor, details: details[name] }));
  }
}

/** Writes of another kind, alone and while others wait for a webhook. */
async function reportOthers(
  bench: Bench,
  target: Target,
  count: number,
  report: (figures: Figures) => void,
): Promise<void> {
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  const configMaps = `/api/v1/namespaces/${NAMESPACES.plain}/configmaps`;
  for (let round = 0; round < ROUNDS; round++) {
    const write = (prefix: string): RequestTemplate =>
      createRequest(configMaps, configMap(`${prefix}${round}-{seq}`, CONFIG_MAP_BYTES));
    alone.push(await repeat(bench, target, write('alone'), count));
    const whileOthersWait = async (): Promise<LoadResult> => {
      await sleep(SLOW_MS / 2);
      return repeat(bench, target, write('beside'), count);
    };
    // Together: a bench that is stopped ends both.
    const [, measured] = await Promise.all([slowLoad(bench, target, round), whileOthersWait()]);
    beside.push(measured);
  }
  const rates = beside.map((of, i) => of.operations / of.seconds / (alone[i]!.operations / alone[i]!.seconds));
  const floor = floorFigures('no webhook waited for', sum(alone));
  const parameters = { writes: 'beside a slow webhook', waiting: SLOW_CONNECTIONS, connections: bench.connections };
  const details = { medianRateRatio: median(rates), slowMs: SLOW_MS };
  report(figuresOf({ workload: 'admission', parameters, unit: 'requests', result: sum(beside), floor, details }));
}

/** As many creates as are always waiting, from the start to about the end of a slice. */
function slowLoad(bench: Bench, { endpoint }: Target, round: number): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections: SLOW_CONNECTIONS,
    request: createRequest(podsOf(NAMESPACES.slow), pod(`r${round}-{seq}`, POD_BYTES, { scheduled: false })),
    objects: 1,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: bench.wholeCount(SLOW_CONNECTIONS * 2),
  });
}

/** Runs `use` beside a webhook in a process of its own. */
async function withWebhook(
  bench: Bench,
  use: (webhook: { readonly port: number; readonly caPem: string }) => Promise<void>,
): Promise<void> {
  const files = await selfSignedPair(bench.makeDirectory());
  const child = bench.children.fork('webhook');
  try {
    const job: WebhookJob = { ...files, slowMs: SLOW_MS };
    const { port } = await bench.children.ask<{ port: number }>(child, job, START_MS);
    await use({ port, caPem: readFileSync(files.certFile, 'utf8') });
  } finally {
    await bench.children.stop(child);
  }
}

async function furnish({ client }: Target, webhookUrl: string, caPem: string): Promise<void> {
  const post = (path: string, body: object): Promise<string> =>
    client.expect('POST', path, JSON.stringify(body), [409]);
  for (const name of Object.values(NAMESPACES)) {
    await post('/api/v1/namespaces', { metadata: { name, labels: { bench: name } } });
    await post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  }
  const hard = { pods: ENOUGH, 'requests.cpu': ENOUGH, 'requests.memory': `${ENOUGH}Gi`, 'count/pods': ENOUGH };
  await post(`/api/v1/namespaces/${NAMESPACES.quota}/resourcequotas`, { metadata: { name: 'bench' }, spec: { hard } });
  const limits = [
    { type: 'Container', default: { cpu: '1' }, min: { memory: '1Mi' }, max: { cpu: '2', memory: '1Gi' } },
    { type: 'Pod', max: { cpu: '4', memory: '4Gi' } },
  ];
  await post(`/api/v1/namespaces/${NAMESPACES.quota}/limitranges`, { metadata: { name: 'bench' }, spec: { limits } });
  const configurations = `/apis/${DIALECTS.orch.spell('admissionregistration.@group')}/v1/validatingwebhookconfigurations`;
  const caBundle = Buffer.from(caPem).toString('base64');
  const hook = (name: string, namespace: string, path: string): object => ({
    name,
    clientConfig: { url: `${webhookUrl}${path}`, caBundle },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    namespaceSelector: { matchLabels: { bench: namespace } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  await post(configurations, {
    metadata: { name: 'bench' },
    webhooks: [
      hook('allows.bench.example', NAMESPACES.hooked, '/'),
      hook('slow.bench.example', NAMESPACES.slow, '/slow'),
    ],
  });
}

function podsOf(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
