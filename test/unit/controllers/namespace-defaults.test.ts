// The default service account and the root certificate that every active namespace has.
import test from 'ava';
import { DIALECT, type Fixture, objectOf, started } from './fixture.ts';

const CONFIG_MAP = DIALECT.spell('@short-root-ca.crt');

function caOf(f: Fixture, namespace: string): Record<string, string> | undefined {
  return f.cluster.get('core/configmaps', namespace, CONFIG_MAP)?.data;
}

test('a new namespace is given its service account and the certificate', async (t) => {
  const f = await started();
  f.cluster.putNamespace('shop');
  await f.time.settle();
  t.not(f.cluster.get('core/serviceaccounts', 'shop', 'default'), undefined);
  t.deepEqual(caOf(f, 'shop'), { 'ca.crt': 'the authority' });
});

test('account and certificate are each given by a controller of its own, as webhooks see it', async (t) => {
  const f = await started({ caPem: 'PEM' }, (cluster) => cluster.putNamespace('shop'));
  const users = f.cluster.writes
    .filter(({ request }) => request.target.namespace === 'shop')
    .map(({ request }) => `${request.target.resource} ${request.user.name.split(':').at(-1)}`);
  t.deepEqual(users.sort(), ['configmaps root-ca-cert-publisher', 'serviceaccounts service-account-controller']);
});

test('every namespace present at start is given both', async (t) => {
  const f = await started({}, (cluster) => {
    for (let i = 0; i < 300; i += 1) cluster.putNamespace(`n${i}`);
  });
  t.is(f.cluster.names('core/serviceaccounts').length, 304);
  t.is(f.cluster.names('core/configmaps').filter((name) => name.endsWith(CONFIG_MAP)).length, 304);
});

test('a deleted service account is made again', async (t) => {
  const f = await started();
  f.cluster.remove('core/serviceaccounts', 'default', 'default');
  await f.time.settle();
  t.not(f.cluster.get('core/serviceaccounts', 'default', 'default'), undefined);
});

test('a deleted config map is made again', async (t) => {
  const f = await started();
  f.cluster.remove('core/configmaps', 'default', CONFIG_MAP);
  await f.time.settle();
  t.deepEqual(caOf(f, 'default'), { 'ca.crt': 'the authority' });
});

const WRONG: readonly [title: string, data: Record<string, string> | undefined][] = [
  ['another certificate', { 'ca.crt': 'forged' }],
  ['one key too many', { 'ca.crt': 'the authority', more: 'x' }],
  ['no data', undefined],
];

for (const [title, data] of WRONG) {
  test(`a config map with ${title} is set right`, async (t) => {
    const f = await started();
    const { data: _, ...stored } = f.cluster.get('core/configmaps', 'default', CONFIG_MAP)!;
    f.cluster.put('core/configmaps', { ...stored, ...(data === undefined ? {} : { data }) });
    await f.time.settle();
    t.deepEqual(caOf(f, 'default'), { 'ca.crt': 'the authority' });
  });
}

test('who keeps publishing another certificate is given way to more and more', async (t) => {
  const f = await started();
  const setOtherwise = (): void => {
    const map = f.cluster.get('core/configmaps', 'default', CONFIG_MAP)!;
    if (map.data!['ca.crt'] === 'theirs') return;
    f.cluster.put('core/configmaps', { ...map, data: { 'ca.crt': 'theirs' } });
  };
  const before = f.cluster.writes.length;
  for (let seconds = 0; seconds < 300; seconds += 5) {
    setOtherwise();
    await f.time.advance(5_000);
  }
  const writes = f.cluster.writes.length - before;
  t.true(writes >= 6 && writes <= 9, `${writes}`);
  t.deepEqual(caOf(f, 'default'), { 'ca.crt': 'theirs' });
  await f.time.advance(300_000);
  t.deepEqual(caOf(f, 'default'), { 'ca.crt': 'the authority' });
  await f.time.advance(601_000);
  setOtherwise();
  await f.time.settle();
  t.deepEqual(caOf(f, 'default'), { 'ca.crt': 'the authority' });
});

test('a certificate that changed between two starts is published everywhere', async (t) => {
  const f = await started({}, (cluster) => {
    cluster.putNamespace('shop');
    cluster.put('core/configmaps', objectOf('ConfigMap', 'shop', CONFIG_MAP, { data: { 'ca.crt': 'the old one' } }));
  });
  t.deepEqual(caOf(f, 'shop'), { 'ca.crt': 'the authority' });
});

test('without a certificate no config map is made or touched', async (t) => {
  const f = await started({ caPem: '' }, (cluster) => {
    cluster.putNamespace('shop');
    cluster.put('core/configmaps', objectOf('ConfigMap', 'shop', CONFIG_MAP, { data: { 'ca.crt': 'mine' } }));
  });
  t.deepEqual(caOf(f, 'shop'), { 'ca.crt': 'mine' });
  t.is(caOf(f, 'default'), undefined);
});

test('a namespace being deleted is given nothing', async (t) => {
  const f = await started({}, async (cluster) => {
    cluster.putNamespace('shop', [DIALECT.brand, 'example.com/other']);
    await cluster.settle();
    cluster.delete('core/namespaces', '', 'shop');
  });
  await f.time.advance(60_000);
  t.is(f.cluster.get('core/serviceaccounts', 'shop', 'default'), undefined);
});

test('config maps of other names are not parsed', async (t) => {
  const f = await started();
  const before = f.cluster.parsed.get('core/configmaps') ?? 0;
  f.cluster.put('core/configmaps', objectOf('ConfigMap', 'default', 'settings', { data: { a: 'b' } }));
  await f.time.settle();
  t.is(f.cluster.parsed.get('core/configmaps') ?? 0, before);
});

test('what is there already is not written again', async (t) => {
  const f = await started();
  const writes = f.cluster.writes.length;
  f.cluster.put('core/namespaces', f.cluster.get('core/namespaces', '', 'default')!);
  await f.time.settle();
  t.is(f.cluster.writes.length, writes);
});
