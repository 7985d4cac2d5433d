import test from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { BY_KEY, BY_UID, FollowedRecords, type RecordPlace } from '../../../storage/followed-records.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { SlabPool } from '../../../storage/slab-pool.ts';
import { CREATED, DELETED, restampRecord, stampRevision, valueStart } from '../../../storage/slab-record.ts';

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

for (const [how, naming, called] of [
  ['key', BY_KEY, (number: number) => `core/configmaps/n/${nameOf(number)}`],
  ['uid', BY_UID, uidOf],
] as const) {
  test(`objects that come, change, move and go are found where they lie (by ${how})`, (t) => {
    const world = new World();
    const records = new FollowedRecords(naming);
    const write = (number: number): RecordPlace => world.write(nameOf(number), uidOf(number));
    for (let number = 0; number < 200; number++) t.true(records.put(write(number), 1 + (number % 3)));
    t.is(records.size, 200);
    for (let number = 0; number < 200; number += 2) t.false(records.put(write(number), 9), 'it was there');
    t.is(records.size, 200);
    for (let number = 0; number < 200; number += 4) {
      const last = write(number);
      restampRecord(last.slab, last.offset, DELETED, 1000);
      t.true(records.remove(last));
      t.false(records.remove(last));
    }
    for (let number = 0; number < 200; number++) {
      const key = `core/configmaps/n/${nameOf(number)}`;
      t.is(records.keyOf(called(number)), number % 4 === 0 ? undefined : key);
      t.is(records.has(called(number)), number % 4 !== 0);
      t.is(records.tagOf(called(number)), number % 4 === 0 ? 0 : 1 + (number % 3));
    }
    t.is(records.keysTagged(1).length, 50);
    records.tag(called(3), 7);
    t.deepEqual(records.keysTagged(7), [`core/configmaps/n/${nameOf(3)}`]);
    records.clear();
    t.false(records.has(called(1)));
  });
}

test('a record that was moved is read where it lies now, one of an earlier state is not', (t) => {
  const world = new World();
  const records = new FollowedRecords(BY_KEY);
  const first = world.write('a', uidOf(1), 5);
  const second = world.write('a', uidOf(1), 6);
  records.put(second);
  records.moved(world.write('a', uidOf(1), 5));
  world.wipe(first);
  t.true(records.has('core/configmaps/n/a'));
  const moved = world.write('a', uidOf(1), 6);
  records.moved(moved);
  world.wipe(second);
  t.true(records.has('core/configmaps/n/a'));
  records.moved(world.write('b', uidOf(2), 7));
  t.false(records.has('core/configmaps/n/b'), 'only what is followed moves');
});
