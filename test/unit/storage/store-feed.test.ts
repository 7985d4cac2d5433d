import test from 'ava';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { EXPECT_ANY, type Operation } from '../../../actors/store/protocol.ts';
import type { PresentState, Publication } from '../../../storage/following/publication.ts';
import { createStoreFeed, type FeedEvent, type KeptRecord } from '../../../storage/following/store-feed.ts';
import { ParsedRecords } from '../../../storage/records/parsed-records.ts';
import { lending } from '../../../storage/records/record-reading.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SlabView, ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { MessageWriter } from '../store/store-model.ts';

/** A store that only publishes. */
class Publisher {
  readonly shared = new SharedState();
  readonly readerSlot = this.shared.claimReader(0)!;
  readonly #pool = new SlabPool(2048, this.shared);
  readonly #log = new RevisionLog(this.#pool, 'json');
  #sequence = 0;
  #knownSlabs = 0;

  publish(...builds: readonly ((writer: MessageWriter) => readonly Operation[])[]): Publication {
    const writer = new MessageWriter();
    for (const build of builds) writer.transaction(build(writer));
    const firstRevision = this.#log.revision + 1;
    this.#log.begin();
    for (const transaction of writer.transactions) this.#log.apply(transaction, writer.payload);
    const { runs, lastRevision } = this.#log.finish(firstRevision, 0)!;
    return this.#publication(lastRevision, runs, []);
  }

  /** Moves what lies in a slab to others. */
  move(slab: number): Publication {
    return this.#publication(this.#log.revision, [], this.#log.moveOut(slab));
  }

  #publication(lastRevision: number, runs: readonly number[], movedRuns: readonly number[]): Publication {
    const newSlabs = this.#pool.memories(this.#knownSlabs);
    this.#knownSlabs = this.#pool.count;
    const sequence = ++this.#sequence;
    return {
      incarnation: 1,
      sequence,
      after: sequence - 1,
      lastRevision,
      compactedRevision: 0,
      runs,
      movedRuns,
      newSlabs,
    };
  }

  present(): PresentState {
    this.#knownSlabs = this.#pool.count;
    return {
      incarnation: 1,
      sequence: this.#sequence,
      revision: this.#log.revision,
      compactedRevision: 0,
      sharedState: this.shared.memory,
      readerSlot: this.readerSlot,
      slabs: this.#pool.memories(),
      live: this.#log.current.places(),
      first: 0,
      history: this.#log.window.places(),
      tokenKey: new Uint8Array(32),
      isShared: false,
    };
  }
}

function lineOf(event: FeedEvent): string {
  const { type, storageKey, namespace, name, revision } = event;
  return `${type} ${storageKey} ${namespace}/${name} @${revision} ${String(event.object().data)}`;
}

function followed(storageKeys?: readonly string[]) {
  const heard: string[] = [];
  const onEvent = (event: FeedEvent) => heard.push(lineOf(event));
  const feed = createStoreFeed({ slabs: new SlabView(), onEvent, ...(storageKeys && { storageKeys }) });
  return { feed, take: () => heard.splice(0) };
}

test('a feed tells what is present, then every change in order, with the last state of what is removed', (t) => {
  const publisher = new Publisher();
  publisher.publish((w) => [
    w.put('core/pods/default/a', EXPECT_ANY, 'one'),
    w.put('core/nodes//n', EXPECT_ANY, 'node'),
  ]);
  publisher.publish((w) => [w.put('core/pods/default/gone', EXPECT_ANY, 'x')]);
  publisher.publish((w) => [w.remove('core/pods/default/gone', EXPECT_ANY)]);
  const { feed, take } = followed();
  feed.begin(publisher.present()).next();
  t.deepEqual(take().sort(), ['present core/nodes /n @1 node', 'present core/pods default/a @1 one']);
  feed.apply(
    publisher.publish(
      (w) => [w.put('core/pods/default/a', EXPECT_ANY, 'two')],
      (w) => [w.put('apps/deployments/ns/größe', EXPECT_ANY, 'd'), w.remove('core/nodes//n', EXPECT_ANY)],
    ),
  );
  t.deepEqual(take(), [
    'put core/pods default/a @4 two',
    'put apps/deployments ns/größe @5 d',
    'delete core/nodes /n @5 node',
  ]);
});

