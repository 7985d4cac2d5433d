// The older names of what a node's labels say of its machine: as the newer ones say it.
import test from 'ava';
import { type Fixture, objectOf, started } from './fixture.ts';

const NODES = 'core/nodes';

function putNode({ cluster }: Pick<Fixture, 'cluster'>, name: string, labels: Record<string, string>): void {
  cluster.put(NODES, objectOf('Node', '', name, { metadata: { name, labels } }));
}

const written = (f: Fixture) => f.writesOf('patch nodes').map(({ body }) => body?.metadata?.labels);

test('the older labels of a node say what the newer ones say', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, 'old', { 'beta.orch.io/os': 'linux' });
    putNode({ cluster }, 'new', { 'orch.io/os': 'linux', other: 'a' });
  });
  await f.time.advance(100);
  t.deepEqual(written(f), [{ 'beta.orch.io/os': 'linux' }]);
  const { metadata } = f.writesOf('patch nodes')[0]!.body as { metadata: { resourceVersion?: string } };
  t.regex(metadata.resourceVersion ?? '', /^\d+$/, 'one that has changed meanwhile is looked at again');
  t.deepEqual(f.cluster.get(NODES, '', 'new')?.metadata.labels, {
    'orch.io/os': 'linux',
    'beta.orch.io/os': 'linux',
    other: 'a',
  });
  putNode(f, 'changed', { 'orch.io/arch': 'arm64', 'beta.orch.io/arch': 'amd64', 'orch.io/os': 'linux' });
  await f.time.advance(100);
  t.deepEqual(written(f).at(-1), { 'beta.orch.io/arch': 'arm64', 'beta.orch.io/os': 'linux' });
  await f.time.advance(10_000);
  t.is(written(f).length, 2, 'a node that is as it should be is left alone');
});
