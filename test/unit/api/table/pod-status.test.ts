// READY, STATUS and RESTARTS of pods in every state their containers can be in.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { cellsFor, rowFor } from './fixture.ts';

interface PodCase {
  readonly title: string;
  readonly containers?: number;
  readonly initContainers?: number;
  readonly status: JsonObject;
  readonly deleted?: boolean;
  readonly shows: readonly [ready: string, status: string, restarts: number];
}

const running = (restartCount = 0, ready = true): JsonObject => ({
  ready,
  restartCount,
  state: { running: { startedAt: '2021-06-01T11:00:00Z' } },
});
const waiting = (reason?: string, restartCount = 0): JsonObject => ({
  ready: false,
  restartCount,
  state: { waiting: reason === undefined ? {} : { reason } },
});
const terminated = (members: JsonObject, restartCount = 0): JsonObject => ({
  ready: false,
  restartCount,
  state: { terminated: members },
});

const CASES: readonly PodCase[] = [
  { title: 'without a status', containers: 2, status: {}, shows: ['0/2', '', 0] },
  { title: 'waiting for a node', status: { phase: 'Pending' }, shows: ['0/1', 'Pending', 0] },
  {
    title: 'with a reason of its own',
    status: { phase: 'Failed', reason: 'Evicted' },
    shows: ['0/1', 'Evicted', 0],
  },
  {
    title: 'with all containers running',
    containers: 2,
    status: { phase: 'Running', containerStatuses: [running(1), running(3)] },
    shows: ['2/2', 'Running', 4],
  },
  {
    title: 'with a container that runs but is not ready',
    containers: 2,
    status: { phase: 'Running', containerStatuses: [running(0, false), running()] },
    shows: ['1/2', 'Running', 0],
  },
  {
    title: 'with a container that says ready and does not run',
    status: { phase: 'Running', containerStatuses: [{ ready: true, restartCount: 0, state: {} }] },
    shows: ['0/1', 'Running', 0],
  },
  {
    title: 'with a container in a crash loop',
    containers: 2,
    status: { phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff', 7), running()] },
    shows: ['1/2', 'CrashLoopBackOff', 7],
  },
  {
    title: 'with several containers that wait: the first one speaks',
    containers: 2,
    status: { phase: 'Pending', containerStatuses: [waiting('ErrImagePull'), waiting('ContainerCreating')] },
    shows: ['0/2', 'ErrImagePull', 0],
  },
  {
    title: 'with a container that waits for no given reason',
    status: { phase: 'Pending', containerStatuses: [waiting()] },
    shows: ['0/1', 'Pending', 0],
  },
  {
    title: 'that is done',
    status: { phase: 'Succeeded', containerStatuses: [terminated({ exitCode: 0, reason: 'Completed' })] },
    shows: ['0/1', 'Completed', 0],
  },
  {
    title: 'with a container that ended without a reason',
    status: { phase: 'Failed', containerStatuses: [terminated({ exitCode: 137 })] },
    shows: ['0/1', 'ExitCode:137', 0],
  },
  {
    title: 'with a container that a signal ended',
    status: { phase: 'Failed', containerStatuses: [terminated({ exitCode: 137, signal: 9 })] },
    shows: ['0/1', 'Signal:9', 0],
  },
  {
    title: 'with one container done and one running, ready',
    containers: 2,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [terminated({ exitCode: 0, reason: 'Completed' }), running()],
    },
    shows: ['1/2', 'Running', 0],
  },
  {
    title: 'with one container done and one running, not ready as a whole',
    containers: 2,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [terminated({ exitCode: 0, reason: 'Completed' }), running()],
    },
    shows: ['1/2', 'NotReady', 0],
  },
  {
    title: 'initializing',
    initContainers: 2,
    status: { phase: 'Pending', initContainerStatuses: [terminated({ exitCode: 0 }, 1), running(2)] },
    shows: ['0/1', 'Init:1/2', 3],
  },
  {
    title: 'initializing: restarts of what comes later do not count',
    initContainers: 3,
    status: {
      phase: 'Pending',
      initContainerStatuses: [running(2), waiting('PodInitializing', 5), waiting('PodInitializing', 5)],
      containerStatuses: [waiting('PodInitializing', 9)],
    },
    shows: ['0/1', 'Init:0/3', 2],
  },
  {
    title: 'with an init container that waits for its turn',
    initContainers: 1,
    status: { phase: 'Pending', initContainerStatuses: [waiting('PodInitializing')] },
    shows: ['0/1', 'Init:0/1', 0],
  },
  {
    title: 'with an init container in a crash loop',
    initContainers: 1,
    status: { phase: 'Pending', initContainerStatuses: [waiting('CrashLoopBackOff', 4)] },
    shows: ['0/1', 'Init:CrashLoopBackOff', 4],
  },
  {
    title: 'with an init container that failed for a reason',
    initContainers: 1,
    status: { phase: 'Pending', initContainerStatuses: [terminated({ exitCode: 1, reason: 'Error' })] },
    shows: ['0/1', 'Init:Error', 0],
  },
  {
    title: 'with an init container that failed without a reason',
    initContainers: 1,
    status: { phase: 'Pending', initContainerStatuses: [terminated({ exitCode: 2 })] },
    shows: ['0/1', 'Init:ExitCode:2', 0],
  },
  {
    title: 'with an init container that a signal ended',
    initContainers: 1,
    status: { phase: 'Pending', initContainerStatuses: [terminated({ exitCode: 2, signal: 15 })] },
    shows: ['0/1', 'Init:Signal:15', 0],
  },
  {
    title: 'that is initialized: restarts of init containers no longer count',
    initContainers: 1,
    status: {
      phase: 'Running',
      initContainerStatuses: [terminated({ exitCode: 0, reason: 'Completed' }, 5)],
      containerStatuses: [running(1)],
    },
    shows: ['1/1', 'Running', 1],
  },
  {
    title: 'being deleted',
    deleted: true,
    status: { phase: 'Running', containerStatuses: [running(1)] },
    shows: ['1/1', 'Terminating', 1],
  },
  {
    title: 'being deleted from a node that is lost',
    deleted: true,
    status: { phase: 'Running', reason: 'NodeLost', containerStatuses: [running()] },
    shows: ['1/1', 'Unknown', 0],
  },
];

