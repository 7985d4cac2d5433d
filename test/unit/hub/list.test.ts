import test from 'ava';
import type { ListAnswer, ListQuery, ReadRefusal } from '../../../actors/hub/protocol.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { type Slab, valueView } from '../../../storage/records/slab-record.ts';
import { HubWorld } from './hub-world.ts';

async function answered(world: HubWorld, query: Partial<ListQuery> = {}): Promise<ListAnswer> {
  const answer = await world.during(world.list(query));
  if (answer.refused !== undefined) throw new Error(`the list was refused: ${answer.refused}`);
  return answer;
}

async function refused(world: HubWorld, query: Partial<ListQuery>): Promise<ReadRefusal> {
  const answer = await world.during(world.list(query));
  if (answer.refused === undefined) throw new Error('the list was answered');
  return answer;
}

test('the chunks of a list are one state, whatever changes between them', async (t) => {
  const random = new SeededRandom(5);
  for (let round = 0; round < 8; round++) {
    const world = await HubWorld.start({ seed: round });
    for (let count = 0; count < 30; count++)
      await world.put(`${['a', 'a-b', 'b'][random.below(3)]}/o${random.below(30)}`);
    const from = world.commits.length;
    const namespace = ['', 'a'][round % 2]!;
    const seen: string[] = [];
    let token = '';
    do {
      const answer = await answered(world, { namespace, limit: 1 + random.below(6), continueToken: token });
      t.is(answer.revision, from);
      seen.push(...world.seenIn(answer));
      token = answer.continueToken;
      for (let count = random.below(4); count > 0; count--) {
        const key = `a/o${random.below(30)}`;
        if (world.stateAt(1e9).some((line) => line.startsWith(`ADDED ${key} `))) await world.remove(key);
        else await world.put(key);
      }
      if (random.below(5) === 0) await world.restartStore();
    } while (token !== '');
    t.deepEqual(
      seen,
      world.stateAt(from, (version) => namespace === '' || version.namespace === namespace),
    );
    await world.stop();
  }
});

test('a list by a field finds nothing of a type that is not there any more', async (t) => {
  const world = await HubWorld.start();
  const gone = { storageKey: 'example.com/widgets', fieldSelector: 'metadata.name=a' };
  t.deepEqual((await answered(world, gone)).places.length, 0);
  await world.stop();
});

test('a list at a revision is the state at that revision', async (t) => {
  const world = await HubWorld.start();
  for (let count = 0; count < 10; count++) {
    await world.put(`a/o${count % 4}`, String(count));
    if (count % 3 === 2) await world.remove(`a/o${count % 4}`);
  }
  for (let revision = 1; revision <= world.commits.length; revision++) {
    const exact = await answered(world, { freshness: { kind: 'exact', revision } });
    t.is(exact.revision, revision);
    t.deepEqual(world.seenIn(exact), world.stateAt(revision));
    const limited = await answered(world, { freshness: { kind: 'exact', revision }, limit: 1 });
    t.is(limited.revision, revision);
    t.deepEqual(world.seenIn(limited), world.stateAt(revision).slice(0, 1));
  }
  await world.stop();
});

test('a list from before the window is refused, and an expired token comes with one that goes on', async (t) => {
  const world = await HubWorld.start({ historyEventsMax: 10 });
  for (let count = 0; count < 5; count++) await world.put(`a/o${count}`);
  const first = await answered(world, { limit: 2 });
  t.deepEqual(world.seenIn(first), ['ADDED a/o0 1', 'ADDED a/o1 2']);
  t.is(first.remaining, 3);
  for (let count = 0; count < 40; count++) await world.put('a/o4', String(count));
  await world.remove('a/o2');
  const { oldestRevision } = (await refused(world, { freshness: { kind: 'exact', revision: 5 } })) as {
    oldestRevision: number;
  };
  t.true(oldestRevision > 5);
  const expired = await refused(world, { limit: 2, continueToken: first.continueToken });
  t.is(expired.refused, 'expired');
  const freshToken = expired.refused === 'expired' ? expired.freshToken : undefined;
  const next = await answered(world, { limit: 2, continueToken: freshToken! });
  t.is(next.revision, world.commits.length);
  t.deepEqual(world.seenIn(next), ['ADDED a/o3 4', 'ADDED a/o4 45']);
  t.deepEqual(await refused(world, { namespace: 'a', continueToken: first.continueToken }), { refused: 'badToken' });
  t.deepEqual(await refused(world, { continueToken: 'nonsense' }), { refused: 'badToken' });
  await world.stop();
});

test('a list of a revision nobody has committed waits, and then says where the server stands', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  t.deepEqual(await refused(world, { freshness: { kind: 'notOlderThan', revision: 3 } }), {
    refused: 'tooLarge',
    currentRevision: 1,
  });
  const waiting = world.list({ freshness: { kind: 'notOlderThan', revision: 3 } });
  await world.put('a/o1');
  await world.put('a/o2');
  const answer = await world.during(waiting);
  t.true(answer.refused === undefined && answer.revision >= 3);
  await world.stop();
});

