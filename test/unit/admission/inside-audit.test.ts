// What is recorded of the writes that components of the server make.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import type { User } from '../../../api/authorization/attributes.ts';
import { serviceAccountUser } from '../../../api/authorization/service-account-user.ts';
import { AdmissionWorld } from './admission-world.ts';
import { FakeAudit } from './audit-world.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const CONTROLLER = serviceAccountUser('orch-system', 'some-controller');
const SCHEDULER: User = { name: 'system:orch-scheduler', uid: '', groups: [], extra: {} };

const jsonOf = (body: UnreadAuditEvent['requestBody']): unknown =>
  body && JSON.parse(Buffer.from(body.bytes).toString());

test('what a component writes is recorded as the request that it would be, and what clients write is not recorded twice', async (t) => {
  const audit = new FakeAudit([{ level: 'RequestResponse' }]);
  const world = await AdmissionWorld.start({ audit });
  const body = { metadata: { name: 'noted' }, data: { a: 'b' } };
  await world.write('create', MAPS, { body, user: CONTROLLER, parameters: { fieldManager: 'me' }, isInside: true });
  t.deepEqual(
    audit.told,
    ['RequestReceived', 'ResponseComplete 201'].map(
      (end) => `system:serviceaccount:orch-system:some-controller create ${MAPS}?fieldManager=me ${end}`,
    ),
  );
  const { request, annotations, requestBody, responseBody } = audit.events[1]!;
  t.deepEqual(audit.events[0]!.annotations, {}, 'nothing is decided yet');
  t.deepEqual(annotations, { 'authorization.orch.io/decision': 'allow', 'authorization.orch.io/reason': '' });
  t.deepEqual(request.user, CONTROLLER);
  t.deepEqual(request.sourceIPs, ['127.0.0.1']);
  t.is(request.userAgent, 'test/v1.21.0+orch () orch/unknown/system:serviceaccount:orch-system:some-controller');
  t.like(request.objectRef, { resource: 'configmaps', namespace: 'default', apiGroup: '', apiVersion: 'v1' });
  t.deepEqual(jsonOf(requestBody), body);
  t.like(jsonOf(responseBody), { kind: 'ConfigMap', data: { a: 'b' }, metadata: { name: 'noted' } });
  await world.stop();
});

test('an answer is recorded in the version that was written in, a refusal as its Status', async (t) => {
  const audit = new FakeAudit([{ level: 'RequestResponse', omitStages: ['RequestReceived'] }]);
  const world = await AdmissionWorld.start({ audit });
  const event = {
    ...{ metadata: { name: 'e' }, eventTime: '2021-04-08T00:00:00.000000Z', reason: 'R', action: 'A', type: 'Normal' },
    ...{
      reportingController: 'c',
      reportingInstance: 'i',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    },
  };
  await world.write('create', '/apis/events.orch.io/v1/namespaces/default/events', { body: event, isInside: true });
  t.like(jsonOf(audit.events[0]!.responseBody), { apiVersion: 'events.orch.io/v1', regarding: { name: 'p' } });
  await world.write('delete', `${MAPS}/none`, { isInside: true });
  t.like(audit.events[1], {
    requestBody: undefined,
    responseStatus: { status: 'Failure', reason: 'NotFound', code: 404 },
    responseObject: { kind: 'Status', code: 404 },
  });
  await world.stop();
});

test('the policy decides about components as about clients: by who they are, the namespace they write, and the level', async (t) => {
  const audit = new FakeAudit([
    { level: 'None', users: [CONTROLLER.name] },
    { level: 'Metadata', namespaces: ['elsewhere'], omitStages: ['RequestReceived'] },
  ]);
  const world = await AdmissionWorld.start({ audit });
  await world.write('create', MAPS, { body: { metadata: { name: 'a' } }, user: CONTROLLER, isInside: true });
  const made = { metadata: { name: 'elsewhere' } };
  await world.write('create', '/api/v1/namespaces', { body: made, isInside: true });
  t.deepEqual(audit.told, []);
  const status = { metadata: made.metadata, status: { conditions: [] } };
  await world.write('update', '/api/v1/namespaces/elsewhere/status', { body: status, isInside: true });
  t.deepEqual(audit.told, ['tester update /api/v1/namespaces/elsewhere/status ResponseComplete 200']);
  t.like(audit.events[0], {
    responseBody: undefined,
    request: { objectRef: { namespace: 'elsewhere', name: 'elsewhere', subresource: 'status' } },
  });
  await world.stop();
});