function podOf({ containers = 1, initContainers = 0, status, deleted = false }: PodCase): JsonObject {
  return {
    metadata: { name: 'web', ...(deleted ? { deletionTimestamp: '2021-06-01T12:00:00Z' } : {}) },
    spec: {
      containers: Array.from({ length: containers }, (_, index) => ({ name: `c${index}` })),
      initContainers: Array.from({ length: initContainers }, (_, index) => ({ name: `i${index}` })),
    },
    status,
  };
}

for (const podCase of CASES) {
  test(`a pod ${podCase.title} shows ${podCase.shows.join(' ')}`, (t) => {
    const { Ready, Status, Restarts } = cellsFor('v1 Pod', podOf(podCase));
    t.deepEqual([Ready, Status, Restarts], [...podCase.shows]);
  });
}

test('the row of a pod that is over says so', (t) => {
  const conditionsIn = (phase: string): unknown =>
    rowFor('v1 Pod', { metadata: {}, status: { phase } }).conditions?.map(({ type, status, reason }) => ({
      type,
      status,
      reason,
    }));
  t.deepEqual(conditionsIn('Succeeded'), [{ type: 'Completed', status: 'True', reason: 'Succeeded' }]);
  t.deepEqual(conditionsIn('Failed'), [{ type: 'Completed', status: 'True', reason: 'Failed' }]);
  t.is(conditionsIn('Running'), undefined);
});

const WIDE: readonly { title: string; pod: JsonObject; shows: readonly string[] }[] = [
  { title: 'nothing but a name', pod: { metadata: {} }, shows: ['<none>', '<none>', '<none>', '<none>'] },
  {
    title: 'a node and addresses',
    pod: { spec: { nodeName: 'n1' }, status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } },
    shows: ['10.0.0.1', 'n1', '<none>', '<none>'],
  },
  {
    title: 'the single address of older agents',
    pod: { spec: { nodeName: 'n1' }, status: { podIP: '10.0.0.1' } },
    shows: ['10.0.0.1', 'n1', '<none>', '<none>'],
  },
  {
    title: 'a nomination',
    pod: { status: { nominatedNodeName: 'n2' } },
    shows: ['<none>', '<none>', 'n2', '<none>'],
  },
  {
    title: 'readiness gates',
    pod: {
      spec: { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }, { conditionType: 'c' }] },
      status: {
        conditions: [
          { type: 'a', status: 'True' },
          { type: 'b', status: 'False' },
        ],
      },
    },
    shows: ['<none>', '<none>', '<none>', '1/3'],
  },
];

for (const { title, pod, shows } of WIDE) {
  test(`a pod with ${title} shows ${shows.join(' ')} when asked for more`, (t) => {
    const cells = cellsFor('v1 Pod', pod);
    t.deepEqual([cells.IP, cells.Node, cells['Nominated Node'], cells['Readiness Gates']], [...shows]);
  });
}
