// Goal: what is copied is there, at every alignment, between memory of a thread's own and shared memory. Method: all pairs of the
// two, of lengths around a word, and distances from a multiple of eight.
import test from 'ava';
import { copyBytes } from '../../../values/copy-bytes.ts';

const ROOM = 64;
const own = (): Buffer => Buffer.from(new ArrayBuffer(ROOM));
const shared = (): Buffer => Buffer.from(new SharedArrayBuffer(ROOM));

for (const [how, from, to] of [
  ['own to own', own, own],
  ['own to shared', own, shared],
  ['shared to own', shared, own],
  ['shared to shared', shared, shared],
] as const)
  test(`bytes are copied to where they are to be, and nothing else is touched: ${how}`, (t) => {
    const source = from().map((_, i) => i + 1);
    for (const length of [0, 1, 7, 8, 9, 31])
      for (let start = 0; start < 8; start++)
        for (let at = 0; at < 8; at++) {
          const target = to().fill(0xee);
          t.is(copyBytes(target, at, source.subarray(start, start + length)), at + length);
          const expected = Buffer.alloc(ROOM, 0xee);
          for (let i = 0; i < length; i++) expected[at + i] = start + i + 1;
          t.is(target.compare(expected), 0, `${length} bytes from ${start} to ${at}`);
        }
  });
