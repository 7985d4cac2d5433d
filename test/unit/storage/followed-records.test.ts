import test from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { FollowedRecords, type RecordPlace } from '../../../storage/records/followed-records.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { CREATED, DELETED, restampRecord, stampRevision, valueStart } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';

class World {
  readonly pool = new SlabPool(4096, new SharedState());
  #revision = 0;

  write(name: string, uid: string, revision = ++this.#revision): RecordPlace {
    const object = { metadata: { name, ...(uid !== '' && { uid }) } };
    const { text, revisionOffset, itemOffset } = encodeStored(object, 'v1', 'ConfigMap');
    const head = { revision, bornRevision: 1, type: CREATED, schemaGeneration: 0, revisionOffset, itemOffset };
    const room = this.pool.write(head, `core/configmaps/n/${name}`, '', Buffer.from(text));
    const slab = this.pool.slab(room.slab);
    stampRevision(slab.bytes, valueStart(slab, room.offset) + revisionOffset, revision);
    return { slab, slabNumber: room.slab, offset: room.offset };
  }

  /** The slab may be used again: nothing that was there is read any more. */
  wipe({ slab, offset }: RecordPlace): void {
    slab.bytes.fill(0xff, offset, offset + 48);
  }
}

const nameOf = (number: number): string => `größe-${number}`;
const uidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('objects that come, change, move and go are found where they lie', (t) => {
  const world = new World();
  const records = new FollowedRecords();
  const write = (number: number): RecordPlace => world.write(nameOf(number), uidOf(number));
  for (let number = 0; number < 200; number++) t.is(records.put(write(number)), 0);
  t.is(records.size, 200);
  for (let number = 0; number < 200; number += 3) records.tag(uidOf(number), 7);
  for (let number = 0; number < 200; number += 2) {
    const place = write(number);
    for (const _sharer of [1, 2]) t.is(records.put(place), number % 3 === 0 ? 7 : 0, 'it keeps its tag');
  }
  t.is(records.size, 200);
  for (let number = 0; number < 200; number += 4) {
    const last = write(number);
    restampRecord(last.slab, last.offset, DELETED, 1000);
    t.true(records.remove(last));
    t.false(records.remove(last));
  }
  for (let number = 0; number < 200; number++) {
    const key = `core/configmaps/n/${nameOf(number)}`;
    t.is(records.keyOf(uidOf(number)), number % 4 === 0 ? undefined : key);
    t.is(records.has(uidOf(number)), number % 4 !== 0);
  }
  t.is(records.keysBelow(Buffer.from('core/configmaps/n/')).length, 150);
  t.deepEqual(records.keysBelow(Buffer.from(`core/configmaps/n/${nameOf(197)}`)), [`core/configmaps/n/${nameOf(197)}`]);
  records.clear();
  t.false(records.has(uidOf(1)));
});

test('an object that was given a tag since it was put has it when it is put by another who shares the records', (t) => {
  const world = new World();
  const records = new FollowedRecords();
  const place = world.write('a', uidOf(1));
  t.is(records.put(place), 0);
  records.tag(uidOf(1), 3);
  t.is(records.put(place), 3);
  records.remove(place);
  t.is(records.put(place), 0, 'it is another one');
});

test('an object without a uid is not followed', (t) => {
  const world = new World();
  const records = new FollowedRecords();
  t.is(records.put(world.write('a', '')), 0);
  t.is(records.size, 0);
});

test('a record that was moved is read where it lies now, one of an earlier state is not', (t) => {
  const world = new World();
  const records = new FollowedRecords();
  const first = world.write('a', uidOf(1), 5);
  const second = world.write('a', uidOf(1), 6);
  records.put(second);
  records.moved(world.write('a', uidOf(1), 5));
  world.wipe(first);
  t.true(records.has(uidOf(1)));
  const moved = world.write('a', uidOf(1), 6);
  records.moved(moved);
  world.wipe(second);
  t.true(records.has(uidOf(1)));
  records.moved(world.write('b', uidOf(2), 7));
  t.false(records.has(uidOf(2)), 'only what is followed moves');
});
