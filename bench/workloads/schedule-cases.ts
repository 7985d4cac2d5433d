// The scheduling cases of bench/scheduling/, each on a server of its own and beside creates of pods that nobody schedules, which are
// measured once in the same run.
import { DIALECTS, type Dialect } from '../../config/dialect.ts';
import { type Bench, currentVersion, type Target } from '../bench.ts';
import { eventDetails, type Figures, type FloorFigures, figuresOf, floorFigures } from '../figures/report.ts';
import type { LoadResult } from '../load-protocol.ts';
import { createRequest, nodeLike, PATHS, pod } from '../objects.ts';
import { repeat } from '../populate.ts';
import { type Churn, objectRequest, podRequest, readCases, type SchedulingCase } from '../scheduling-case.ts';

const BYTES = 1200;
const DRAIN_SECONDS = 120;
const POLL_MS = 200;
const WAIT_MS = 120_000;
const CPU_OF_A_POD = 0.1;
const MEMORY_OF_A_POD = 64;
const UNBOUND = `${PATHS.pods}?limit=1&fieldSelector=spec.nodeName%3D,status.phase%3DPending&labelSelector=waits%3Dyes`;

/** Runs the cases that `--case` names. */
export async function runCases(bench: Bench, names: string, report: (figures: Figures) => void): Promise<void> {
  const cases = readCases(names).map((each) => atSize(each, bench));
  const create = bench.wantsFloor ? await measureCreate(bench, cases[0]!) : undefined;
  let plain: number | null = null;
  for (const each of cases) {
    const result = await bench.withTarget((target) => runCase(bench, target, each));
    const parameters = { nodes: each.nodes.count, pods: each.measured.count, connections: bench.connections };
    const details = eventDetails(result);
    const figures = figuresOf({ workload: each.name, parameters, unit: 'pods', result, floor: create, details });
    const { cpuSecondsPer1000 } = figures;
    if (each.name === 'plain') plain = cpuSecondsPer1000;
    const timesPlain = plain === null || cpuSecondsPer1000 === null ? {} : { cpuToPlain: cpuSecondsPer1000 / plain };
    report({ ...figures, details: { ...details, ...timesPlain } });
  }
}

function atSize(each: SchedulingCase, { options: { nodes, pods } }: Bench): SchedulingCase {
  const { count, ...rest } = each.nodes;
  return {
    ...each,
    nodes: { ...rest, count: nodes ?? count },
    measured: { ...each.measured, count: pods ?? each.measured.count },
  };
}

/** What a pod costs that is only created: by a server as warm as the case finds it, and as many. */
async function measureCreate(bench: Bench, { before, measured }: SchedulingCase): Promise<FloorFigures> {
  const request = (name: string) => createRequest(PATHS.pods, pod(name, bytesOf(bench), { scheduled: false }));
  const result = await bench.withTarget(async (target) => {
    const { endpoint, pid, prefix } = target;
    for (const [at, { count }] of before.entries())
      await repeat(bench, target, request(`${prefix}-b${at}-{seq}`), count);
    return bench.load({
      type: 'requests',
      endpoint,
      connections: bench.connections,
      request: request(`${prefix}-{seq}`),
      objects: 1,
      objectChoice: 'shared',
      capturesVersion: false,
      bounds: bench.wholeCount(measured.count),
      ...(pid === undefined ? {} : { serverPid: pid }),
    });
  });
  return floorFigures('create pod', result);
}

