// Client libraries that hold a cache and follow it by watches, through what happens to a server: it is killed and comes back, it
// is stopped in order, and what they have seen last is forgotten while they are not looking. In the end each cache must be
// what a list answers. Node's informers run in this process, Python's watch loop in one of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as k8s from '@kubernetes/client-node';
import { accountIn, eventually } from '../integration/objects.ts';
import { guardProcess } from '../server/process-guard.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { type Cache, cacheOf, Informer } from './informers.ts';
import { LoopChurn } from './loop-churn.ts';
import { requirePython } from './python.ts';

const NAMESPACE = 'loops';
const SELECTOR = 'tier=a';
/** Short, so that a client which looks away for a moment is too late. */
const COMPACTION = '2s';
/** Of undisturbed writes between two incidents. */
const CALM_MS = 1000;
/** For the caches to be whole once nothing is written any more. */
const PATIENCE_MS = 120_000;

export interface LoopSettings {
  readonly seconds: number;
  readonly onProgress?: (report: LoopReport) => void;
}

export interface LoopReport {
  readonly writes: number;
  readonly incidents: number;
  /** Watches tried where others had been cut off, and those that were too late for it. */
  readonly resumed: number;
  readonly expired: number;
  readonly problems: readonly string[];
}

/** What follow.py prints. */
interface Followed {
  readonly caches: Readonly<Record<string, Cache>>;
  readonly resumed: number;
  readonly expired: number;
  readonly problems: readonly string[];
}

/** Runs every incident at least once, and goes on until the time is over. Rejects when a client does not come to an end. */
export async function watchLoops(scope: Scope, { seconds, onProgress }: LoopSettings): Promise<LoopReport> {
  const args = ['--api-dialect', 'kubernetes', '--store-compaction-interval', COMPACTION];
  const server = await startServer(scope, { args, placement: 'default' });
  await server.client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: NAMESPACE } } });
  await accountIn(server.client, NAMESPACE);
  const churn = new LoopChurn(server.client, NAMESPACE);
  churn.start();
  const informers = await startInformers(scope, server);
  const python = new PythonLoop(scope, server);

  const incidents = [killed, lookedAway, stopped];
  let count = 0;
  const reportOf = (followed?: Followed, problems: readonly string[] = []): LoopReport => ({
    writes: churn.writes,
    incidents: count,
    resumed: sum(informers.map(({ resumed }) => resumed)) + (followed?.resumed ?? 0),
    expired: sum(informers.map(({ expired }) => expired)) + (followed?.expired ?? 0),
    problems: [...churn.problems, ...(followed?.problems ?? []), ...problems],
  });
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs || count < incidents.length) {
    await wait(CALM_MS);
    await incidents[count++ % incidents.length]!(server, informers, python);
    onProgress?.(reportOf());
  }
  await churn.stop();
  const followed = await finish(server, python);
  return reportOf(followed, await differences(server, informers, followed));
}

type Incident = (server: ServerProcess, informers: readonly Informer[], python: PythonLoop) => Promise<void>;

const killed: Incident = async (server) => {
  await server.kill9();
  await server.restart();
};

const stopped: Incident = async (server) => {
  await server.stop();
  await server.restart();
};

/** The clients look away until what they saw last is older than anything remembered; Python finds its connection cut as well. */
const lookedAway: Incident = async (server, informers, python) => {
  await Promise.all(informers.map((informer) => informer.stop()));
  python.signal('SIGSTOP');
  const last = (await server.client.get('/api/v1/nodes')).json.metadata.resourceVersion;
  await killed(server, informers, python);
  const exact = `/api/v1/nodes?limit=1&resourceVersionMatch=Exact&resourceVersion=${last}`;
  await eventually(
    () => server.client.get(exact),
    ({ status }) => status === 410,
  );
  python.signal('SIGCONT');
  await Promise.all(informers.map((informer) => informer.start()));
};

async function startInformers(scope: Scope, server: ServerProcess): Promise<readonly Informer[]> {
  const config = new k8s.KubeConfig();
  config.loadFromFile(server.kubeconfig);
  const core = config.makeApiClient(k8s.CoreV1Api);
  const selection = { namespace: NAMESPACE, labelSelector: SELECTOR };
  const informers = [
    Informer.of('pods', config, '/api/v1/pods', () => core.listPodForAllNamespaces()),
    Informer.of(
      'configmaps',
      config,
      `/api/v1/namespaces/${NAMESPACE}/configmaps`,
      () => core.listNamespacedConfigMap(selection),
      SELECTOR,
    ),
  ];
  for (const informer of informers) {
    scope.teardown(() => informer.stop());
    await informer.start();
  }
  return informers;
}

/** follow.py, running. */
class PythonLoop {
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor(scope: Scope, server: ServerProcess) {
    const child = spawn(requirePython(), ['test/clients/follow.py', server.kubeconfig, NAMESPACE]);
    guardProcess(child, []);
    scope.teardown(() => void child.kill('SIGKILL'));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child = child;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What it printed at its end. Rejects when it does not come to one. */
  async report(): Promise<Followed> {
    const patience = setTimeout(() => this.#child.kill('SIGABRT'), PATIENCE_MS);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    clearTimeout(patience);
    if (this.#child.exitCode === 0) return JSON.parse(this.#stdout) as Followed;
    throw new Error(`follow.py ended with ${this.#child.exitCode ?? this.#child.signalCode}: ${this.#stderr}`);
  }
}

/** Writes the objects by which Python's followers know that nothing more comes. */
async function finish(server: ServerProcess, python: PythonLoop): Promise<Followed> {
  const metadata = { name: 'finished', labels: { tier: 'a' } };
  const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example/main:1' }] };
  for (const [type, body] of [
    ['pods', { metadata, spec }],
    ['configmaps', { metadata }],
  ] as const) {
    const { status, text } = await eventually(
      () => server.client.request('POST', `/api/v1/namespaces/${NAMESPACE}/${type}`, { body }),
      // A server that has just started may be too busy.
      (answer) => answer.status !== 429,
    );
    if (status !== 201) throw new Error(text);
  }
  return python.report();
}

async function differences(server: ServerProcess, informers: readonly Informer[], { caches }: Followed) {
  const problems: string[] = [];
  for (const informer of informers) {
    const { name } = informer;
    const query = name === 'configmaps' ? `?labelSelector=${encodeURIComponent(SELECTOR)}` : '';
    const { json } = await server.client.get(`/api/v1/namespaces/${NAMESPACE}/${name}${query}`);
    const listed = JSON.stringify(cacheOf(json.items ?? []));
    const held = (): string => JSON.stringify(informer.cache);
    const deadlineMs = performance.now() + PATIENCE_MS;
    await eventually(
      async () => held() === listed,
      (isEqual) => isEqual || performance.now() > deadlineMs,
    );
    if (held() !== listed) problems.push(`the informer of ${name} holds ${held()}, a list ${listed}`);
    const python = JSON.stringify(Object.fromEntries(Object.entries(caches[name] ?? {}).sort(byKey)));
    if (python !== listed) problems.push(`Python holds of ${name} ${python}, a list ${listed}`);
  }
  return problems;
}

const byKey = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : 1;
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const wait = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));
