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
  const held = cache.bytes;
  cache.clear();
  t.is(cache.bytes, 0);
  t.false(kept.isKept);
  t.is(kept.copy(Buffer.alloc(3), 0, 3), -1);
  t.is(kept.view(3).length, 0);
  t.is(kept.firstFieldBytes, 0);
  t.is(set.find(records.slab, offset), undefined);
  cache.keep(set, records.slab, offset, Buffer.from('two'));
  t.is(cache.bytes, held, 'a page, and what names the encoding');
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

test('encodings of two slabs are told apart, and found in turn', (t) => {
  const { cache, set, records } = world();
  const others = new Records();
  const { offset } = records.write({ namespace: 'a', name: 'x' }, 5);
  t.is(others.write({ namespace: 'a', name: 'x' }, 5).offset, offset);
  cache.keep(set, records.slab, offset, Buffer.from('one'));
  t.is(set.find(others.slab, offset), undefined);
  cache.keep(set, others.slab, offset, Buffer.from('two'));
  for (let i = 0; i < 2; i++) {
    t.is(bytesOf(set.find(records.slab, offset)), 'one');
    t.is(bytesOf(set.find(others.slab, offset)), 'two');
  }
});

/** Keeps encodings of new records; answers where those lie. */
function fill({ cache, set, records }: World, from: number, count: number, bytes: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const { offset } = records.write({ namespace: 'a', name: `n${from + i}` }, from + i);
    cache.keep(set, records.slab, offset, Buffer.alloc(bytes));
    return offset;
  });
}

test('of what nobody asks for the newest stays, and nothing else', (t) => {
  const one = world(64 * 1024);
  t.is(fill(one, 1, 1, 1000).length, 1);
  t.is(one.cache.bytes, 16 * 1024 + 128, 'a quarter of the bound, and what names the encoding');
  const { set, records } = one;
  const found = fill(one, 2, 400, 1000).map((offset) => set.find(records.slab, offset) !== undefined);
  t.is(found.lastIndexOf(false) + 1, found.indexOf(true));
  t.true(found.indexOf(true) >= 400 - 64);
});

test('what was asked for once is carried over once', (t) => {
  const one = world(64 * 1024);
  const { set, records } = one;
  const [asked] = fill(one, 1, 1, 1000);
  const first = set.find(records.slab, asked!)!;
  let kept = 1;
  const pages = (count: number): void => {
    fill(one, kept + 1, count * 16, 1000);
    kept += count * 16;
  };
  pages(5);
  t.true(first.isKept);
  pages(5);
  t.false(first.isKept);
});

test('what is carried over fills half a page at most', (t) => {
  const one = world(64 * 1024);
  const { set, records } = one;
  const all = fill(one, 1, 16, 1000);
  const kept = all.map((offset) => set.find(records.slab, offset)!);
  for (let from = 17; kept.every(({ isKept }) => isKept); from++) fill(one, from, 1, 1000);
  t.deepEqual(
    kept.map(({ isKept }) => isKept),
    kept.map((_, i) => i < 8),
  );
  t.deepEqual(
    all.map((offset) => set.find(records.slab, offset)),
    kept.map((one) => (one.isKept ? one : undefined)),
  );
});

test('what is carried over leaves room for what a page is begun for', (t) => {
  for (const bytes of [8200, 15_000, 16_384, 20_000]) {
    const one = world(64 * 1024);
    const { set, records, cache } = one;
    for (const offset of fill(one, 1, 16, 1000)) set.find(records.slab, offset);
    fill(one, 17, 48, 1000);
    const { offset } = records.write({ namespace: 'a', name: 'large' }, 100);
    const kept = cache.keep(set, records.slab, offset, Buffer.alloc(bytes, 0x79))!;
    t.true(kept.view(bytes).equals(Buffer.alloc(bytes, 0x79)));
    t.true(cache.bytes <= 65 * 1024);
  }
});

test('what names encodings counts as well', (t) => {
  const one = world(64 * 1024);
  const { set, records } = one;
  const all = fill(one, 1, 2000, 1);
  t.true(one.cache.bytes <= 65 * 1024);
  t.true(all.filter((offset) => set.find(records.slab, offset) !== undefined).length <= 512);
});

test('how long the first field of a message is, the number that says so may take several bytes', (t) => {
  const { cache, set, records } = world();
  for (const [revision, [length, field]] of (
    [
      [5, [0x0a, 5]],
      [0x7f, [0x0a, 0x7f]],
      [0x80, [0x0a, 0x80, 0x01]],
      [0x4081, [0x0a, 0x81, 0x81, 0x01]],
    ] as const
  ).entries()) {
    const { offset } = records.write({ namespace: 'a', name: `n${revision}` }, revision + 1);
    const kept = cache.keep(set, records.slab, offset, Buffer.concat([Buffer.from(field), Buffer.alloc(length + 9)]))!;
    t.is(kept.firstFieldBytes, field.length + length);
  }
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
