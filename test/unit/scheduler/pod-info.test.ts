import test from 'ava';
import { readPod, sameDemands } from '../../../actors/scheduler/pods/pod-info.ts';
import { pod, podInfo } from './objects.ts';

const MiB = 1024 * 1024;
const container = (requests?: object) => ({ name: 'c', resources: requests === undefined ? {} : { requests } });

test('a pod requests the sum of its containers, or its largest init container, plus its overhead', (t) => {
  const info = podInfo('a', {
    spec: {
      containers: [container({ cpu: '100m', memory: '10Mi' }), container({ cpu: '200m', 'example.com/gpu': '1' })],
      initContainers: [container({ cpu: '250m', memory: '40Mi' }), container({ cpu: '50m', memory: '30Mi' })],
      overhead: { cpu: '10m', memory: '1Mi' },
    },
  });
  t.is(info.request.milliCpu, 310);
  t.is(info.request.memoryBytes, 41 * MiB);
  t.is(info.request.scalars.get('example.com/gpu'), 1);
});

test('for scoring, a container that requests nothing counts as 100m and 200Mi, and an explicit zero as zero', (t) => {
  const unset = podInfo('a', { spec: { containers: [container(), container({ cpu: '1' })] } });
  t.is(unset.scoredMilliCpu, 1100);
  t.is(unset.scoredMemoryBytes, 400 * MiB);
  t.is(unset.request.milliCpu, 1000);
  const zero = podInfo('b', { requests: { cpu: '0', memory: '0' } });
  t.is(zero.scoredMilliCpu, 0);
  t.is(zero.scoredMemoryBytes, 0);
});

test('host ports default to TCP on every address, and ports without a host port are left out', (t) => {
  const ports = [{ containerPort: 80 }, { hostPort: 81 }, { hostPort: 82, hostIP: '10.0.0.1', protocol: 'UDP' }];
  t.deepEqual(podInfo('a', { spec: { containers: [{ ports }] } }).hostPorts, [
    { ip: '0.0.0.0', protocol: 'TCP', port: 81 },
    { ip: '10.0.0.1', protocol: 'UDP', port: 82 },
  ]);
});

test('a bound pod keeps what it occupies and forgets what led there', (t) => {
  const parts = { requests: { cpu: '1' }, spec: { nodeName: 'n', nodeSelector: { a: 'b' } } };
  const info = readPod(pod('a', parts));
  t.is(info.nodeName, 'n');
  t.is(info.constraints.nodeSelector.size, 0);
});

const ODD: readonly unknown[] = [
  {},
  { metadata: null, spec: 7, status: [] },
  { spec: { containers: 'x', tolerations: [null, 3], affinity: [], nodeSelector: { a: 1 } } },
  { spec: { containers: [null, { resources: { requests: { cpu: {} } }, ports: [{ hostPort: 'x' }, null] }] } },
  {
    spec: {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [null] } } },
    },
  },
];

for (const object of ODD) {
  test(`an object of an odd shape is read as a pod that asks for nothing: ${JSON.stringify(object)}`, (t) => {
    const info = readPod(object as Record<string, unknown>);
    t.is(info.request.milliCpu, 0);
    t.is(info.hostPorts.length, 0);
    t.is(info.nodeName, '');
  });
}

test('demands change with tolerations and labels and not with conditions or versions', (t) => {
  const before = podInfo('a', { requests: { cpu: '1' } });
  t.true(sameDemands(before, podInfo('a', { requests: { cpu: '1' }, metadata: { resourceVersion: '9' } })));
  t.false(sameDemands(before, podInfo('a', { requests: { cpu: '1' }, metadata: { labels: { x: 'y' } } })));
  t.true(
    sameDemands(before, podInfo('a', { requests: { cpu: '1' }, status: { conditions: [{ type: 'PodScheduled' }] } })),
  );
  t.false(
    sameDemands(
      before,
      podInfo('a', { requests: { cpu: '1' }, spec: { containers: [], tolerations: [{ key: 'x' }] } }),
    ),
  );
  t.false(sameDemands(before, podInfo('a', { requests: { cpu: '2' } })));
});
