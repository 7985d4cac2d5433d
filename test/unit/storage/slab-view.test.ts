import test from 'ava';
import { SharedState } from '../../../storage/shared-state.ts';
import { SlabPool } from '../../../storage/slab-pool.ts';
import { CREATED, recordBytes, writeRecordHead } from '../../../storage/slab-record.ts';
import { SlabView } from '../../../storage/slab-view.ts';

/** A store's slabs, two of them, with a record of a revision at the beginning of each. */
function slabsWith(revision: number): SlabPool {
  const pool = new SlabPool(4096, new SharedState());
  for (let count = 0; count < 2; count++) {
    const length = recordBytes(3, 0, 3000);
    const room = pool.allocate(length);
    const head = { revision, bornRevision: 1, type: CREATED, schemaGeneration: 1, revisionOffset: 0, itemOffset: 0 };
    writeRecordHead(pool.slab(room.slab), room.offset, length, head, 'k/a', 3, '', 0, 3000);
  }
  return pool;
}

test('a slab of the store before is not taken for one that the store that is followed has not published yet', (t) => {
  const view = new SlabView();
  view.learn(slabsWith(13).memories(), 1);
  const place = { slab: 1, offset: 0, revision: 13 };
  t.true(view.holds({ ...place, incarnation: 1 }));
  const present = slabsWith(13).memories();
  view.learn(present.slice(0, 1), 2);
  t.false(view.holds({ ...place, incarnation: 2 }));
  view.learn(present.slice(1), 2);
  t.true(view.holds({ ...place, incarnation: 2 }));
});

test('what the store before sent late is read in its own slabs', (t) => {
  const view = new SlabView();
  const before = slabsWith(13).memories();
  const present = slabsWith(14).memories();
  view.learn(before, 1);
  view.learn(present, 2);
  view.learn([], 1);
  t.is(view.slab(1).memory, before[1]![1]);
  view.learn([], 2);
  t.is(view.slab(1).memory, present[1]![1]);
});
