// What priority and fairness promises, on a real server of a few seats: an elephant, who asks again and again on many connections, beside
// mice, who ask now and then; a controller in a hot loop beside somebody who looks at what there is; and 10,000 requests at once. Where
// a request's time is not to be the machine's, it waits for a webhook that takes its time.
import { readFileSync } from 'node:fs';
import { DIALECTS } from '../../config/dialect.ts';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { type Figures, figuresOf, floorFigures } from '../figures/report.ts';
import { median, sum, withErrorsOf } from '../figures/slices.ts';
import type { LoadResult, RequestJob, RequestTemplate, WebhookJob } from '../load-protocol.ts';
import { BENCH_NAMESPACE, configMap, createRequest, PATHS } from '../objects.ts';
import { repeat } from '../populate.ts';
import { processUsage } from '../process-usage.ts';
import { asUsers, staticUsers } from '../static-users.ts';

/** In flight together: the users' level gets a tenth of them, 10 seats. */
const IN_FLIGHT = ['max-requests-inflight=60', 'max-mutating-requests-inflight=40'];
/** What a write takes that waits for the webhook. */
const SERVICE_MS = 20;
const START_MS = 20_000;
const SECONDS = 3;
const ROUNDS = 4;
const BYTES = 400;

const MICE = 8;
const MOUSE_PAUSE_MS = 50;
const ELEPHANT_CONNECTIONS = 64;
const CONTROLLER_CONNECTIONS = 32;
const OBJECTS = 100;
const CROWD = 10_000;
const STREAMS_EACH = 100;
/** Longer than anyone may wait in a queue. */
const CROWD_SECONDS = 90;
const LOOK_MS = 200;

const SLOW_NAMESPACE = 'bench-slow';
const SLOW_MAPS = `/api/v1/namespaces/${SLOW_NAMESPACE}/configmaps`;

/** A load, but for how long it goes on. */
type Load = Omit<RequestJob, 'type' | 'bounds' | 'objectChoice' | 'capturesVersion'>;

export const fairness: Workload = {
  name: 'fairness',
  summary: 'Mice beside an elephant, somebody who looks beside a controller in a hot loop, 10,000 requests at once',
  async run(bench, report) {
    bench.requireOwnServer('fairness');
    const users = staticUsers(bench, { mouse: MICE, elephant: 1, controller: 1, looker: 1, crowd: CROWD });
    await withWebhook(bench, (url, caPem) =>
      bench.withTarget(
        async (target) => {
          await furnish(target, url, caPem);
          await mice(bench, target, report);
          await looker(bench, target, report);
        },
        [...users, ...IN_FLIGHT],
      ),
    );
    await withWebhook(bench, (url, caPem) =>
      bench.withTarget(
        async (target) => {
          await furnish(target, url, caPem);
          await crowd(bench, target, report);
        },
        [...users, ...IN_FLIGHT, 'ingress=node'],
      ),
    );
  },
};

async function mice(bench: Bench, target: Target, report: (figures: Figures) => void): Promise<void> {
  const mouse: Load = {
    ...of(asUsers(target, 'mouse'), slowWrite('mouse')),
    ...{ connections: MICE, objects: MICE, pauseMs: MOUSE_PAUSE_MS },
  };
  const elephant: Load = {
    ...of(asUsers(target, 'elephant'), slowWrite('elephant')),
    connections: ELEPHANT_CONNECTIONS,
  };
  await beside(bench, 'fairness mice', [mouse, elephant], report);
}

async function looker(bench: Bench, target: Target, report: (figures: Figures) => void): Promise<void> {
  await repeat(bench, target, createRequest(PATHS.configMaps, configMap('b-{seq}', BYTES)), OBJECTS);
  const list: RequestTemplate = { method: 'GET', path: PATHS.configMaps };
  const looks: Load = { ...of(asUsers(target, 'looker'), list), pauseMs: MOUSE_PAUSE_MS };
  const write = slowWrite('controller');
  const controller: Load = { ...of(asUsers(target, 'controller'), write), connections: CONTROLLER_CONNECTIONS };
  await beside(bench, 'fairness looker', [looks, controller], report);
}

