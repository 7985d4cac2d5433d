// How much the node listener keeps for clients that ask and do not read.
import test from 'ava';
import { PIPELINE_BYTES_MAX, WaitingAnswers } from '../../../transport/node/waiting-answers.ts';

const MEBIBYTE = 1024 * 1024;

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
  const waiting = new WaitingAnswers();
  const [one, another] = [connection(), connection()];
  t.true(waiting.admit(another, 200 * MEBIBYTE));
  for (let count = 0; count < 16; count++) t.true(waiting.admit(one, 8 * MEBIBYTE));
  t.false(waiting.admit(one, MEBIBYTE));
  t.deepEqual([one.isEnded, another.isEnded], [true, false]);
});

test('what has been taken does not count any more', (t) => {
  const waiting = new WaitingAnswers();
  const one = connection();
  for (let count = 0; count < 1000; count++) {
    t.true(waiting.admit(one, 8 * MEBIBYTE));
    waiting.gone(one, 8 * MEBIBYTE);
  }
  t.false(one.isEnded);
});

test('where too much waits for all together the connection that most waits on is ended', (t) => {
  const waiting = new WaitingAnswers();
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

test('pipelined answers of a connection are fewer before it is ended', (t) => {
  const waiting = new WaitingAnswers();
  const one = connection();
  t.true(waiting.admit(one, 10 * MEBIBYTE, PIPELINE_BYTES_MAX));
  t.false(waiting.admit(one, 10 * MEBIBYTE, PIPELINE_BYTES_MAX));
  t.true(one.isEnded);
});
