// What is kept of encodings: found while it holds, gone when its record is, and never more than may be.
import test from 'ava';
import { EncodingCache, type EncodingSet, type KeptEncoding } from '../../../rendering/encoding-cache.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { Records } from '../hub/records.ts';

const MEGABYTE = 1024 * 1024;

function bytesOf(kept: KeptEncoding | undefined): string {
  return kept === undefined ? '' : kept.view(kept.length).toString('latin1');
}

interface World {
  readonly cache: EncodingCache;
  readonly set: EncodingSet;
  readonly records: Records;
}

function world(bytesMax = MEGABYTE): World {
  const cache = new EncodingCache(bytesMax);
  return { cache, set: cache.set(), records: new Records() };
}

test('an encoding is found at its record, in its own set, as it was kept', (t) => {
  const { cache, set, records } = world();
  const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
  t.is(set.find(records.slab, offset), undefined);
  const source = Buffer.from('encoding');
  const kept = cache.keep(set, records.slab, offset, source)!;
  source.fill(0);
  t.is(set.find(records.slab, offset), kept);
  t.is(bytesOf(kept), 'encoding');
  t.is(cache.set().find(records.slab, offset), undefined);
  const target = Buffer.alloc(10);
  t.is(kept.copy(target, 1, 3), 4);
  t.is(target.toString('latin1', 1, 4), 'enc');
});

test('an encoding of another revision at the same place is not found', (t) => {
  const { cache, set, records } = world();
  const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
  cache.keep(set, records.slab, offset, Buffer.from('old'));
  records.end = offset;
  records.write({ namespace: 'a', name: 'y' }, 6);
  t.is(set.find(records.slab, offset), undefined);
  cache.keep(set, records.slab, offset, Buffer.from('new'));
  t.is(bytesOf(set.find(records.slab, offset)), 'new');
});

test('a record that was moved to a place voids what was kept there, even at the same revision', (t) => {
  const { cache, set, records } = world();
  const other = cache.set();
  const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
  cache.keep(set, records.slab, offset, Buffer.from('one'));
  cache.keep(other, records.slab, offset, Buffer.from('two'));
  cache.forget(records.slab, offset);
  t.is(set.find(records.slab, offset), undefined);
  t.is(other.find(records.slab, offset), undefined);
});

test('nothing is known after the store was read anew, and what was in hand says so', (t) => {
  const { cache, set, records } = world();
  const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
  const kept = cache.keep(set, records.slab, offset, Buffer.from('one'))!;
  cache.clear();
  t.is(cache.bytes, 0);
  t.false(kept.isKept);
  t.is(kept.copy(Buffer.alloc(3), 0, 3), -1);
  t.is(kept.view(3).length, 0);
  t.is(set.find(records.slab, offset), undefined);
});

test('a cache of no bytes keeps nothing, and one too small for an encoding not that', (t) => {
  for (const bytesMax of [0, 1000]) {
    const { cache, set, records } = world(bytesMax);
    const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
    t.is(cache.keep(set, records.slab, offset, Buffer.alloc(1000)), undefined);
    t.is(cache.bytes, 0);
  }
});

test('the bound holds whatever is kept; what is asked for stays longest', (t) => {
  const { cache, set, records } = world(MEGABYTE);
  const hot = records.write({ namespace: 'a', name: 'hot' }, 1);
  cache.keep(set, records.slab, hot.offset, Buffer.alloc(500, 1));
  let cold = 0;
  const offsets: number[] = [];
  for (let i = 2; i < 6000; i++) {
    const { offset } = records.write({ namespace: 'a', name: `n${i}` }, i);
    offsets.push(offset);
    cache.keep(set, records.slab, offset, Buffer.alloc(500, i & 0xff));
    t.true(cache.bytes <= MEGABYTE + 1024);
    if (set.find(records.slab, hot.offset) === undefined) t.fail(`the hot one is gone after ${i}`);
  }
  for (const offset of offsets) if (set.find(records.slab, offset) !== undefined) cold++;
  t.true(cold > 500 && cold < 2500, `${cold} of the others`);
});

test('an encoding larger than a page has one of its own, and is dropped like others', (t) => {
  const { cache, set, records } = world(4 * MEGABYTE);
  const kept: KeptEncoding[] = [];
  for (let i = 1; i <= 20; i++) {
    const { offset } = records.write({ namespace: 'a', name: `n${i}` }, i);
    kept.push(cache.keep(set, records.slab, offset, Buffer.alloc(MEGABYTE, i))!);
    t.true(cache.bytes <= 4 * MEGABYTE + 1024 * 1024);
  }
  t.is(bytesOf(kept.at(-1)).charCodeAt(MEGABYTE - 1), 20);
  t.true(kept.filter(({ isKept }) => isKept).length <= 4);
});

test('a view holds when the encoding itself is gone', (t) => {
  const { cache, set, records } = world(64 * 1024);
  const first = records.write({ namespace: 'a', name: 'x' }, 1);
  const kept = cache.keep(set, records.slab, first.offset, Buffer.from('held'))!;
  const view = kept.view(4);
  for (let i = 2; i < 500; i++) {
    const { offset } = records.write({ namespace: 'a', name: `n${i}` }, i);
    cache.keep(set, records.slab, offset, Buffer.alloc(1000, 0x78));
  }
  t.false(kept.isKept);
  t.is(view.toString(), 'held');
});

test('whatever is kept, found, moved and overwritten: what is found is what was kept last', (t) => {
  for (let seed = 0; seed < 20; seed++) {
    const random = new SeededRandom(seed);
    const { cache, set, records } = world(32 * 1024 + random.below(64 * 1024));
    const places = Array.from({ length: 60 }, (_, i) => records.write({ namespace: 'a', name: `n${i}` }, i + 1));
    const expected = new Map<number, string>();
    let revision = 1000;
    for (let step = 0; step < 3000; step++) {
      const { offset, key } = places[random.below(places.length)]!;
      const choice = random.below(10);
      const found = set.find(records.slab, offset);
      if (found !== undefined) t.is(bytesOf(found), expected.get(offset) ?? 'nothing was kept');
      if (choice < 6) {
        const text = `${offset} ${step} `.padEnd(random.below(2000), 'x');
        const kept = cache.keep(set, records.slab, offset, Buffer.from(text, 'latin1'));
        t.is(bytesOf(kept), text);
        expected.set(offset, text);
      } else if (choice === 6) {
        cache.forget(records.slab, offset);
        expected.delete(offset);
      } else if (choice === 7) {
        const end = records.end;
        records.end = offset;
        records.write({ namespace: 'a', name: key.slice(2) }, revision++);
        records.end = end;
        expected.delete(offset);
      }
      if (!expected.has(offset)) t.is(set.find(records.slab, offset), undefined);
    }
  }
});
