// How much a listener keeps for clients that ask and do not read, or that send and do not end.
import test from 'ava';
import { GatheredBody } from '../../../transport/gathered-body.ts';
import { KeptBytes } from '../../../transport/kept-bytes.ts';

const MEBIBYTE = 1024 * 1024;
const ALL_MAX = 512 * MEBIBYTE;

function connection() {
  const made = {
    isEnded: false,
    destroy: () => {
      made.isEnded = true;
    },
  };
  return made;
}

test('a connection on which too much waits is ended, and one answer is let pass however large it is', (t) => {
  const waiting = new KeptBytes(ALL_MAX);
  const [one, another] = [connection(), connection()];
  t.true(waiting.admit(another, 200 * MEBIBYTE));
  for (let count = 0; count < 16; count++) t.true(waiting.admit(one, 8 * MEBIBYTE, 128 * MEBIBYTE));
  t.false(waiting.admit(one, MEBIBYTE, 128 * MEBIBYTE));
  t.deepEqual([one.isEnded, another.isEnded], [true, false]);
});

test('what has been taken does not count any more', (t) => {
  const waiting = new KeptBytes(ALL_MAX);
  const one = connection();
  for (let count = 0; count < 1000; count++) {
    t.true(waiting.admit(one, 8 * MEBIBYTE));
    waiting.gone(one, 8 * MEBIBYTE);
  }
  t.false(one.isEnded);
});

test('where too much waits for all together the connection that most waits on is ended', (t) => {
  const waiting = new KeptBytes(ALL_MAX);
  const many = Array.from({ length: 5 }, connection);
  const greedy = connection();
  for (let count = 0; count < 12; count++) t.true(waiting.admit(greedy, 10 * MEBIBYTE));
  for (const one of many) for (let count = 0; count < 8; count++) t.true(waiting.admit(one, 10 * MEBIBYTE));
  t.true(greedy.isEnded);
  t.false(waiting.admit(greedy, MEBIBYTE));
  waiting.gone(greedy, 10 * MEBIBYTE);
  t.true(waiting.admit(connection(), MEBIBYTE));
  t.deepEqual(
    many.map(({ isEnded }) => isEnded),
    [false, false, false, false, false],
  );
});

test('the connection that most waits on is ended, wherever it stands among the others', (t) => {
  for (const order of ['first', 'middle', 'last']) {
    const waiting = new KeptBytes(11);
    const [greedy, one, two] = [connection(), connection(), connection()];
    const all = { first: [greedy, one, two], middle: [one, greedy, two], last: [one, two, greedy] }[order]!;
    for (const each of all) waiting.admit(each, each === greedy ? 5 : 3);
    t.true(waiting.admit(one, 1));
    t.deepEqual(
      [greedy, one, two].map(({ isEnded }) => isEnded),
      [true, false, false],
      order,
    );
  }
});

test('pipelined answers of a connection are fewer before it is ended', (t) => {
  const waiting = new KeptBytes(ALL_MAX);
  const one = connection();
  t.true(waiting.admit(one, 10 * MEBIBYTE, 16 * MEBIBYTE));
  t.false(waiting.admit(one, 10 * MEBIBYTE, 16 * MEBIBYTE));
  t.true(one.isEnded);
});

test('a body is kept until its request is answered, and nothing of it that comes later', (t) => {
  const kept = new KeptBytes(3 * MEBIBYTE);
  const [answered, waiting] = [connection(), connection()];
  const body = new GatheredBody(kept, answered);
  body.add(new Uint8Array(2 * MEBIBYTE));
  body.letGo();
  body.add(new Uint8Array(2 * MEBIBYTE));
  t.is(body.whole().length, 0);
  const other = new GatheredBody(kept, waiting);
  other.add(new Uint8Array(3 * MEBIBYTE));
  t.is(other.whole().length, 3 * MEBIBYTE);
  t.deepEqual([answered.isEnded, waiting.isEnded], [false, false]);
});

test('a body counts while it is worked on, and who has sent most is ended where there is too much', (t) => {
  const kept = new KeptBytes(3 * MEBIBYTE);
  const [large, small] = [connection(), connection()];
  const whole = new GatheredBody(kept, large);
  whole.add(new Uint8Array(2 * MEBIBYTE));
  t.is(whole.whole().length, 2 * MEBIBYTE);
  const body = new GatheredBody(kept, small);
  body.add(new Uint8Array(1.5 * MEBIBYTE));
  t.deepEqual([large.isEnded, small.isEnded], [true, false]);
  t.is(body.whole().length, 1.5 * MEBIBYTE);
});
