// Goal: what a component of the server writes needs nobody's permission, whatever the modes of authorization; a client's does.
import test from 'ava';
import { AdmissionWorld, type Request } from './admission-world.ts';

const GROUP = 'rbac.authorization.orch.io';
const ROLES = `/apis/${GROUP}/v1/clusterroles`;
const LEASE = '/apis/coordination.orch.io/v1/namespaces/default/leases/it';
const NOBODY = { name: 'system:serviceaccount:orch-system:component', groups: ['system:authenticated'] };
const ALL = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

for (const [who, inside, codes] of [
  ['a component', { isInside: true }, [201, 201, 200]],
  ['a client', {}, [403, 403, 403]],
] as const)
  test(`${who} without any right puts what is not there, makes a role that grants all and makes one grant all: ${codes.join(', ')}`, async (t) => {
    const world = await AdmissionWorld.start({ authorizationModes: 'RBAC' });
    await world.created(ROLES, { metadata: { name: 'seen' } });
    const of = (body: object): Request => ({ body, user: NOBODY, ...inside });
    const lease = await world.write('update', LEASE, of({ metadata: { name: 'it' } }));
    const role = await world.write('create', ROLES, of({ metadata: { name: 'all' }, rules: ALL }));
    const grown = await world.write('update', `${ROLES}/seen`, of({ metadata: { name: 'seen' }, rules: ALL }));
    t.deepEqual([lease.code, role.code, grown.code], [...codes]);
    await world.stop();
  });