test('a read answers what was committed before it was asked, however late the hub hears of it', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  world.delivery.hold('hub');
  const list = world.list();
  const get = world.hubRef.ask(
    { type: 'get', storageKey: 'core/configmaps', namespace: 'a', name: 'o1', freshness: { kind: 'mostRecent' } },
    { deadlineMs: 60_000 },
  );
  const commit = world.commitSoon([{ namespace: 'a', name: 'o1', labels: {}, text: '' }]);
  await world.settle();
  world.delivery.letGo('hub');
  await world.during(commit);
  const answer = await world.during(list);
  t.true(answer.refused === undefined && answer.revision === 2);
  if (answer.refused === undefined) t.deepEqual(world.seenIn(answer), ['ADDED a/o0 1', 'ADDED a/o1 2']);
  const got = await world.during(get);
  t.true(got.refused === undefined && got.place?.revision === 2);
  await world.stop();
});

test('a get finds an object under its own namespace and name only', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  await world.put('a/o0', 'again');
  await world.put('a-b/o1');
  const get = async (namespace: string, name: string, storageKey = 'core/configmaps') => {
    const answer = await world.during(
      world.hubRef.ask({ type: 'get', storageKey, namespace, name, freshness: { kind: 'any' } }, { deadlineMs: 1000 }),
    );
    return answer.refused ?? answer.place?.revision;
  };
  t.is(await get('a', 'o0'), 2);
  t.is(await get('a-b', 'o1'), 3);
  t.is(await get('a', 'o1'), undefined);
  t.is(await get('', 'a/o0'), undefined);
  t.is(await get('a', 'o0', 'core/secrets'), undefined);
  t.is(await get('a', '__proto__'), undefined);
  await world.stop();
});

test('a list that takes many turns is of the revision at which it began, and others are answered between them', async (t) => {
  const world = await HubWorld.start({ gatheredEntriesMax: 1, slabBytes: 4096, historyBytesMax: 2000 });
  for (let count = 0; count < 60; count++) await world.put(`a/o${count}`, 'x'.repeat(200), { tier: `t${count % 2}` });
  const from = world.commits.length;
  const order: string[] = [];
  const list = world.list({ labelSelector: 'tier=t1' }).then((answer) => {
    order.push('list');
    return answer;
  });
  const get = world.hubRef
    .ask(
      { type: 'get', storageKey: 'core/configmaps', namespace: 'a', name: 'o1', freshness: { kind: 'any' } },
      { deadlineMs: 1000 },
    )
    .then(() => order.push('get'));
  const changes = Array.from({ length: 60 }, (_, count) =>
    count % 3 === 0
      ? world.removeSoon(`a/o${count}`)
      : world.commitSoon([{ namespace: 'a', name: `o${count}`, labels: { tier: 't1' }, text: 'y'.repeat(300) }]),
  );
  const answer = await world.during(list);
  await world.during(Promise.all([get, ...changes]));
  t.deepEqual(order, ['get', 'list']);
  t.true(answer.refused === undefined && answer.revision === from);
  if (answer.refused === undefined)
    t.deepEqual(
      world.seenIn(answer),
      world.stateAt(from, ({ labels }) => labels.tier === 't1'),
    );
  await world.stop();
});

test('a list that takes many turns is given up when the store is lost, and keeps no records from being overwritten', async (t) => {
  const world = await HubWorld.start({
    gatheredEntriesMax: 1,
    slabBytes: 4096,
    historyBytesMax: 2000,
    historyEventsMax: 20,
  });
  for (let count = 0; count < 20; count++) await world.put(`a/o${count}`, 'x'.repeat(200));
  const list = world.list({ labelSelector: '!tier' });
  const watch = world.watch('labelSelector=!tier');
  world.loseStore();
  t.is((await world.during(list)).refused, 'notReady');
  await world.settle();
  t.is(watch.refusal?.code, 503);
  const present = await answered(world);
  t.is(world.seenIn(present).length, 20);
  const { byNumber } = world.slabs.ofStore(present.incarnation);
  const churn = async (): Promise<number> => {
    for (let count = 0; count < 200; count++) await world.put(`a/o${count % 20}`, 'x'.repeat(400));
    await world.settle();
    return byNumber.length;
  };
  const slabs = await churn();
  t.is(await churn(), slabs);
  await world.stop();
});

