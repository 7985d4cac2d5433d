import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SharedState } from '../../../storage/shared-state.ts';

const SLAB_BYTES = 1024;

function poolWith(readers: number): { pool: SlabPool; shared: SharedState; slots: readonly number[] } {
  const shared = new SharedState();
  const slots = Array.from({ length: readers }, () => shared.claimReader(0)!);
  return { pool: new SlabPool(SLAB_BYTES, shared), shared, slots };
}

interface Held {
  readonly slab: number;
  readonly offset: number;
}

/** Room whose first word is its length, which is all the pool reads of a record. */
function record(pool: SlabPool, length: number): Held {
  const room = pool.allocate(length);
  pool.slab(room.slab).words[room.offset >>> 2] = length;
  return room;
}

function release(pool: SlabPool, { slab, offset }: Held): void {
  pool.release(slab, offset);
}

test('records lie back to back until the next does not fit', (t) => {
  const { pool } = poolWith(0);
  t.deepEqual(record(pool, 512), { slab: 0, offset: 0 });
  t.deepEqual(record(pool, 504), { slab: 0, offset: 512 });
  t.deepEqual(record(pool, 8), { slab: 0, offset: 1016 });
  t.is(pool.usedBytes(0), 1024);
  t.deepEqual(record(pool, 8), { slab: 1, offset: 0 });
  t.is(pool.count, 2);
  t.is(pool.liveBytes, 1032);
  t.is(pool.reservedBytes, 2 * SLAB_BYTES);
});

test('a record larger than a slab gets one that fits', (t) => {
  const { pool } = poolWith(0);
  record(pool, 100 * 8);
  const large = record(pool, 5000);
  t.is(large.offset, 0);
  t.is(pool.slab(large.slab).memory.byteLength, 8192);
  const exact = record(pool, 16_384);
  t.is(pool.slab(exact.slab).memory.byteLength, 16_384);
});

test('an empty slab is taken again, and no memory is added', (t) => {
  const { pool } = poolWith(0);
  const first = record(pool, 1024);
  record(pool, 1024);
  release(pool, first);
  pool.retireEmpty(1);
  t.is(record(pool, 1024).slab, first.slab);
  t.is(pool.count, 2);
});

test('a slab that is empty but not retired is not taken', (t) => {
  const { pool } = poolWith(0);
  release(pool, record(pool, 1024));
  t.is(record(pool, 1024).slab, 1);
});

test('the slab that is being filled is not retired', (t) => {
  const { pool } = poolWith(0);
  release(pool, record(pool, 8));
  pool.retireEmpty(1);
  t.deepEqual(record(pool, 8), { slab: 0, offset: 8 });
});

test('a slab with one live record is not retired', (t) => {
  const { pool } = poolWith(0);
  const dead = record(pool, 512);
  record(pool, 512);
  record(pool, 1024);
  release(pool, dead);
  pool.retireEmpty(1);
  t.is(record(pool, 1024).slab, 2);
});

test('a retired slab waits for the slowest of all readers', (t) => {
  const { pool, shared, slots } = poolWith(2);
  release(pool, record(pool, 1024));
  record(pool, 1024);
  pool.retireEmpty(5);
  shared.setReaderEpoch(slots[0]!, 9);
  t.is(record(pool, 1024).slab, 2);
  shared.setReaderEpoch(slots[1]!, 4);
  t.is(record(pool, 1024).slab, 3);
  shared.setReaderEpoch(slots[1]!, 5);
  t.is(record(pool, 1024).slab, 0);
});

test('a reader that has gone holds nothing back', (t) => {
  const { pool, shared, slots } = poolWith(2);
  release(pool, record(pool, 1024));
  record(pool, 1024);
  pool.retireEmpty(5);
  shared.setReaderEpoch(slots[0]!, 7);
  shared.freeReader(slots[1]!);
  t.is(record(pool, 1024).slab, 0);
});

test('slabs retired by later publications wait longer', (t) => {
  const { pool, shared, slots } = poolWith(1);
  const records = [1, 2, 3].map(() => record(pool, 1024));
  record(pool, 1024);
  for (const [index, held] of records.entries()) {
    release(pool, held);
    pool.retireEmpty(10 + index);
  }
  shared.setReaderEpoch(slots[0]!, 11);
  t.deepEqual([record(pool, 1024).slab, record(pool, 1024).slab], [0, 1]);
  t.is(record(pool, 1024).slab, 4);
  shared.setReaderEpoch(slots[0]!, 12);
  t.is(record(pool, 1024).slab, 2);
});