test('a feed of some types tells of no others', (t) => {
  const publisher = new Publisher();
  publisher.publish((w) => [
    w.put('core/pods/default/a', EXPECT_ANY, ''),
    w.put('core/podtemplates/default/b', EXPECT_ANY, ''),
  ]);
  const { feed, take } = followed(['core/pods']);
  feed.begin(publisher.present()).next();
  feed.apply(
    publisher.publish((w) => [w.put('core/nodes//n', EXPECT_ANY, ''), w.remove('core/pods/default/a', EXPECT_ANY)]),
  );
  t.deepEqual(take(), ['present core/pods default/a @1 ', 'delete core/pods default/a @2 ']);
});

test('a feed follows records into slabs that come with the batches', (t) => {
  const publisher = new Publisher();
  const { feed, take } = followed();
  feed.begin(publisher.present()).next();
  for (let n = 0; n < 20; n++)
    feed.apply(publisher.publish((w) => [w.put(`core/pods/x/${n}`, EXPECT_ANY, 'y'.repeat(500))]));
  t.is(take().length, 20);
});

test('what two feeds of a thread tell is one object, parsed once, and another record is another', (t) => {
  const publisher = new Publisher();
  const parsed = new ParsedRecords();
  const thread = new ThreadSlabs();
  const heard: unknown[] = [];
  const feeds = ['scheduler', 'controllers'].map((name) =>
    createStoreFeed({ slabs: thread.viewOf(name), parsed, onEvent: (event) => heard.push(event.object()) }),
  );
  const present = publisher.present();
  for (const feed of feeds) feed.begin(present).next();
  const large = 'y'.repeat(20_000);
  const batch = publisher.publish(
    (w) => [w.put('core/pods/x/a', EXPECT_ANY, 'one')],
    (w) => [w.put('core/pods/x/b', EXPECT_ANY, 'two')],
    (w) => [w.put('core/pods/x/c', EXPECT_ANY, large)],
  );
  for (const feed of feeds) feed.apply(batch);
  const [a, b, c, again, againB, againC] = heard as { readonly data: string }[];
  t.deepEqual([a?.data, b?.data, c?.data], ['one', 'two', large]);
  t.is(again, a);
  t.is(againB, b);
  t.is(againC, c);
});

test('a feed tells no managedFields, but where they are of a form that nobody writes', (t) => {
  const publisher = new Publisher();
  const told: unknown[] = [];
  const onEvent = (event: FeedEvent) =>
    told.push((event.object().metadata as { managedFields?: unknown }).managedFields);
  const feed = createStoreFeed({ slabs: new SlabView(), onEvent });
  feed.begin(publisher.present()).next();
  const fields = (fieldsV1: object) => ({ managedFields: [{ fieldsV1, manager: 'm' }] });
  const odd = fields({ 'f:a': [{}] });
  feed.apply(
    publisher.publish(
      (w) => [w.put('core/pods/x/a', EXPECT_ANY, 'one', '', fields({ 'f:a': {} }))],
      (w) => [w.put('core/pods/x/b', EXPECT_ANY, 'two', '', odd)],
    ),
  );
  t.deepEqual(told, [undefined, odd.managedFields]);
});

test('under test, who changes an object that others are told of as well throws', (t) => {
  const publisher = new Publisher();
  lending.wipes = true;
  t.teardown(() => {
    lending.wipes = false;
  });
  const onEvent = (event: FeedEvent) => {
    (event.object() as { data: string }).data = 'mine';
  };
  const feed = createStoreFeed({ slabs: new SlabView(), onEvent });
  feed.begin(publisher.present()).next();
  t.throws(() => feed.apply(publisher.publish((w) => [w.put('core/pods/x/a', EXPECT_ANY, 'ours')])), {
    instanceOf: TypeError,
  });
});

