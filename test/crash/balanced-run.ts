// Rounds through a balancer before three servers on three members of etcd: writers, informers of the Node client, controllers that
// elect a leader, and kubectl, while servers and members are killed, stand still and leave in turn. Owns the clients.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as k8s from '@kubernetes/client-node';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { cacheOf, Informer } from '../clients/informers.ts';
import { eventually, freshNamespace } from '../integration/objects.ts';
import { BalancedCluster, INCIDENTS } from './balanced-cluster.ts';
import { CRASH_KINDS, collectionOf } from './crash-kinds.ts';
import { type Acting, LeaseCandidate } from './lease-candidate.ts';
import { nothingWritten, ServersWriter } from './servers-writer.ts';

const WRITERS = 3;
const CANDIDATES = 3;
const CALM_MS = 700;

export interface BalancedReport {
  readonly round: number;
  readonly incident: string;
  readonly acknowledged: number;
  readonly open: number;
  readonly applied: number;
  readonly refused: number;
  readonly acts: number;
  readonly terms: number;
  readonly problems: readonly string[];
}

/** Runs each incident at least once, and goes on until the time is over or something is wrong. */
export async function runBalancedRounds(
  seed: number,
  seconds: number,
  onRound: (report: BalancedReport) => void,
): Promise<boolean> {
  const cluster = await BalancedCluster.start();
  const run = new BalancedRun(cluster, new SeededRandom(seed));
  try {
    await run.open();
    const endMs = performance.now() + seconds * 1000;
    const names = Object.keys(INCIDENTS);
    for (let round = 0; performance.now() < endMs || round < names.length; round++) {
      const report = await run.round(round, names[round % names.length]!);
      onRound(report);
      if (report.problems.length > 0) return false;
    }
    return true;
  } finally {
    await run.close();
    await cluster.dispose();
  }
}

class BalancedRun {
  readonly #cluster: BalancedCluster;
  readonly #random: SeededRandom;
  readonly #written = nothingWritten();
  readonly #acting: Acting = { now: new Set(), problems: [], acts: 0, terms: 0 };
  #candidates: readonly LeaseCandidate[] = [];
  #electing: Promise<unknown> = Promise.resolve();
  #writers: readonly ServersWriter[] = [];
  #informer: Informer | undefined;
  #path = '';
  #namespace = '';

  constructor(cluster: BalancedCluster, random: SeededRandom) {
    this.#cluster = cluster;
    this.#random = random;
  }

  async open(): Promise<void> {
    const cluster = this.#cluster;
    const namespace = await freshNamespace(cluster.client());
    this.#namespace = namespace.name;
    this.#path = namespace.configMaps;
    const collection = { kind: CRASH_KINDS[0]!, path: collectionOf(CRASH_KINDS[0]!, namespace.name) };
    this.#writers = Array.from({ length: WRITERS }, (_, index) => {
      return new ServersWriter([cluster.client(), cluster.client()], `w${index}`, collection, this.#written);
    });
    const config = new k8s.KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    const core = config.makeApiClient(k8s.CoreV1Api);
    const list = () => core.listNamespacedConfigMap({ namespace: namespace.name });
    this.#informer = Informer.of('configmaps', config, this.#path, list);
    await this.#informer.start();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace.name}/leases`;
    this.#candidates = Array.from({ length: CANDIDATES }, (_, index) => {
      return new LeaseCandidate(cluster.client(), leases, `candidate-${index}`, this.#acting);
    });
    this.#electing = Promise.all(this.#candidates.map((candidate) => candidate.run()));
  }

  async round(round: number, incident: string): Promise<BalancedReport> {
    const before = { acknowledged: this.#written.acknowledged, acts: this.#acting.acts };
    let isOver = false;
    const work = this.#writers.map((writer) => writer.run(new SeededRandom(this.#random.below(2 ** 31)), () => isOver));
    const applying = this.#apply(round, () => isOver);
    await wait(CALM_MS);
    await INCIDENTS[incident]!(this.#cluster, Math.floor(round / Object.keys(INCIDENTS).length) + round);
    await wait(CALM_MS);
    isOver = true;
    await Promise.all(work);
    const { applied, refused } = await applying;
    const open = this.#writers.reduce((sum, writer) => sum + writer.open, 0);
    const problems = [
      ...this.#written.problems.splice(0),
      ...this.#acting.problems.splice(0),
      ...(await this.#check(round)),
    ];
    for (const writer of this.#writers) writer.forget();
    const { terms } = this.#acting;
    const acknowledged = this.#written.acknowledged - before.acknowledged;
    return {
      round,
      incident,
      acknowledged,
      open,
      applied,
      refused,
      acts: this.#acting.acts - before.acts,
      terms,
      problems,
    };
  }

  async close(): Promise<void> {
    for (const candidate of this.#candidates) candidate.stop();
    await Promise.all([this.#informer?.stop(), this.#electing]);
  }

  /**
   * kubectl apply and get: what it said to have applied it gets, whatever befalls meanwhile. What it was refused for want of an answer may
   * come later, over what was applied since.
   */
  async #apply(round: number, isOver: () => boolean): Promise<{ readonly applied: number; readonly refused: number }> {
    let applied = 0;
    const refused: string[] = [];
    while (!isOver()) {
      const value = `${round}.${applied + refused.length}`;
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-kubectl' }, data: { value } };
      if ((await this.#kubectl(['apply', '-f', '-'], JSON.stringify(manifest))) === undefined) {
        refused.push(value);
        continue;
      }
      applied++;
      const got = await this.#kubectl(['get', 'configmap', 'by-kubectl', '-o', 'jsonpath={.data.value}']);
      if (got !== undefined && got !== value && !refused.includes(got))
        this.#written.problems.push(`kubectl applied ${value} and got ${got}`);
    }
    return { applied, refused: refused.length };
  }

  async #kubectl(args: readonly string[], input = ''): Promise<string | undefined> {
    const own = ['--kubeconfig', this.#cluster.kubeconfig, '-n', this.#namespace, '--request-timeout', '8s'];
    const running = promisify(execFile)('kubectl', [...own, ...args], { timeout: 30_000 });
    running.child.stdin?.on('error', () => {}).end(input);
    return running.then(
      ({ stdout }) => stdout,
      () => undefined,
    );
  }

  /** A write through each server decides what was asked of it before; then everybody has to see the same. */
  async #check(round: number): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [index, { url }] of this.#cluster.servers.entries()) {
      const client = this.#cluster.client(url);
      const body = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: `fence-${index}` },
        data: { r: `${round}` },
      };
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      const path = `${this.#path}/fence-${index}?fieldManager=fence&force=true`;
      await eventually(
        () => client.request('PATCH', path, { headers, body }).catch(() => undefined),
        (answer) => answer !== undefined && answer.status < 300,
      );
      client.close();
    }
    const client = this.#cluster.client();
    const list = await eventually(
      () => client.get(this.#path).catch(() => undefined),
      (answer) => answer?.status === 200,
    );
    client.close();
    const items = list!.json.items ?? [];
    const stored = new Map(items.map((item) => [item.metadata.name ?? '', item]));
    for (const writer of this.#writers) problems.push(...writer.settle(stored));
    const listed = JSON.stringify(cacheOf(items));
    const deadlineMs = performance.now() + 60_000;
    await eventually(
      async () => JSON.stringify(this.#informer?.cache) === listed,
      (isEqual) => isEqual || performance.now() > deadlineMs,
    );
    const held = JSON.stringify(this.#informer?.cache);
    if (held !== listed) problems.push(`the informer holds ${held}, a list ${listed}`);
    return problems;
  }
}

const wait = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));
