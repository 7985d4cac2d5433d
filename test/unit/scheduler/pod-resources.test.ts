// What pods request and are limited to, as metrics.
import test from 'ava';
import { podResourcesText } from '../../../actors/scheduler/remote/pod-resources.ts';

const NOTHING = { metadata: { namespace: 'a', name: 'idle' }, spec: { containers: [{}] } };
const POD = {
  metadata: { namespace: 'a', name: 'web' },
  spec: {
    nodeName: 'n1',
    schedulerName: 'by "me"',
    priority: 0,
    containers: [
      { resources: { requests: { cpu: '250m', 'example.com/gpu': '1' }, limits: { cpu: '500m' } } },
      { resources: { requests: { cpu: '1', memory: '1Ki', 'hugepages-2Mi': '2Mi' } } },
    ],
    initContainers: [{ resources: { requests: { cpu: '1', memory: '2Ki' } } }],
    overhead: { cpu: '100m', memory: '1Ki' },
  },
};

test('what each pod requests and is limited to is told by resource and unit, page by page', async (t) => {
  const pages = [
    { metadata: { continue: 'next page' }, items: [NOTHING] },
    { metadata: {}, items: [POD] },
  ];
  const asked: string[] = [];
  const server = {
    async list(path: string) {
      asked.push(path);
      return { status: 200, object: pages[asked.length - 1]! };
    },
  };
  const text = await podResourcesText(server, '/pods?x=y', 'orch');
  t.deepEqual(asked, ['/pods?x=y&limit=500', '/pods?x=y&limit=500&continue=next%20page']);
  const whose = 'namespace="a",pod="web",node="n1",scheduler="by \\"me\\"",priority="0"';
  t.deepEqual(
    text.split('\n').filter((line) => !line.startsWith('#')),
    [
      `orch_pod_resource_request{${whose},resource="cpu",unit="cores"} 1.35`,
      `orch_pod_resource_request{${whose},resource="memory",unit="bytes"} 3072`,
      `orch_pod_resource_request{${whose},resource="example.com/gpu",unit=""} 1`,
      `orch_pod_resource_request{${whose},resource="hugepages-2Mi",unit="bytes"} 2097152`,
      `orch_pod_resource_limit{${whose},resource="cpu",unit="cores"} 0.6`,
      '',
    ],
  );
  t.regex(text, /^# HELP orch_pod_resource_request \[ALPHA\] .*\n# TYPE orch_pod_resource_request gauge\n/);
});

test('where no pod requests anything nothing is told, and a list that is refused is an error', async (t) => {
  const answering = (status: number, object: object) => ({ list: async () => ({ status, object: object as never }) });
  t.is(await podResourcesText(answering(200, { items: [NOTHING] }), '/pods?x', 'orch'), '');
  await t.throwsAsync(podResourcesText(answering(403, { message: 'no' }), '/pods?x', 'orch'), { message: /403 no$/ });
});
