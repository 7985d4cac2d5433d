// Goal: the scheduler inside and the one of a process of its own ask extenders over HTTP as their configuration says, and go on
// deciding about other pods while an extender thinks. Method: real servers, real schedulers, real extenders.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type ExtenderService, extenderService, keeping } from '../server/scheduler-extender.ts';
import { spawnScheduler } from '../server/scheduler-process.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { accountIn, eventually, NODES_STAY, POD_SPEC } from './objects.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NODE_STATUS = { capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } };

interface Program {
  /** The server, with whichever scheduler it is that has this file. */
  start(t: ExecutionContext, path: string): Promise<ServerProcess>;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  'the scheduler inside': { start: (t, path) => startServer(t, { args: [...NODES_STAY, '--config', path] }) },
  'orch scheduler': {
    async start(t, path) {
      const server = await startServer(t, { args: [...NODES_STAY, '--scheduler-name', 'off'] });
      const clientConnection = { kubeconfig: server.kubeconfig };
      // With a file the ports of plain HTTP are the file's, and by default the same for every scheduler.
      const closed = { healthzBindAddress: '127.0.0.1:0', metricsBindAddress: '127.0.0.1:0' };
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), clientConnection, ...closed }));
      const scheduler = await spawnScheduler(t, ['--config', path]);
      await eventually(
        async () => {
          if (/^orch: /m.test(scheduler.output)) throw new Error(scheduler.output);
          return scheduler.leads;
        },
        (is) => is,
      );
      return server;
    },
  },
};

function configured(t: ExecutionContext, ...extenders: readonly object[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-extenders-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'scheduler.json');
  const file = {
    apiVersion: 'kubescheduler.config.k8s.io/v1beta1',
    kind: 'KubeSchedulerConfiguration',
    extenders,
  };
  writeFileSync(path, JSON.stringify(file));
  return path;
}

async function make({ client }: ServerProcess, path: string, body: object): Promise<void> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
}

async function makeNode(server: ServerProcess, name: string): Promise<void> {
  await make(server, '/api/v1/nodes', { metadata: { name }, status: NODE_STATUS });
}

async function makePod(server: ServerProcess, name: string, requests: object, spec: object = {}): Promise<void> {
  await accountIn(server.client);
  const resources = { requests, limits: requests };
  await make(server, PODS, {
    metadata: { name },
    spec: { ...POD_SPEC, containers: [{ ...POD_SPEC.containers[0], resources }], ...spec },
  });
}

const placed = ({ client }: ServerProcess, name: string) =>
  eventually(
    async () => ((await client.get(`${PODS}/${name}`)).json.spec as { nodeName?: string }).nodeName,
    (node) => node !== undefined,
  );

/** Only there. */
const onNode = (name: string): object => {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [name] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchFields }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
};

const FPGA = { 'example.com/fpga': '1' };
const MANAGED = [{ name: 'example.com/fpga', ignoredByScheduler: true }];

for (const [title, { start }] of Object.entries(PROGRAMS)) {
  test(`${title} asks an extender to filter, to score and to bind the pods that it looks after`, async (t) => {
    const server: { now?: ServerProcess } = {};
    const service: ExtenderService = await extenderService(t, {
      filter: keeping('n1', 'n2'),
      prioritize: () => [{ Host: 'n2', Score: 10 }],
      async bind({ PodName, PodNamespace, PodUID, Node }) {
        const { status } = await server.now!.client.request('POST', `${PODS}/${PodName}/binding`, {
          body: {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name: PodName, namespace: PodNamespace, uid: PodUID },
            target: { kind: 'Node', name: Node },
          },
        });
        return status === 201 ? {} : { Error: `the server answered ${status}` };
      },
    });
    const path = configured(t, {
      urlPrefix: service.url,
      filterVerb: 'filter',
      prioritizeVerb: 'prioritize',
      bindVerb: 'bind',
      weight: 100,
      managedResources: MANAGED,
    });
    server.now = await start(t, path);
    for (const name of ['n1', 'n2', 'n3']) await makeNode(server.now, name);
    // The scheduler has heard of a node that it has placed a pod on.
    for (const name of ['n1', 'n2', 'n3']) {
      await makePod(server.now, `plain-${name}`, { cpu: '1' }, onNode(name));
      await placed(server.now, `plain-${name}`);
    }
    t.deepEqual(service.asked, []);
    await makePod(server.now, 'wants', FPGA);
    t.is(await placed(server.now, 'wants'), 'n2');
    t.deepEqual(
      service.asked.map(({ verb }) => verb),
      ['filter', 'prioritize', 'bind'],
    );
    const [{ question } = { question: undefined }] = service.asked;
    t.is(question?.Pod.metadata.name, 'wants');
    t.deepEqual(question?.Nodes?.items.map(({ metadata }) => metadata.name).sort(), ['n1', 'n2', 'n3']);
  });

  test(`${title} goes on with other pods while an extender thinks, and says why a pod waits when it fails`, async (t) => {
    const answers: (() => void)[] = [];
    const service = await extenderService(t, {
      filter: (_, response) => {
        answers.push(() => void response.writeHead(500).end());
        return undefined;
      },
    });
    const path = configured(t, {
      urlPrefix: service.url,
      filterVerb: 'filter',
      httpTimeout: '60s',
      managedResources: MANAGED,
    });
    const server = await start(t, path);
    await makeNode(server, 'n1');
    await makePod(server, 'wants', FPGA);
    await eventually(
      async () => answers.length,
      (count) => count === 1,
    );
    await makePod(server, 'plain', { cpu: '1' });
    t.is(await placed(server, 'plain'), 'n1');
    answers[0]!();
    const { status } = await eventually(
      async () => (await server.client.get(`${PODS}/wants`)).json,
      (pod) => JSON.stringify(pod.status).includes('"Unschedulable"'),
    );
    t.regex(JSON.stringify(status), /failed filter with extender at URL http:\/\/127[^"]*\/extend\/filter, code 500/);
  });

  test(`${title} asks an extender whom to evict, and passes over a node without victims of one that may be ignored`, async (t) => {
    const service = await extenderService(t, {
      preempt: ({ NodeNameToMetaVictims }) => ({
        NodeNameToMetaVictims: { n1: { Pods: [] }, n2: NodeNameToMetaVictims!.n2 },
      }),
    });
    const extender = { urlPrefix: service.url, preemptVerb: 'preempt', nodeCacheCapable: true, ignorable: true };
    const server = await start(t, configured(t, extender));
    for (const [name, value] of Object.entries({ high: 1000, low: 1 })) {
      await make(server, '/apis/scheduling.orch.io/v1/priorityclasses', {
        apiVersion: 'scheduling.orch.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value,
      });
    }
    for (const name of ['n1', 'n2']) await makeNode(server, name);
    // What the scheduler has placed itself it knows of, whichever of its watches is behind. Left to itself it would clear n1.
    for (const [node, more] of Object.entries({ n1: {}, n2: { priorityClassName: 'low' } })) {
      await makePod(server, `on-${node}`, { cpu: '3' }, { ...onNode(node), ...more });
      await placed(server, `on-${node}`);
    }
    await makePod(server, 'important', { cpu: '3' }, { priorityClassName: 'high' });
    const nominated = await eventually(
      async () => ((await server.client.get(`${PODS}/important`)).json.status as { nominatedNodeName?: string }) ?? {},
      ({ nominatedNodeName }) => nominatedNodeName !== undefined,
    );
    t.is(nominated.nominatedNodeName, 'n2');
    t.deepEqual(Object.keys(service.asked[0]!.question.NodeNameToMetaVictims!).sort(), ['n1', 'n2']);
  });
}