test('a write of a component waits for its events where requests do, and is refused where they must be kept and are not', async (t) => {
  const audit = new FakeAudit([{ level: 'Metadata' }]);
  const world = await AdmissionWorld.start({ audit, args: ['--audit-log-mode=blocking-strict'] });
  audit.held = [];
  const writing = world.soon('create', MAPS, { body: { metadata: { name: 'a' } }, isInside: true });
  await world.during(new Promise((resolve) => world.simulation.time.after(10, () => resolve(undefined))));
  t.is(await world.stored(`${MAPS}/a`), undefined, 'its first event is not written yet');
  for (const answer of audit.held.splice(0)) answer();
  await world.during(new Promise((resolve) => world.simulation.time.after(10, () => resolve(undefined))));
  t.truthy(await world.stored(`${MAPS}/a`));
  t.is(audit.held.length, 1, 'its last is not');
  for (const answer of audit.held.splice(0)) answer();
  t.is((await world.during(writing)).code, 201);
  audit.held = undefined;
  audit.isKept = false;
  const refused = await world.write('create', MAPS, { body: { metadata: { name: 'b' } }, isInside: true });
  t.is(refused.code, 500);
  t.is(refused.body.message, 'Internal error occurred: failed to store audit event');
  t.is(await world.stored(`${MAPS}/b`), undefined);
  await world.stop();
});

test('what nobody waits for any more when its first event is kept is not written', async (t) => {
  const audit = new FakeAudit([{ level: 'Metadata' }]);
  const world = await AdmissionWorld.start({ audit });
  audit.held = [];
  const writing = world.soon('create', MAPS, { body: { metadata: { name: 'late' } }, isInside: true, deadlineMs: 5 });
  await t.throwsAsync(world.during(writing));
  const [answer] = audit.held.splice(0);
  audit.held = undefined;
  answer!();
  await world.during(new Promise((resolve) => world.simulation.time.after(10, () => resolve(undefined))));
  t.is(await world.stored(`${MAPS}/late`), undefined);
  t.is(audit.told.at(-1), `tester create ${MAPS} ResponseComplete 504`);
  await world.stop();
});

test('a namespace that comes with its first object is made by the API server', async (t) => {
  const audit = new FakeAudit([{ level: 'Metadata', omitStages: ['RequestReceived'] }]);
  const world = await AdmissionWorld.start({ audit, args: ['--enable-admission-plugins=NamespaceAutoProvision'] });
  const body = { metadata: { name: 'a' } };
  t.is((await world.write('create', '/api/v1/namespaces/new/configmaps', { body })).code, 201);
  t.deepEqual(audit.told, ['system:apiserver create /api/v1/namespaces ResponseComplete 201']);
  t.regex(audit.events[0]!.request.userAgent, /^orch-apiserver\/v1/);
  await world.stop();
});

async function podsToBind(audit: FakeAudit, args: readonly string[]) {
  const world = await AdmissionWorld.start({ audit, args });
  for (const name of ['a', 'b'])
    await world.created(PODS, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const bindings = ['a', 'none', 'b'].map((name) => ({ namespace: 'default', name, uid: '', node: 'n1' }));
  const bind = () =>
    world.during(
      world.admission.ask<'bind'>(
        { type: 'bind', bindings, user: SCHEDULER, userAgent: 'orch-scheduler' },
        { deadlineMs: 10_000 },
      ),
    );
  return { world, bind };
}

test('bindings of pods that are carried out together are recorded each, with what has come of it', async (t) => {
  const audit = new FakeAudit([{ level: 'RequestResponse', omitStages: ['RequestReceived'] }]);
  const { world, bind } = await podsToBind(audit, []);
  await bind();
  const told = (name: string, code: number): string =>
    `system:orch-scheduler create ${PODS}/${name}/binding ResponseComplete ${code}`;
  t.deepEqual(audit.told.toSorted(), [told('a', 201), told('b', 201), told('none', 404)]);
  t.like(audit.events[0], {
    request: { objectRef: { resource: 'pods', subresource: 'binding' } },
    responseStatus: { status: 'Success', code: 201 },
    responseObject: { kind: 'Status' },
  });
  t.like(jsonOf(audit.events[0]!.requestBody), { kind: 'Binding', target: { kind: 'Node', name: 'n1' } });
  audit.events.length = 0;
  await bind();
  t.deepEqual(audit.told.toSorted(), [told('a', 409), told('b', 409), told('none', 404)]);
  await world.stop();
});

test('a binding is not carried out whose event must be kept and is not', async (t) => {
  const audit = new FakeAudit([{ level: 'Metadata' }]);
  const { world, bind } = await podsToBind(audit, ['--audit-log-mode=blocking-strict']);
  audit.isKept = false;
  const message = 'Internal error occurred: failed to store audit event';
  t.deepEqual((await bind()).outcomes, new Array(3).fill({ bound: false, reason: 'failed', message }));
  t.is((await world.stored(`${PODS}/a`))?.spec.nodeName, undefined);
  await world.stop();
});
