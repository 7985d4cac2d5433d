// Goal: every number is found once, wherever the slices are cut. Method: texts cut in three at every pair of places.
import test from 'ava';
import { SequenceScanner } from '../../../bench/load/sequence-scanner.ts';

const texts: readonly (readonly [marker: string, text: string, numbers: readonly number[]])[] = [
  ['"seq":"', '{"seq":"00000001"}\n{"a":"seq","seq":"12345678"}\n', [1, 12345678]],
  ['"seq":"', '{"f:seq":{},"seq":"7","seq":"00000003"}', [3]],
  ['"seq":"', '""seq":"00000001""seq":"00000002"', [1, 2]],
  ['\n\x03seq\x12\x08', 'x\n\x03seq\x12\x0800000009\n\x03seq\x12\x0899999999y', [9, 99999999]],
  ['aa', 'aaa00000001aa00000002', [1, 2]],
  ['"seq":"', '{"seq":"0000000', []],
  ['s"', 'as"00000001 bbs"00000002 bbs"00000003 s"00000004 bbs"00000005', [1, 2, 3, 4, 5]],
  ['s"', 's"00000001 s"00000002 s"x0000000 s"00000003s"00000004', [1, 2, 3, 4]],
];

for (const [index, [marker, text, numbers]] of texts.entries()) {
  test(`finds the numbers of text ${index + 1} however it is cut`, (t) => {
    const bytes = Buffer.from(text, 'latin1');
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const found: number[] = [];
        const scanner = new SequenceScanner(Buffer.from(marker, 'latin1'), (sequence) => found.push(sequence));
        scanner.feed(bytes, 0, first);
        scanner.feed(bytes, first, second);
        scanner.feed(bytes, second, bytes.length);
        t.deepEqual(found, numbers, `cut at ${first} and ${second}`);
      }
    }
  });
}
