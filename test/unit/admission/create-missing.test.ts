// Who may change objects and not create them creates none by changing what is not there.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';

const GROUP = 'rbac.authorization.orch.io';
const RULES = `/apis/${GROUP}/v1`;
const LEASE = '/apis/coordination.orch.io/v1/namespaces/default/leases/it';
const CONFIG_MAP = '/api/v1/namespaces/default/configmaps/it';

/** A world of access rules in which `tester` has the verbs on leases and config maps, and nothing else. */
async function worldWhere(verbs: readonly string[], names: readonly string[] = []): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start({ authorizationModes: 'RBAC' });
  const resources = { apiGroups: ['', 'coordination.orch.io'], resources: ['leases', 'configmaps'] };
  const rule = { ...resources, verbs, ...(names.length === 0 ? {} : { resourceNames: names }) };
  await world.created(`${RULES}/clusterroles`, { metadata: { name: 'it' }, rules: [rule] });
  await world.created(`${RULES}/clusterrolebindings`, {
    metadata: { name: 'it' },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'it' },
    subjects: [{ apiGroup: GROUP, kind: 'User', name: 'tester' }],
  });
  return world;
}

const metadata = { name: 'it' };
const put = (world: AdmissionWorld) => world.write('update', LEASE, { body: { metadata } });
const applied = (world: AdmissionWorld) =>
  world.write('patch', CONFIG_MAP, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata },
    contentType: 'application/apply-patch+yaml',
    parameters: { fieldManager: 'm' },
  });

test('a PUT or an apply of what is not there is refused to who may change it and not create it', async (t) => {
  const world = await worldWhere(['get', 'update', 'patch']);
  for (const [write, path, what, group] of [
    [put, LEASE, 'leases', 'coordination.orch.io'],
    [applied, CONFIG_MAP, 'configmaps', ''],
  ] as const) {
    const { code, body } = await write(world);
    t.is(code, 403);
    t.true(
      (body.message as string).endsWith(
        `"it" is forbidden: User "tester" cannot create resource "${what}" in API group "${group}" in the namespace "default"`,
      ),
      body.message as string,
    );
    t.is(await world.stored(path), undefined);
  }
  await world.stop();
});

test('who may create it, be it under that name alone, makes it', async (t) => {
  for (const names of [[], ['it']]) {
    const world = await worldWhere(['create', 'update', 'patch'], names);
    t.is((await put(world)).code, 201);
    t.is((await applied(world)).code, 201);
    t.is((await applied(world)).code, 200);
    await world.stop();
  }
});
