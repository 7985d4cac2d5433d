// The endpoints of a service go when it goes.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';

const SERVICES = '/api/v1/namespaces/default/services';
const ENDPOINTS = '/api/v1/namespaces/default/endpoints';
const SERVICE = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
const HELD = { ...SERVICE, metadata: { name: 's', finalizers: ['a.test/b'] } };
const [IT, ITS] = [`${SERVICES}/s`, `${ENDPOINTS}/s`];

async function worldWith(service: object, endpoints: object | undefined): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start();
  await world.created(SERVICES, service);
  if (endpoints !== undefined) await world.created(ENDPOINTS, { metadata: { name: 's', ...endpoints } });
  await world.created(ENDPOINTS, { metadata: { name: 'other' } });
  return world;
}

test('the endpoints of a service are deleted with it, those of others stay', async (t) => {
  const world = await worldWith(SERVICE, {});
  t.is((await world.write('delete', IT)).code, 200);
  t.is(await world.stored(IT), undefined);
  t.is(await world.stored(ITS), undefined);
  t.truthy(await world.stored(`${ENDPOINTS}/other`));
  await world.stop();
});

test('a service without endpoints is deleted as well', async (t) => {
  const world = await worldWith(SERVICE, undefined);
  t.is((await world.write('delete', IT)).code, 200);
  t.is(await world.stored(IT), undefined);
  await world.stop();
});

test('endpoints stay where the deletion of their service is only tried', async (t) => {
  const world = await worldWith(SERVICE, {});
  t.is((await world.write('delete', IT, { parameters: { dryRun: ['All'] } })).code, 200);
  t.truthy(await world.stored(ITS));
  await world.stop();
});

test('the endpoints of a service with a finalizer go when the last one does', async (t) => {
  const world = await worldWith(HELD, {});
  t.is((await world.write('delete', IT)).code, 200);
  t.truthy(await world.stored(ITS));
  t.is((await world.write('patch', IT, { body: { metadata: { finalizers: null } } })).code, 200);
  t.is(await world.stored(IT), undefined);
  t.is(await world.stored(ITS), undefined);
  await world.stop();
});

test('endpoints with a finalizer are marked when their service goes', async (t) => {
  const world = await worldWith(SERVICE, { finalizers: ['a.test/b'] });
  t.is((await world.write('delete', IT)).code, 200);
  t.is(await world.stored(IT), undefined);
  t.truthy((await world.stored(ITS))?.metadata.deletionTimestamp);
  // The next service of the name finds them on their way, and leaves them.
  await world.created(SERVICES, SERVICE);
  t.is((await world.write('delete', IT)).code, 200);
  t.truthy(await world.stored(ITS));
  await world.stop();
});

const MEANWHILE: readonly (readonly [what: string, act: (world: AdmissionWorld) => Promise<unknown>])[] = [
  ['change', (world) => world.soon('patch', ITS, { body: { metadata: { labels: { a: 'b' } } } })],
  ['go', (world) => world.soon('delete', ITS)],
];
for (const [what, act] of MEANWHILE) {
  test(`endpoints that ${what} while their service is deleted do not keep it`, async (t) => {
    const world = await worldWith(SERVICE, {});
    world.gate.beforeCommit = () => act(world);
    t.is((await world.write('delete', IT)).code, 200);
    t.is(await world.stored(IT), undefined);
    t.is(await world.stored(ITS), undefined);
    await world.stop();
  });

  test(`endpoints that ${what} while a PUT takes their service's last finalizer do not refuse its version`, async (t) => {
    const world = await worldWith(HELD, {});
    const { body } = await world.write('delete', IT);
    const { finalizers: _, ...metadata } = body.metadata;
    world.gate.beforeCommit = () => act(world);
    t.is((await world.write('update', IT, { body: { ...body, metadata } })).code, 200);
    t.is(await world.stored(IT), undefined);
    t.is(await world.stored(ITS), undefined);
    await world.stop();
  });
}
