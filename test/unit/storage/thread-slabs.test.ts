import test from 'ava';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { CREATED } from '../../../storage/records/slab-record.ts';
import { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { SharedState } from '../../../storage/shared-state.ts';

/** A store's slabs, two of them, with a record of a revision at the beginning of each. */
function slabsWith(revision: number): SlabPool {
  const pool = new SlabPool(4096, new SharedState());
  for (let count = 0; count < 2; count++) {
    const head = { revision, bornRevision: 1, type: CREATED, schemaGeneration: 1, revisionOffset: 0, itemOffset: 0 };
    pool.write(head, 'k/a', '', new Uint8Array(3000));
  }
  return pool;
}

test('a slab of the store before is not taken for one that the store that is followed has not published yet', (t) => {
  const thread = new ThreadSlabs();
  const view = thread.viewOf('hub');
  view.learn(slabsWith(13).memories(), 1);
  const place = { slab: 1, offset: 0, revision: 13 };
  t.true(thread.holds({ ...place, incarnation: 1 }));
  const present = slabsWith(13).memories();
  view.learn(present.slice(0, 1), 2);
  t.false(thread.holds({ ...place, incarnation: 2 }));
  t.false(thread.holds({ ...place, slab: 0, offset: 1 << 20, incarnation: 2 }));
  view.learn(present.slice(1), 2);
  t.true(thread.holds({ ...place, incarnation: 2 }));
  t.false(thread.holds({ ...place, revision: 12, incarnation: 2 }));
});

test('each actor reads the store that it follows, whichever the others of its thread have heard of', (t) => {
  const thread = new ThreadSlabs();
  const [hub, scheduler] = [thread.viewOf('hub'), thread.viewOf('scheduler')];
  const before = slabsWith(13).memories();
  const present = slabsWith(14).memories();
  hub.learn(before, 1);
  scheduler.learn(before, 1);
  hub.learn(present, 2);
  // What the dead store sent last, behind a full mailbox.
  scheduler.learn([], 1);
  t.is(hub.slab(1).memory, present[1]![1]);
  t.is(scheduler.slab(1).memory, before[1]![1]);
  t.is(thread.slab({ incarnation: 1, slab: 0, offset: 0 }).memory, before[0]![1]);
  t.is(thread.slab({ incarnation: 2, slab: 0, offset: 0 }).memory, present[0]![1]);
});

test('what nobody of the thread follows any more is let go, but by an answer that goes on', (t) => {
  const thread = new ThreadSlabs();
  const [hub, scheduler] = [thread.viewOf('hub'), thread.viewOf('scheduler')];
  const before = slabsWith(13).memories();
  hub.learn(before, 1);
  scheduler.learn(before, 1);
  const answering = thread.ofStore(1).byNumber;
  hub.learn(slabsWith(14).memories(), 2);
  t.notThrows(() => thread.ofStore(1));
  scheduler.learn([], 2);
  t.throws(() => thread.ofStore(1), { message: 'the store has restarted, try again' });
  t.false(thread.holds({ incarnation: 1, slab: 0, offset: 0, revision: 13 }));
  t.is(answering[0]?.memory, before[0]![1]);
  // An actor that is made anew follows under the same name.
  thread.viewOf('hub').learn(slabsWith(15).memories(), 3);
  scheduler.learn([], 3);
  t.throws(() => thread.ofStore(2));
});

test('known memory is not mapped again', (t) => {
  const view = new ThreadSlabs().viewOf('hub');
  const memory = new SharedArrayBuffer(64);
  view.learn([[0, memory]], 1);
  const mapped = view.slab(0);
  view.learn([[0, memory]], 1);
  t.is(view.slab(0), mapped);
});

test('a place in a slab that was never published is a broken invariant', (t) => {
  const view = new ThreadSlabs().viewOf('hub');
  t.throws(() => view.slab(3), { message: /slab 3 was never published/ });
});
