// What sockets have not taken: copies, whose memory is used again.
import test from 'ava';
import { UnsentRest } from '../../../transport/uws/unsent-rest.ts';

const LENGTHS = [1, 40_000, 272 * 1024, 300_000];
const filled = (length: number, byte: number): Buffer => Buffer.alloc(length, byte);

test('a rest is what the bytes were, whatever becomes of them and of other rests', (t) => {
  const rests: { readonly rest: UnsentRest; readonly expected: Buffer }[] = [];
  for (let round = 0; round < 40; round++) {
    const bytes = filled(LENGTHS[round % LENGTHS.length]!, round);
    rests.push({ rest: new UnsentRest(bytes), expected: filled(bytes.length, round) });
    bytes.fill(0xff);
    // Twice counts as once: the memory is another's after the first time.
    if (round % 3 === 0) for (let times = 0; times < 2; times++) rests[round]!.rest.drop();
  }
  for (const [round, { rest, expected }] of rests.entries())
    if (round % 3 !== 0) t.deepEqual(Buffer.from(rest.bytes), expected, `${round}`);
  for (const { rest } of rests) rest.drop();
});

test('what long rests lie in is used again, and no more of it is held than for a few', (t) => {
  const memoryOf = (rests: readonly UnsentRest[]): Set<ArrayBufferLike> =>
    new Set(rests.map(({ bytes }) => bytes.buffer));
  const make = (): UnsentRest[] => Array.from({ length: 20 }, () => new UnsentRest(filled(50_000, 1)));
  const first = make();
  const rooms = [...memoryOf(first)].filter(({ byteLength }) => byteLength > 50_000);
  t.is(rooms.length, 8);
  for (const rest of first) rest.drop();
  const second = make();
  const again = memoryOf(second);
  t.true(rooms.every((room) => again.has(room)));
  for (const rest of second) rest.drop();
});
