import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { deltaBytesMax, readDelta, writeDelta } from '../../../storage/forms/value-delta.ts';

/** What tells `value` by `other`, written behind other bytes; undefined when that is no shorter. */
function deltaOf(value: Buffer, other: Buffer): Buffer | undefined {
  const target = Buffer.alloc(7 + deltaBytesMax(value.length));
  const end = writeDelta(target, 7, value, other);
  return end < 0 ? undefined : target.subarray(7, end);
}

const POD = JSON.stringify({
  kind: 'Pod',
  metadata: { name: 'a', resourceVersion: '1234567', labels: { step: '9' }, managedFields: 'f'.repeat(900) },
  spec: {
    containers: Array.from({ length: 8 }, (_, index) => ({ name: `c${index}`, image: `registry/image:${index}` })),
  },
});

test('a value that differs in a few places, one of another length, is told in a few bytes', (t) => {
  const other = POD.replace('1234567', '1234599').replace('"9"', '"10"').replace('image:7', 'image:8');
  const delta = deltaOf(Buffer.from(POD), Buffer.from(other))!;
  t.is(readDelta(delta, Buffer.from(other))?.toString(), POD);
  t.true(delta.length < 150, `${delta.length} bytes`);
});

test('a long part that is gone, and several places that change in length, are told in a few bytes', (t) => {
  const longer = POD.replace('"labels"', `"annotations":{"note":"${'n'.repeat(200)}"},"labels"`);
  const lengthened = POD.replace('"9"', '"10"').replace('image:2', 'image:22').replace('image:5', 'image:55');
  for (const [which, other] of Object.entries({ longer, lengthened })) {
    const delta = deltaOf(Buffer.from(POD), Buffer.from(other))!;
    t.is(readDelta(delta, Buffer.from(other))?.toString(), POD);
    t.true(delta.length < 160, `${which}: ${delta.length} bytes`);
  }
});

test('the same value is told in one step behind its head, and one that has nothing in common is not', (t) => {
  const value = Buffer.from(POD);
  const delta = deltaOf(value, Buffer.from(value))!;
  t.is(delta.length, 32);
  t.deepEqual(readDelta(delta, value), value);
  for (const other of ['', 'x', '-'.repeat(value.length)]) t.is(deltaOf(value, Buffer.from(other)), undefined);
  t.is(deltaOf(Buffer.alloc(0), value), undefined);
});

test('a value is told only where that is shorter, with what is its own behind what is alike', (t) => {
  const own = Buffer.from('c'.repeat(60));
  // Two steps with the head are 28 bytes, and the first sixteen are always told as they are.
  for (const [alikeBytes, isTold] of [
    [44, false],
    [45, true],
  ] as const) {
    const alike = Buffer.from('a'.repeat(alikeBytes));
    const delta = deltaOf(Buffer.concat([alike, own]), Buffer.concat([alike, Buffer.from('b'.repeat(60))]));
    t.is(delta !== undefined, isTold, `${alikeBytes} bytes alike`);
  }
});

/** The text with some of its parts removed, replaced, repeated or moved. */
function edited(random: SeededRandom, text: string): string {
  let result = text;
  for (let edits = random.below(5); edits > 0; edits--) {
    const from = random.below(result.length + 1);
    const to = Math.min(result.length, from + random.below(random.below(8) === 0 ? 400 : 12));
    const own = random.below(2) === 0 ? '' : result.slice(to, to + random.below(60));
    result = result.slice(0, from) + own + 'new'.repeat(random.below(3)) + result.slice(to);
  }
  return result;
}

test('whatever the two values are, a delta tells the one by the other and is shorter', (t) => {
  const random = new SeededRandom(5);
  let told = 0;
  for (let round = 0; round < 3000; round++) {
    const base = POD.repeat(random.below(3)) + POD.slice(0, random.below(POD.length));
    const [value, other] = [Buffer.from(edited(random, base)), Buffer.from(edited(random, base))];
    const delta = deltaOf(value, other);
    if (delta === undefined) continue;
    told++;
    t.true(delta.length < value.length);
    t.true(value.equals(readDelta(delta, other)!), `round ${round}`);
  }
  t.true(told > 2000, `${told} told`);
});

test('a delta that was cut short, or is of a longer value, tells nothing', (t) => {
  const value = Buffer.from(POD);
  const other = Buffer.from(POD.replace('"9"', '"10"'));
  const delta = deltaOf(value, other)!;
  for (let length = 0; length < delta.length; length++) t.is(readDelta(delta.subarray(0, length), other), undefined);
  t.is(readDelta(delta, other.subarray(1)), undefined);
  const endless = Buffer.from(delta);
  endless.writeUInt32LE(2 ** 32 - 1, 0);
  t.is(readDelta(endless, other), undefined);
});
