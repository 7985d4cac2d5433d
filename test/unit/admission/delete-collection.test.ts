// DELETE of a part of a collection: which part, as of when, by the parameters of a list.
import test from 'ava';
import { AdmissionWorld, type Answered, refusal } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, thing, versionOfThings } from './custom-things.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

async function worldWith(names: readonly string[]): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start();
  for (const name of names) await world.created(CONFIG_MAPS, { metadata: { name } });
  return world;
}

const deletion = (world: AdmissionWorld, parameters: Readonly<Record<string, string>>) =>
  world.write('deletecollection', CONFIG_MAPS, { parameters });

const namesIn = ({ body }: Answered) => body.items.map(({ metadata }) => metadata.name);

async function left(world: AdmissionWorld): Promise<unknown> {
  const answer = await world.write('deletecollection', CONFIG_MAPS, { parameters: { dryRun: ['All'] } });
  return namesIn(answer);
}

test('a limit deletes the first objects, and the token the next ones', async (t) => {
  const world = await worldWith(['a', 'b', 'c', 'd', 'e']);
  const first = await deletion(world, { limit: '2' });
  t.is(first.code, 200);
  t.deepEqual(namesIn(first), ['a', 'b']);
  t.is((first.body.metadata as { remainingItemCount?: number }).remainingItemCount, 3);
  t.deepEqual(await left(world), ['c', 'd', 'e']);
  const token = first.body.metadata.continue ?? '';
  t.not(token, '');
  // What has changed since the list began is deleted as it is now, what is gone is passed over.
  await world.write('patch', `${CONFIG_MAPS}/c`, { body: { data: { a: 'b' } } });
  await world.write('delete', `${CONFIG_MAPS}/d`);
  await world.created(CONFIG_MAPS, { metadata: { name: 'ab' } });
  const second = await deletion(world, { limit: '2', continue: token });
  t.deepEqual(namesIn(second), ['c', 'd']);
  const last = await deletion(world, { limit: '2', continue: second.body.metadata.continue ?? '' });
  t.deepEqual(namesIn(last), ['e']);
  t.is(last.body.metadata.continue, undefined);
  t.deepEqual(await left(world), ['ab']);
  await world.stop();
});

test('an exact version deletes what there was, if it is there still', async (t) => {
  const world = await worldWith(['a', 'b']);
  const version = String(await world.revision());
  await world.created(CONFIG_MAPS, { metadata: { name: 'c' } });
  await world.write('patch', `${CONFIG_MAPS}/a`, { body: { data: { a: 'b' } } });
  const answer = await deletion(world, { resourceVersion: version, resourceVersionMatch: 'Exact' });
  t.deepEqual(namesIn(answer), ['a', 'b']);
  t.is(answer.body.metadata.resourceVersion, version);
  t.deepEqual(await left(world), ['c']);
  await world.stop();
});

test('what has been made anew since an exact version is deleted by what it is, not by what there was', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['a.test/b'] } });
  await world.write('delete', `${CONFIG_MAPS}/a`);
  const version = String(await world.revision());
  await world.write('patch', `${CONFIG_MAPS}/a`, { body: { metadata: { finalizers: null } } });
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  t.deepEqual(namesIn(await deletion(world, { resourceVersion: version, resourceVersionMatch: 'Exact' })), ['a']);
  t.deepEqual(await left(world), []);
  await world.stop();
});

test('a version that is not to be older, or any, deletes what there is', async (t) => {
  const world = await worldWith(['a']);
  const version = String(await world.revision());
  await world.created(CONFIG_MAPS, { metadata: { name: 'b' } });
  t.deepEqual(namesIn(await deletion(world, { resourceVersion: version, resourceVersionMatch: 'NotOlderThan' })), [
    'a',
    'b',
  ]);
  await world.created(CONFIG_MAPS, { metadata: { name: 'c' } });
  t.deepEqual(namesIn(await deletion(world, { resourceVersion: '0' })), ['c']);
  await world.stop();
});

const refused: readonly (readonly [does: string, parameters: Readonly<Record<string, string>>, code: number])[] = [
  ['a limit that is no number', { limit: 'x' }, 400],
  ['a token that is none', { limit: '1', continue: 'x' }, 400],
  ['a version that is none', { resourceVersion: 'x' }, 400],
  ['a version with a token', { limit: '1', continue: 'x', resourceVersion: '7' }, 400],
  ['a match without a version', { resourceVersionMatch: 'Exact' }, 422],
  ['a match that is none', { resourceVersion: '1', resourceVersionMatch: 'Newest' }, 422],
  ['a uid that none of its objects has', { uid: 'x' }, 409],
  ['a version that there is not yet', { resourceVersion: '999999' }, 504],
];