test('a record that is kept can be parsed later, and is told of anew where it was moved', (t) => {
  const publisher = new Publisher();
  publisher.publish((w) => [w.put('core/pods/x/a', EXPECT_ANY, 'one'), w.put('core/nodes//n', EXPECT_ANY, 'node')]);
  const kept: KeptRecord[] = [];
  const moved: string[] = [];
  const onMoved = (event: FeedEvent) =>
    moved.push(`${event.name} @${event.revision} ${String(event.kept().object().data)}`);
  const onEvent = (event: FeedEvent) => kept.push(event.kept());
  const feed = createStoreFeed({ slabs: new SlabView(), storageKeys: ['core/pods'], onEvent, onMoved });
  feed.begin(publisher.present()).next();
  feed.apply(publisher.publish((w) => [w.put('core/pods/x/b', EXPECT_ANY, 'two')]));
  t.deepEqual(
    kept.map((record) => [record.revision, record.object().data]),
    [
      [1, 'one'],
      [2, 'two'],
    ],
  );
  feed.apply(publisher.move(0));
  t.deepEqual(moved, ['a @1 one', 'b @2 two']);
  t.is(kept.length, 2);
});

test('a feed reports the last publication it has read, and no earlier than that', (t) => {
  const publisher = new Publisher();
  publisher.publish((w) => [w.put('core/pods/default/a', EXPECT_ANY, '')]);
  const epochs: number[] = [];
  const epoch = () => publisher.shared.readerEpoch(publisher.readerSlot);
  const feed = createStoreFeed({ slabs: new SlabView(), onEvent: () => epochs.push(epoch()) });
  feed.begin(publisher.present()).next();
  t.is(epoch(), 1);
  feed.apply(publisher.publish((w) => [w.put('core/pods/default/b', EXPECT_ANY, '')]));
  t.is(epoch(), 2);
  t.deepEqual(epochs, [0, 1]);
});

test('a feed that begins in parts tells what comes first in one of its own', (t) => {
  const publisher = new Publisher();
  for (const name of 'abcdef') publisher.publish((w) => [w.put(`core/pods/default/${name}`, EXPECT_ANY, '')]);
  let heard = '';
  const feed = createStoreFeed({ slabs: new SlabView(), onEvent: ({ name }) => (heard += name) });
  const parts = (first: number): string => {
    heard = '';
    const begun = feed.begin({ ...publisher.present(), first }, 3);
    while (begun.next().done !== true) heard += '|';
    return heard;
  };
  t.is(parts(0), 'abc|def');
  t.is(parts(1), 'a|bcd|ef');
  t.is(parts(5), 'abcde|f');
  t.is(parts(6), 'abcdef');
});

test('a feed that begins in parts tells the same, and reports that it has read when all is told', (t) => {
  const publisher = new Publisher();
  for (const key of ['core/pods/default/a', 'core/nodes//n', 'core/pods/default/b', 'apps/deployments/x/d'])
    publisher.publish((w) => [w.put(key, EXPECT_ANY, '')]);
  const heard: string[] = [];
  const feed = createStoreFeed({
    slabs: new SlabView(),
    onEvent: ({ type, name }) => heard.push(`${type} ${name}`),
  });
  const epoch = () => publisher.shared.readerEpoch(publisher.readerSlot);
  const parts = feed.begin(publisher.present(), 3);
  const taken: string[][] = [];
  while (parts.next().done !== true) {
    t.is(epoch(), 0);
    taken.push(heard.splice(0));
  }
  taken.push(heard.splice(0));
  t.deepEqual(
    taken.map((part) => part.length),
    [3, 1],
  );
  t.is(new Set(taken.flat()).size, 4);
  t.is(epoch(), 4);
});