async function runCase(bench: Bench, target: Target, each: SchedulingCase): Promise<LoadResult> {
  const { client, endpoint, pid, prefix } = target;
  const dialect = await dialectOf(target);
  const { measured } = each;
  try {
    await makeNodes(bench, target, each, dialect);
    for (const group of each.objects) {
      const count = group.count === 'measured' ? measured.count : group.count;
      await repeat(bench, target, objectRequest(group, dialect), count);
    }
    for (const [at, group] of each.before.entries()) {
      const waits = group.waits === false ? {} : { waits: 'yes' };
      const counted = { ...group, labels: { ...group.labels, ...waits } };
      const name = `${prefix}-before${at}-{seq}`;
      await repeat(bench, target, podRequest(counted, name, bytesOf(bench), dialect, false), group.count);
    }
    await allBound(target);
    const version = await currentVersion(client, PATHS.pods);
    const churning = each.churn.map((churn) => new Churning(target, churn, dialect));
    try {
      return await bench.load({
        type: 'watch',
        endpoint,
        // A pod enters this selection when it is bound.
        watchPath: `${PATHS.pods}?watch=true&fieldSelector=spec.nodeName%21%3D&resourceVersion=${version}`,
        watchers: 1,
        sampleEvery: 1,
        firstEventOnly: true,
        write: podRequest(measured, `${prefix}-{seq}`, bytesOf(bench), dialect, true),
        writers: bench.connections,
        windowWrites: measured.count,
        drainSeconds: DRAIN_SECONDS,
        bounds: bench.wholeCount(measured.count),
        ...(bench.options.rate === undefined ? {} : { writesPerSecond: bench.options.rate }),
        ...(pid === undefined ? {} : { serverPid: pid }),
      });
    } finally {
      await Promise.all(churning.map((churn) => churn.end()));
    }
  } finally {
    if (!bench.isOwnServer) await clearObjects(target, each, dialect);
  }
}

async function makeNodes(bench: Bench, target: Target, each: SchedulingCase, dialect: Dialect): Promise<void> {
  const { nodes, before, measured } = each;
  const pods = before.reduce((sum, { count }) => sum + count, measured.count);
  const share = Math.max(110, Math.ceil((2 * pods) / nodes.count));
  const amounts = nodes.amounts ?? {
    cpu: String(Math.ceil(share * CPU_OF_A_POD)),
    memory: `${share * MEMORY_OF_A_POD}Mi`,
    pods: String(share),
  };
  for (let zone = 1; zone <= nodes.zones; zone++) {
    const count = Math.floor(nodes.count / nodes.zones) + (zone <= nodes.count % nodes.zones ? 1 : 0);
    const name = `${target.prefix}-zone${zone}-{seq}`;
    const labels = { '@label/hostname': name, 'topology.@label/zone': `zone${zone}` };
    const body = dialect.spell(nodeLike(name, labels, amounts));
    if (count > 0) await repeat(bench, target, createRequest(PATHS.nodes, body), count);
    // A new node may be tainted until its agent has reported, and there is none: so the taints go.
    const untaint = {
      method: 'PATCH',
      path: `${PATHS.nodes}/${name}`,
      contentType: 'application/merge-patch+json',
      body: '{"spec":{"taints":null}}',
    } as const;
    if (count > 0) await repeat(bench, target, untaint, count);
  }
}

/** Resolves when every pod has a node that is waited for. */
async function allBound({ client }: Target): Promise<void> {
  const giveUpMs = Date.now() + WAIT_MS;
  for (;;) {
    const { items } = JSON.parse(await client.expect('GET', UNBOUND)) as { readonly items: readonly unknown[] };
    if (items.length === 0) return;
    if (Date.now() > giveUpMs) throw new Error('the pods that come before have not all been given nodes');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Makes one of its objects and removes it, again and again, until it is ended. */
class Churning {
  readonly #target: Target;
  readonly #churn: Churn;
  readonly #dialect: Dialect;
  readonly #running: Promise<void>;
  #isEnded = false;

  constructor(target: Target, churn: Churn, dialect: Dialect) {
    this.#target = target;
    this.#churn = churn;
    this.#dialect = dialect;
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { client } = this.#target;
    const { path, body = '' } = objectRequest(this.#churn, this.#dialect);
    for (let count = 0; !this.#isEnded; count++) {
      const made = JSON.parse(await client.expect('POST', path, body.replaceAll('{seq}', String(count)))) as {
        readonly metadata: { readonly name: string };
      };
      await new Promise((resolve) => setTimeout(resolve, this.#churn.everyMs));
      await client.expect('DELETE', `${path}/${made.metadata.name}`);
    }
  }
}

async function clearObjects({ client }: Target, { objects }: SchedulingCase, dialect: Dialect): Promise<void> {
  for (const { path } of objects) await client.expect('DELETE', `${dialect.spell(path)}?labelSelector=app%3Dbench`);
}

async function dialectOf({ client }: Target): Promise<Dialect> {
  const groups = await client.expect('GET', '/apis');
  return groups.includes(`.${DIALECTS.kubernetes.groupDomain}"`) ? DIALECTS.kubernetes : DIALECTS.orch;
}

function bytesOf({ options }: Bench): number {
  return options.bytes ?? BYTES;
}
