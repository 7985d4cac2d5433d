// What is compacted when: as far as batches allow, in slices, with what was moved and forgotten on the way.
import test from 'ava';
import { CommitTimes } from '../../../actors/store/commit-times.ts';
import { Compactor, type CompactorParts } from '../../../actors/store/compactor.ts';
import type { LocalEngine } from '../../../storage/engines/local-engine.ts';

/** A log of one event a revision and one batch an event, up to a revision. */
function world(revision: number, sliceEvents = 1000) {
  const commitTimes = new CommitTimes();
  for (let batch = 1; batch <= revision; batch++) commitTimes.add({ revision: batch, wallMs: batch * 100 });
  const moved: number[] = [];
  const forgotten: number[] = [];
  const log = {
    revision,
    compactedRevision: 0,
    compact(upTo: number): void {
      log.compactedRevision = upTo;
    },
    moveOut(slab: number): number[] {
      moved.push(slab);
      return [];
    },
    forgetFound(upTo: number): void {
      forgotten.push(upTo);
    },
    window: { bytes: 0, length: 0, revisionOfEvent: (n: number) => log.compactedRevision + n },
  };
  const sparse: number[] = [];
  const pool = { sparse: () => [...sparse], isSparse: () => true, retireEmpty: () => {} };
  const parts = { log, pool, commitTimes, sliceEvents, sparseShare: 0.5, historyBytesMax: 1, historyEventsMax: 1 };
  const compactor = new Compactor({ ...parts, publish: () => 1 } as unknown as CompactorParts);
  return { compactor, commitTimes, forgotten, log, moved, sparse };
}

test('what was asked for is reached when later batches allow it, whatever has been asked for since', (t) => {
  const { compactor, commitTimes, log } = world(5);
  compactor.upTo(5);
  t.is(log.compactedRevision, 4, 'the newest batch vouches for the values');
  compactor.upTo(2);
  commitTimes.add({ revision: 6, wallMs: 600 });
  compactor.next();
  t.is(log.compactedRevision, 5);
});

test('times of what is compacted are forgotten', (t) => {
  const { compactor, commitTimes } = world(5);
  t.is(commitTimes.revisionAt(350), 3);
  compactor.upTo(3);
  t.is(commitTimes.revisionAt(350), 0);
  t.is(commitTimes.revisionAt(450), 4);
});

test('a long history is forgotten in slices, and sparse slabs are emptied a few at a time behind it', (t) => {
  const { compactor, log, moved, sparse } = world(8, 3);
  sparse.push(1, 2, 3, 4, 5, 6);
  const steps: (readonly [revision: number, moved: number])[] = [];
  compactor.upTo(8);
  for (let slices = 0; slices < 10; slices++) {
    steps.push([log.compactedRevision, moved.length]);
    if (!compactor.isBehind) break;
    compactor.next();
  }
  t.deepEqual(steps, [
    [3, 0],
    [6, 0],
    [7, 4],
    [7, 6],
  ]);
  t.deepEqual(moved, [1, 2, 3, 4, 5, 6]);
});

test('the disk is compacted for as long as it says that there is more, and what only its events need is forgotten after that', async (t) => {
  const { compactor, forgotten } = world(5);
  t.false(compactor.isDiskDue);
  compactor.upTo(5);
  t.true(compactor.isDiskDue);
  const more = [true, false];
  const compact = (): Promise<boolean | undefined> => {
    t.true(forgotten.length + more.length === 2, 'the events go first');
    return Promise.resolve(more.shift());
  };
  const engine = { compact } as unknown as LocalEngine;
  await compactor.compactDisk(engine);
  t.true(compactor.isDiskDue);
  await compactor.compactDisk(engine);
  t.false(compactor.isDiskDue);
  t.deepEqual(forgotten, [4, 4]);
});