for (const [does, parameters, code] of refused) {
  test(`a DELETE of a collection with ${does} is ${code}, and deletes nothing`, async (t) => {
    const world = await worldWith(['a']);
    const answer = await deletion(world, parameters);
    t.is(refusal(answer).code, code);
    if (code === 504) t.true(answer.body.message.startsWith('Timeout: Too large resource version: 999999'));
    t.deepEqual(await left(world), ['a']);
    await world.stop();
  });
}

test('of large objects of a collection few are read and deleted at a time', async (t) => {
  const world = await AdmissionWorld.start();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await world.created(CONFIG_MAPS, { metadata: { name }, data: { text: 'x'.repeat(600_000) } });
  }
  world.gate.commits = 0;
  t.deepEqual(namesIn(await deletion(world, {})), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.is(world.gate.commits, 3);
  await world.stop();
});

test('a collection of custom objects is answered by the definition of its revision, also where that came after the request', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await world.created(THINGS, thing('a', {}));

  let answer: Promise<Answered> | undefined;
  world.gate.beforeCommit = async () => {
    world.delivery.hold('hub');
    answer = world.soon('deletecollection', THINGS, { parameters: { dryRun: ['All'] } });
    // Until it has come to ask the hub, with the definition that it found.
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  };
  const body = { spec: { versions: [versionOfThings({ default: 3 })] } };
  const changed = await world.write('patch', DEFINITION_OF_THINGS, { body });
  t.is(changed.code, 200);
  world.delivery.letGo('hub');
  const { body: list } = await world.during(answer!);
  t.deepEqual(
    list.items.map((item) => item.spec),
    [{ size: 3 }],
  );
  await world.stop();
});

test('custom objects that are deleted together say what they are, as in a list of them', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await world.created(THINGS, thing('a', {}));
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const kinds = async (path: string): Promise<unknown> =>
    (await world.write('deletecollection', path, { parameters: { dryRun: ['All'] } })).body.items.map((item) => [
      item.apiVersion,
      item.kind,
    ]);
  t.deepEqual(await kinds(THINGS), [['example.com/v1', 'Thing']]);
  t.deepEqual(await kinds(CONFIG_MAPS), [[undefined, undefined]]);
  await world.stop();
});

test('what was deleted together is answered as the text that lists have, not as objects, which may take a hundred times as much', async (t) => {
  const world = await AdmissionWorld.start();
  for (const name of ['a', 'b']) await world.created(CONFIG_MAPS, { metadata: { name }, data: { of: name } });
  const target = { group: '', version: 'v1', resource: 'configmaps', subresource: '', namespace: 'default', name: '' };
  const user = { name: 'tester', uid: '', groups: [], extra: {} };
  const reply = await world.during(
    world.admission.ask<'write'>(
      {
        type: 'write',
        verb: 'deletecollection',
        ...{ target, user, userAgent: '', parameters: {}, contentType: '', payload: new Uint8Array() },
      },
      { deadlineMs: 60_000 },
    ),
  );
  if (!('list' in reply)) throw t.fail();
  const texts = reply.list.items.map((some) => JSON.parse(`[${Buffer.from(some).toString()}]`) as { data: unknown }[]);
  t.deepEqual(
    texts.map((some) => some.map(({ data }) => data)),
    [[{ of: 'a' }, { of: 'b' }]],
  );
  await world.stop();
});

test('who ends a type deletes its objects by the version that they are stored in, though that is not served', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await world.created(THINGS, thing('a', {}));
  const versions = [{ ...versionOfThings({}), served: false }];
  await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions } } });

  t.is((await world.write('deletecollection', THINGS)).code, 404);
  t.not(await world.stored(`${THINGS}/a`), undefined);
  const ended = await world.write('deletecollection', THINGS, { asStored: true });
  t.is(ended.code, 200);
  t.deepEqual(ended.body.items, []);
  t.is(await world.stored(`${THINGS}/a`), undefined);
  await world.stop();
});

test('what stays of a type that ends is stored by the schema of the moment, also where that changes meanwhile', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const held = { ...thing('a', {}), metadata: { name: 'a', finalizers: ['x/y'] } };
  await world.created(THINGS, held);
  const change = (size: number) =>
    world.soon('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [versionOfThings({ default: size })] } } });
  await world.during(change(3));
  world.gate.beforeCommit = () => change(4);
  const ended = await world.write('deletecollection', THINGS, { asStored: true });
  t.is(ended.code, 200, ended.body.message);
  const stored = await world.stored(`${THINGS}/a`);
  t.not(stored?.metadata.deletionTimestamp, undefined);
  t.deepEqual(stored?.spec, { size: 4 });
  await world.stop();
});
