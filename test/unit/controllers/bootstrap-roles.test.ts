// What a start makes of the roles that every cluster has, where an operator has changed them.
import test from 'ava';
import { DIALECT, type Fixture, restarted, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const WITH_ROLES = { isServed: () => true };
const CLUSTER_ROLES = DIALECT.spell('rbac.authorization.@group/clusterroles');
const AUTOUPDATE = DIALECT.spell('rbac.authorization.@label/autoupdate');
const OWN_RULE = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] };

function role(f: Fixture, name: string): Stored {
  return f.cluster.get(CLUSTER_ROLES, '', name)!;
}

test('rules that a role lacks are added at a start, each by itself, behind those of an operator', async (t) => {
  const f = await started(WITH_ROLES);
  f.cluster.put(CLUSTER_ROLES, { ...role(f, 'system:basic-user'), rules: [OWN_RULE] });
  await f.time.settle();
  const g = await restarted(f, WITH_ROLES);
  const own = { verbs: ['create'], apiGroups: [DIALECT.spell('authorization.@group')] };
  t.deepEqual((role(g, 'system:basic-user').rules as readonly unknown[]).slice(0, 3), [
    OWN_RULE,
    { ...own, resources: ['selfsubjectaccessreviews'] },
    { ...own, resources: ['selfsubjectrulesreviews'] },
  ]);
});

test('a role that an operator keeps as it is stays so', async (t) => {
  const f = await started(WITH_ROLES);
  const before = role(f, 'system:basic-user');
  f.cluster.put(CLUSTER_ROLES, {
    ...before,
    metadata: { ...before.metadata, annotations: { [AUTOUPDATE]: 'false' } },
    rules: [OWN_RULE],
  });
  await f.time.settle();
  const g = await restarted(f, WITH_ROLES);
  t.deepEqual(role(g, 'system:basic-user').rules, [OWN_RULE]);
});

test('a role that was made a sum of others has its own rules again after a start, and is none', async (t) => {
  const f = await started(WITH_ROLES);
  const before = role(f, 'system:aggregate-to-admin');
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { nobody: 'x' } }] };
  f.cluster.put(CLUSTER_ROLES, { ...before, aggregationRule });
  await f.time.settle();
  t.deepEqual(role(f, 'system:aggregate-to-admin').rules ?? [], [], 'nothing is summed up');
  const g = await restarted(f, WITH_ROLES);
  await g.time.settle();
  const after = role(g, 'system:aggregate-to-admin');
  t.false('aggregationRule' in after);
  t.true((after.rules as readonly unknown[]).length > 1);
  t.true((role(g, 'admin').rules as readonly unknown[]).length > 1);
});

test('a sum of roles is given back the labels and selectors that it lacks, beside those of an operator', async (t) => {
  const f = await started(WITH_ROLES);
  const before = role(f, 'view');
  const selectorsOf = ({ aggregationRule }: Stored) =>
    (aggregationRule as { clusterRoleSelectors: readonly object[] }).clusterRoleSelectors;
  const own = { matchLabels: { mine: 'yes' } };
  const { labels, annotations } = before.metadata;
  t.true(Object.keys(labels ?? {}).length > 0 && Object.keys(annotations ?? {}).length > 0);
  f.cluster.put(CLUSTER_ROLES, {
    ...before,
    metadata: { ...before.metadata, labels: { mine: 'yes' }, annotations: { mine: 'no' } },
    aggregationRule: { clusterRoleSelectors: [own] },
  });
  await f.time.settle();
  const g = await restarted(f, WITH_ROLES);
  await g.time.settle();
  const after = role(g, 'view');
  t.deepEqual(selectorsOf(after), [own, ...selectorsOf(before)]);
  t.deepEqual(after.metadata.labels, { ...labels, mine: 'yes' });
  t.deepEqual(after.metadata.annotations, { ...annotations, mine: 'no' });
  t.is(after.metadata.uid, before.metadata.uid);
  t.true((after.rules as readonly unknown[]).length > 1);
});

const BINDINGS = DIALECT.spell('rbac.authorization.@group/clusterrolebindings');
const KNOWN = {
  kind: 'Group',
  apiGroup: DIALECT.spell('rbac.authorization.@group'),
  name: 'system:authenticated',
};

for (const [autoupdate, unknownToo] of [
  ['false', false],
  ['true', true],
] as const) {
  test(`what anybody may see is bound to whom discovery is bound to, where that alone is there and its autoupdate is ${autoupdate}`, async (t) => {
    const f = await started(WITH_ROLES);
    const discovery = f.cluster.get(BINDINGS, '', 'system:discovery')!;
    const annotations = { [AUTOUPDATE]: autoupdate, mine: 'yes' };
    const labels = { ...discovery.metadata.labels, mine: 'yes' };
    const metadata = { ...discovery.metadata, labels, annotations };
    f.cluster.put(BINDINGS, { ...discovery, metadata, subjects: [KNOWN] });
    f.cluster.delete(BINDINGS, '', 'system:public-info-viewer');
    await f.time.settle();
    const g = await restarted(f, WITH_ROLES);
    const viewer = g.cluster.get(BINDINGS, '', 'system:public-info-viewer')!;
    t.deepEqual(viewer.metadata.annotations, annotations);
    t.deepEqual(viewer.metadata.labels, labels);
    t.deepEqual(viewer.subjects, [KNOWN, ...(unknownToo ? [{ ...KNOWN, name: 'system:unauthenticated' }] : [])]);
    t.like(viewer.roleRef, { kind: 'ClusterRole', name: 'system:public-info-viewer' });
  });
}