/** The first load alone and beside the second, in turns. */
async function beside(
  bench: Bench,
  workload: string,
  [few, many]: readonly [few: Load, many: Load],
  report: (figures: Figures) => void,
): Promise<void> {
  const alone: LoadResult[] = [];
  const crowded: LoadResult[] = [];
  const manys: LoadResult[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await timed(bench, few));
    const [together, much] = await Promise.all([timed(bench, few), timed(bench, many)]);
    crowded.push(together);
    manys.push(much);
  }
  const p99Of = (slices: readonly LoadResult[]): number => median(slices.map(({ latency }) => latency.p99Ms));
  const [aloneMs, besideMs] = [p99Of(alone), p99Of(crowded)];
  const others = sum(manys).operations;
  const details = { p99Ratio: besideMs / aloneMs, p99MoreMs: besideMs - aloneMs, p99AloneMs: aloneMs, others };
  const parameters = { connections: few.connections, otherConnections: many.connections, rounds: ROUNDS };
  const floor = floorFigures('alone', sum(alone));
  const result = withErrorsOf(sum(crowded), manys);
  report(figuresOf({ workload, parameters, unit: 'requests', result, floor, details }));
}

/** Each by another user, all of them together. */
async function crowd(bench: Bench, target: Target, report: (figures: Figures) => void): Promise<void> {
  const count = bench.options.count ?? CROWD;
  const { endpoint } = asUsers(target, 'crowd');
  const rss = (): number =>
    target.pid === undefined ? Number.NaN : (processUsage(target.pid)?.rssBytes ?? Number.NaN);
  const before = rss();
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, rss());
  }, LOOK_MS);
  let result: LoadResult;
  try {
    const bounds = { seconds: CROWD_SECONDS, count, warmupSeconds: 0 };
    const job = { endpoint, request: slowWrite('crowd'), requests: count, streamsEach: STREAMS_EACH, bounds };
    result = await bench.load({
      type: 'crowd',
      ...job,
      ...(target.pid === undefined ? {} : { serverPid: target.pid }),
    });
  } finally {
    clearInterval(looking);
  }
  const refused = result.refused ?? 0;
  const details = { refused, rssBytesPerRequest: (most - before) / count };
  const parameters = { requests: count };
  report(figuresOf({ workload: 'fairness crowd', parameters, unit: 'requests', result, floor: undefined, details }));
}

function of({ endpoint, pid }: Target, request: RequestTemplate): Load {
  return { endpoint, request, connections: 1, objects: 1, ...(pid === undefined ? {} : { serverPid: pid }) };
}

function timed(bench: Bench, load: Load): Promise<LoadResult> {
  const choice = { objectChoice: 'shared', capturesVersion: false } as const;
  return bench.load({ ...load, ...choice, type: 'requests', bounds: bench.bounds(SECONDS) });
}

/** Decided by the webhook, and not stored: what is measured is who waits for whom. */
function slowWrite(name: string): RequestTemplate {
  return createRequest(`${SLOW_MAPS}?dryRun=All`, configMap(`${name}-{seq}`, BYTES));
}

/** Runs `use` beside a webhook in a process of its own. */
async function withWebhook(bench: Bench, use: (url: string, caPem: string) => Promise<void>): Promise<void> {
  const files = await selfSignedPair(bench.makeDirectory());
  const child = bench.children.fork('webhook');
  try {
    const job: WebhookJob = { ...files, slowMs: SERVICE_MS };
    const { port } = await bench.children.ask<{ port: number }>(child, job, START_MS);
    await use(`https://127.0.0.1:${port}/slow`, readFileSync(files.certFile, 'utf8'));
  } finally {
    await bench.children.stop(child);
  }
}

async function furnish({ client }: Target, url: string, caPem: string): Promise<void> {
  const post = (path: string, body: object): Promise<string> =>
    client.expect('POST', path, JSON.stringify(body), [409]);
  await post('/api/v1/namespaces', { metadata: { name: SLOW_NAMESPACE, labels: { bench: SLOW_NAMESPACE } } });
  const configurations = `/apis/${DIALECTS.orch.spell('admissionregistration.@group')}/v1/validatingwebhookconfigurations`;
  await post(configurations, {
    metadata: { name: BENCH_NAMESPACE },
    webhooks: [
      {
        name: 'slow.bench.example',
        clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { bench: SLOW_NAMESPACE } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
}
