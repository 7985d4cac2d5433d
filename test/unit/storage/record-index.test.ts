import { crc32 } from 'node:zlib';
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { keyChecksum } from '../../../storage/forms/key-checksum.ts';
import { bytesHash, nameHash } from '../../../storage/name-hash.ts';
import { RecordIndex } from '../../../storage/records/record-index.ts';
import { SlabPool, type SlabRoom } from '../../../storage/records/slab-pool.ts';
import { CREATED, hasKey, recordKey } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';

const HEAD = { revision: 7, bornRevision: 7, type: CREATED, schemaGeneration: 0, revisionOffset: 0, itemOffset: 0 };

/** Every name gets one of few hashes, so that most searches pass others. */
const crowded = (key: string): number => nameHash(key) % 5;

function written(pool: SlabPool, key: string): SlabRoom {
  return pool.write(HEAD, key, '', new Uint8Array(20));
}

function placesOf(index: RecordIndex): string[] {
  const places: string[] = [];
  for (let position = 0; position < index.end; position++)
    if (!index.isHole(position)) places.push(`${index.slabAt(position)}/${index.offsetAt(position)}`);
  return places;
}

for (const [name, hash] of Object.entries({ nameHash, crowded })) {
  test(`an index holds what a map of keys does, in the same order (${name})`, (t) => {
    const random = new SeededRandom(5);
    const pool = new SlabPool(8192, new SharedState());
    const index = new RecordIndex(pool, hasKey);
    const model = new Map<string, SlabRoom>();
    for (let step = 0; step < 4000; step++) {
      const key = `core/pods/größe/${random.below(step % 1000 < 500 ? 300 : 30)}`;
      if (random.below(3) === 0) {
        t.is(index.remove(key, hash(key)), model.delete(key));
      } else {
        const room = written(pool, key);
        const position = index.put(key, hash(key), room.slab, room.offset);
        t.is(position, index.find(key, hash(key)));
        model.set(key, room);
      }
      t.is(index.size, model.size);
      if (step % 50 > 0) continue;
      t.deepEqual(
        placesOf(index),
        [...model.values()].map(({ slab, offset }) => `${slab}/${offset}`),
      );
      for (let each = 0; each < 300; each++) {
        const other = `core/pods/größe/${each}`;
        const at = index.find(other, hash(other));
        t.is(at >= 0, model.has(other), other);
        if (at >= 0) t.is(recordKey(pool.slab(index.slabAt(at)), index.offsetAt(at)), other);
      }
    }
  });
}

test('the places of records are those whose tags are wanted, and those of them that come first', (t) => {
  const pool = new SlabPool(1024 * 1024, new SharedState());
  const index = new RecordIndex(pool, hasKey);
  const offsets = Array.from({ length: 6 }, (_, at) => {
    const { slab, offset } = written(pool, `a/b//${at}`);
    index.put(`a/b//${at}`, at, slab, offset, at % 3);
    return offset;
  });
  index.remove('a/b//3', 3);
  const given = (isWanted?: Uint8Array, isFirst?: Uint8Array): unknown => {
    const { places, first } = index.places(isWanted, isFirst);
    const order = Array.from({ length: places.length / 2 }, (_, at) => offsets.indexOf(places[at * 2 + 1]!));
    return [order, first];
  };
  t.deepEqual(given(), [[0, 1, 2, 4, 5], 0]);
  t.deepEqual(given(Uint8Array.of(1, 0, 1)), [[0, 2, 5], 0]);
  t.deepEqual(given(undefined, Uint8Array.of(0, 1, 0, 1, 1, 0)), [[1, 4, 0, 2, 5], 2]);
  t.deepEqual(given(Uint8Array.of(1, 1, 0), Uint8Array.of(0, 1, 1, 0, 0, 0)), [[1, 0, 4], 1]);
});

test('names come and go without end, and the index grows no more', (t) => {
  const pool = new SlabPool(1024 * 1024, new SharedState());
  const index = new RecordIndex(pool, hasKey);
  for (let step = 0; step < 20_000; step++) {
    const { slab, offset } = written(pool, `a/b//${step % 7000}`);
    index.put(`a/b//${step % 7000}`, step % 7000, slab, offset);
    const old = (step + 3500) % 7000;
    index.remove(`a/b//${old}`, old);
    t.true(index.size <= 3501);
    t.true(index.end < 16_384);
  }
});

test('a cleared index is empty, and can be used again', (t) => {
  const pool = new SlabPool(8192, new SharedState());
  const index = new RecordIndex(pool, hasKey);
  const { slab, offset } = written(pool, 'a/b//c');
  index.put('a/b//c', 1, slab, offset);
  index.clear();
  t.is(index.find('a/b//c', 1), -1);
  t.false(index.remove('a/b//c', 1));
  t.is(index.size, 0);
  index.put('a/b//c', 1, slab, offset);
  t.is(index.find('a/b//c', 1), 0);
});

test('keys are told apart by their UTF-8, whatever they hash to', (t) => {
  const pool = new SlabPool(8192, new SharedState());
  const keys = ['é', 'Ã©', 'e', '日本', 'æ\u0097¥æ\u009c¬', ''];
  for (const key of keys) {
    const { slab, offset } = written(pool, key);
    for (const other of keys) t.is(hasKey(pool.slab(slab), offset, other), other === key, `${key} ${other}`);
  }
});

test("a key's checksum is that of its UTF-8", (t) => {
  for (const key of ['', 'a', 'core/pods/default/b-00000001', 'größe', '日本', '\u{1f600}', '\u007f\u0080'])
    t.is(keyChecksum(key), crc32(key), key);
});

test('the hash of a name is that of its bytes, and names with one checksum have different ones', (t) => {
  for (const name of ['', 'core/pods/default/a', 'core/pods/größe/€', '\u{1f600}']) {
    const bytes = Buffer.from(`xx${name}yy`);
    t.is(nameHash(name), bytesHash(bytes, 2, bytes.length - 2), name);
  }
  // Two words that are known to have one CRC-32, behind any beginning.
  const [one, other] = ['core/configmaps/a/plumless', 'core/configmaps/a/buckeroo'];
  t.is(keyChecksum(one), keyChecksum(other));
  t.not(nameHash(one), nameHash(other));
});
