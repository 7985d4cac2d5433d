// Goal: every marker is found once, wherever the slices are cut, and its value is read whole. Method: texts cut in three
// at every pair of places, beside a plain search.
import test from 'ava';
import { MarkerScanner } from '../../../bench/load/marker-scanner.ts';

const texts: readonly (readonly [marker: string, text: string, values: readonly string[]])[] = [
  ['"seq":"', '{"seq":"00000001"}\n{"a":"seq","seq":"00000002"}\n', ['00000001', '00000002']],
  ['"seq":"', '{"f:seq":{},"seq":"7"}', ['7']],
  ['"seq":"', '""seq":"1""seq":"2"', ['1', '2']],
  ['"seq":"', '{"seq":""}', ['']],
  ['aab"', 'aaab"x"aab"y"', ['x', 'y']],
  ['"seq":"', '{"data":{}}', []],
];

for (const [index, [marker, text, values]] of texts.entries()) {
  test(`finds the markers of text ${index + 1} however it is cut`, (t) => {
    const bytes = Buffer.from(text);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const found: string[] = [];
        const reader = new MarkerScanner(marker, (value) => found.push(value));
        const counter = new MarkerScanner(marker);
        for (const [start, end] of [
          [0, first],
          [first, second],
          [second, bytes.length],
        ] as const) {
          reader.feed(bytes, start, end);
          counter.feed(bytes, start, end);
        }
        t.deepEqual(found, values, `cut at ${first} and ${second}`);
        t.is(counter.count, values.length);
      }
    }
  });
}

test('a marker half seen is forgotten when another body begins', (t) => {
  const scanner = new MarkerScanner('"seq":"');
  const bytes = Buffer.from('"seq":"1"');
  scanner.feed(bytes, 0, 4);
  scanner.reset();
  scanner.feed(bytes, 4, bytes.length);
  t.is(scanner.count, 0);
});

test('a slice says nothing about the bytes around it', (t) => {
  const scanner = new MarkerScanner('"seq":"');
  scanner.feed(Buffer.from('"seq":"1"'), 1, 9);
  scanner.feed(Buffer.from('"seq":"1"'), 0, 6);
  t.is(scanner.count, 0);
});

test('a value without an end does not grow without bound', (t) => {
  const values: string[] = [];
  const scanner = new MarkerScanner('"v":"', (value) => values.push(value));
  const start = Buffer.from('"v":"');
  scanner.feed(start, 0, start.length);
  for (let round = 0; round < 100; round += 1) scanner.feed(Buffer.alloc(1000, 'x'), 0, 1000);
  scanner.feed(Buffer.from('"'), 0, 1);
  t.is(values.length, 1);
  t.true(values[0]!.length <= 64);
});