test('each page of a list says how many objects follow, whatever has been made since', async (t) => {
  const world = await HubWorld.start();
  for (let count = 0; count < 30; count++) await world.put(`${['a', 'b'][count % 2]}/o${count}`);
  for (const [namespace, all] of [
    ['', 30],
    ['b', 15],
  ] as const) {
    let token = '';
    for (let left = all - 4; left > 0; left -= 4) {
      const page = await answered(world, { namespace, limit: 4, continueToken: token });
      world.seenIn(page);
      t.is(page.remaining, left);
      token = page.continueToken;
      await world.put(`b/later${all}-${left}`);
    }
    for (const made of world.stateAt(1e9)) {
      const key = made.split(' ')[1]!;
      if (key.includes('later')) await world.remove(key);
    }
  }
  await world.stop();
});

/** What a list held back by its client reads from the slabs it began with. */
function textsOf(answer: ListAnswer, slabs: readonly (Slab | undefined)[]): string[] {
  const texts: string[] = [];
  for (let i = 0; i < answer.places.length; i += 2) {
    texts.push(valueView(slabs[answer.places[i]!]!, answer.places[i + 1]!).toString('utf8'));
  }
  return texts;
}

test('records are not overwritten while a list is being sent, nor an initial state within the window, and are afterwards', async (t) => {
  const OBJECTS = 80;
  const world = await HubWorld.start({ slabBytes: 4096, historyBytesMax: 2000, historyEventsMax: 20 });
  for (let count = 0; count < OBJECTS; count++) await world.put(`a/o${count}`, 'before'.repeat(400));
  const from = world.commits.length;
  const answer = await answered(world);
  const slabs = world.slabs.ofStore(answer.incarnation).byNumber;
  const before = textsOf(answer, slabs).join();
  t.is(before.split('beforebefore').length > OBJECTS, true);
  const watch = world.watch('');
  watch.response.isFull = () => true;
  const churn = async (rounds: number): Promise<void> => {
    for (let count = 0; count < rounds; count++) await world.put(`a/o${count % OBJECTS}`, 'after'.repeat(200));
    await world.settle();
  };
  await churn(5 * OBJECTS);
  t.true(textsOf(answer, slabs).join() === before, 'a list in progress is read as it was');
  world.hubRef.tell<'release'>({ type: 'release', pin: answer.pin });
  const initial = watch.events.slice(0, -1);
  t.true(initial.length > 0 && initial.length < OBJECTS, 'the watch has not begun its last chunk');
  t.deepEqual(watch.seen.slice(0, -1), world.stateAt(from).slice(0, initial.length));
  t.true(initial.every((event) => JSON.stringify(event).includes('beforebefore')));
  t.is(watch.events.at(-1)?.object.code, 410);
  await churn(5 * OBJECTS);
  t.true(textsOf(answer, slabs).join() !== before, 'the slabs are used again once nobody reads them');
  const count = slabs.length;
  await churn(10 * OBJECTS);
  t.is(slabs.length, count, 'and no more of them are made');
  await world.stop();
});

test('slabs are used again once a watch has been sent the state that it began with, however long it goes on', async (t) => {
  const world = await HubWorld.start({ slabBytes: 4096, historyBytesMax: 2000, historyEventsMax: 20 });
  for (let count = 0; count < 20; count++) await world.put(`a/o${count}`, 'x'.repeat(400));
  const watch = world.watch('');
  await world.settle();
  t.is(watch.events.length, 20);
  const churn = async (): Promise<void> => {
    for (let count = 0; count < 100; count++) await world.put(`a/o${count % 20}`, 'x'.repeat(400));
    await world.settle();
  };
  const answer = await answered(world);
  world.hubRef.tell<'release'>({ type: 'release', pin: answer.pin });
  const { byNumber: slabs } = world.slabs.ofStore(answer.incarnation);
  await churn();
  const { length } = slabs;
  for (let round = 0; round < 4; round++) await churn();
  t.is(slabs.length, length);
  t.false(watch.finished);
  await world.stop();
});

test('nothing is kept for a list that came to be after who asked for it had given up', async (t) => {
  const world = await HubWorld.start({ slabBytes: 4096, historyBytesMax: 2000, historyEventsMax: 20 });
  for (let count = 0; count < 20; count++) await world.put(`a/o${count}`, 'x'.repeat(400));
  const freshness = { kind: 'notOlderThan', revision: world.commits.length + 1 } as const;
  await t.throwsAsync(world.during(world.list({ freshness }, 100)), { message: /did not answer in time/ });
  const churn = async (): Promise<void> => {
    for (let count = 0; count < 100; count++) await world.put(`a/o${count % 20}`, 'x'.repeat(400));
    await world.settle();
  };
  await churn();
  const answer = await answered(world);
  world.hubRef.tell<'release'>({ type: 'release', pin: answer.pin });
  const { byNumber: slabs } = world.slabs.ofStore(answer.incarnation);
  const { length } = slabs;
  for (let round = 0; round < 4; round++) await churn();
  t.is(slabs.length, length);
  await world.stop();
});
