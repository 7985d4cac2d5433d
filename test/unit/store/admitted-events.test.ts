// What an engine says was committed, as it comes into a revision log: the records, and how long those of answers alone are kept.
import test from 'ava';
import { AdmittedEvents } from '../../../actors/store/log/admitted-events.ts';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import type { Place } from '../../../actors/store/protocol.ts';
import type { StoredValue } from '../../../storage/forms/stored-value.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { CREATED, DELETED, isStale, UPDATED } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { MessageWriter, type Version, versionAt } from './store-model.ts';

const KEY = 'core/configmaps/default/a';
const OTHER_KEY = 'core/configmaps/default/b';
/** Of which answers alone tell, and which are kept. */
const ANSWERS_KEPT = 256;

interface Rig {
  readonly admitted: AdmittedEvents;
  readonly log: RevisionLog;
  readonly pool: SlabPool;
  /** Records that nobody needs any more. */
  readonly released: readonly string[];
  at(place: Pick<Place, 'slab' | 'offset'>): Version;
  isStale(place: Place): boolean;
}

function rig(): Rig {
  const pool = new SlabPool(1024 * 1024, new SharedState());
  const log = new RevisionLog(pool, 'json');
  const released: string[] = [];
  const release = pool.release.bind(pool);
  pool.release = (slab, offset) => {
    released.push(`${slab} ${offset}`);
    release(slab, offset);
  };
  return {
    admitted: new AdmittedEvents(log, pool),
    log,
    pool,
    released,
    at: ({ slab, offset }) => versionAt(pool.slab(slab), offset),
    isStale: ({ slab, offset }) => isStale(pool.slab(slab), offset),
  };
}

/** As it lies in an engine, whose revision it does not know. */
function storedOf(key: string, data: string, bornRevision = 0): StoredValue {
  const writer = new MessageWriter();
  const { attributes, schemaGeneration, revisionOffset, itemOffset } = writer.put(key, 0, data);
  return { revision: 0, bornRevision, schemaGeneration, revisionOffset, itemOffset, attributes, json: writer.payload };
}

test('what was loaded is taken back without a trace', (t) => {
  const { admitted, log, pool } = rig();
  admitted.load(KEY, 10, storedOf(KEY, 'x', 3), false);
  admitted.load(OTHER_KEY, 11, storedOf(OTHER_KEY, 'y'), false);
  t.true(pool.liveBytes > 0);
  admitted.unload();
  t.deepEqual([pool.liveBytes, log.digests.total, [...log.current.keys()]], [0, 0, []]);
});

test('a record says what was done, its version and birth, and whether its value lies there as it is not written any more', (t) => {
  const { admitted, at, isStale: stale } = rig();
  const made = admitted.put(KEY, 10, storedOf(KEY, 'x'), true);
  const changed = admitted.put(KEY, 12, storedOf(KEY, 'y', 10), false);
  const removed = admitted.remove(KEY, 13)!;
  t.deepEqual(
    [made, changed, removed].map(at).map(({ revision, born, type, data }) => [revision, born, type, data]),
    [
      [10, 10, CREATED, 'x'],
      [12, 10, UPDATED, 'y'],
      [13, 10, DELETED, 'y'],
    ],
  );
  t.deepEqual([made, changed].map(stale), [true, false]);
  t.is(admitted.remove(KEY, 14), undefined);
});

test('who removes with a last change is answered with that, and others are shown what was current', (t) => {
  const { admitted, log, at } = rig();
  const made = admitted.put(KEY, 10, storedOf(KEY, 'x'), false);
  admitted.takeRuns();
  const answered = admitted.remove(KEY, 11, storedOf(KEY, 'last'))!;
  t.like(at(answered), { revision: 11, born: 10, type: DELETED, data: 'last' });
  const [slab, from] = admitted.takeRuns();
  t.like(at({ slab: slab!, offset: from! }), { revision: 11, type: DELETED, data: 'x' });
  t.deepEqual(admitted.takeRuns(), []);
  t.is(log.current.get(KEY), undefined);
  t.like(at(made), { revision: 10 });
});

test('what answers alone name is kept until many more were given', (t) => {
  const { admitted, released } = rig();
  const answers: string[] = [];
  for (let round = 0; round <= ANSWERS_KEPT; round++) {
    t.deepEqual(released, []);
    admitted.put(KEY, 10 + 2 * round, storedOf(KEY, 'x'), false);
    const { slab, offset } = admitted.remove(KEY, 11 + 2 * round, storedOf(KEY, 'last'))!;
    answers.push(`${slab} ${offset}`);
  }
  t.deepEqual(released, [answers[0]]);
});