test('a large slab is taken again for a large record, and small ones are not', (t) => {
  const { pool } = poolWith(0);
  const small = record(pool, 1024);
  const large = record(pool, 5000);
  record(pool, 8000);
  release(pool, small);
  release(pool, large);
  pool.retireEmpty(1);
  t.is(record(pool, 6000).slab, large.slab);
});

test('a small record takes the smallest slab that is free', (t) => {
  const { pool } = poolWith(0);
  const large = record(pool, 5000);
  const small = record(pool, 1024);
  record(pool, 1024);
  release(pool, large);
  release(pool, small);
  pool.retireEmpty(1);
  t.is(record(pool, 1024).slab, small.slab);
});

test('new slabs are handed out by number, as subscribers need them', (t) => {
  const { pool } = poolWith(0);
  for (let count = 0; count < 3; count++) record(pool, 1024);
  t.deepEqual(
    pool.memories(1).map(([number]) => number),
    [1, 2],
  );
  t.is(pool.memories(2)[0]![1], pool.slab(2).memory);
  t.deepEqual(pool.memories(3), []);
});

test('a full slab that has become mostly dead is sparse; one just filled, empty or open is not', (t) => {
  const { pool } = poolWith(0);
  const slabs = [0, 1, 2].map(() => [record(pool, 256), record(pool, 256), record(pool, 256), record(pool, 256)]);
  for (const held of slabs[0]!.slice(0, 3)) release(pool, held);
  for (const held of slabs[1]!) release(pool, held);
  for (const held of slabs[2]!.slice(0, 3)) release(pool, held);
  t.deepEqual(pool.sparse(0.25), [], 'slab 0 was not there at a look before');
  t.deepEqual(pool.sparse(0.25), [0]);
  t.deepEqual(pool.sparse(0.24), []);
  record(pool, 8);
  t.deepEqual(pool.sparse(0.25), [0]);
  t.deepEqual(pool.sparse(0.25), [0, 2]);
});

test('a slab that has been taken again is not sparse at the first look after it is full', (t) => {
  const { pool } = poolWith(0);
  const fill = () => [record(pool, 512), record(pool, 512)] as const;
  const first = fill();
  fill();
  t.deepEqual(pool.sparse(0.5), [], 'the first look');
  for (const one of first) release(pool, one);
  pool.retireEmpty(1);
  const [gone, kept] = fill();
  t.is(kept.slab, first[0].slab);
  fill();
  release(pool, gone);
  t.deepEqual(pool.sparse(0.5), []);
  t.deepEqual(pool.sparse(0.5), [kept.slab]);
});

test('random use: live bytes are those of the records held, and no two of them overlap', (t) => {
  const random = new SeededRandom(3);
  const { pool, shared, slots } = poolWith(3);
  const held: Held[] = [];
  const lengthOf = ({ slab, offset }: Held) => pool.slab(slab).words[offset >>> 2]!;
  let sequence = 0;
  let allocatedBytes = 0;
  for (let step = 0; step < 5000; step++) {
    const choice = random.below(10);
    if (choice < 4) {
      const length = 8 * (1 + random.below(random.below(20) === 0 ? 500 : 60));
      allocatedBytes += length;
      held.push(record(pool, length));
    } else if (choice < 8 && held.length > 0) {
      const at = random.below(held.length);
      release(pool, held[at]!);
      held[at] = held.at(-1)!;
      held.pop();
    } else if (choice === 8) {
      pool.retireEmpty(++sequence);
    } else {
      shared.setReaderEpoch(slots[random.below(slots.length)]!, sequence);
    }
    if (step % 50 !== 0) continue;
    t.is(
      pool.liveBytes,
      held.reduce((sum, one) => sum + lengthOf(one), 0),
    );
    const spans = held.map((one) => ({ slab: one.slab, start: one.offset, end: one.offset + lengthOf(one) }));
    spans.sort((left, right) => left.slab - right.slab || left.start - right.start);
    const overlapping = spans.some((span, index) => {
      const next = spans[index + 1];
      return next !== undefined && next.slab === span.slab && next.start < span.end;
    });
    t.false(overlapping, `at step ${step}`);
  }
  // Without reuse the records of such a run would need five times as many.
  t.true(pool.reservedBytes < allocatedBytes / 5, `${pool.reservedBytes} of ${allocatedBytes}`);
});
