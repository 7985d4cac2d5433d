// A question that many ask at once: how often it is asked, and whose answer each is given.
import test from 'ava';
import { MergedAsks } from '../../../runtime/messages/merged-asks.ts';

/** Asks, each answered by the test with its number or an error. */
function asked() {
  const answers: ((error?: Error) => void)[] = [];
  const asks = new MergedAsks(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = answers.length + 1;
        answers.push((error) => (error === undefined ? resolve(number) : reject(error)));
      }),
  );
  return { asks, answers };
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('all who ask in one step share an answer', async (t) => {
  const { asks, answers } = asked();
  const given = [asks.answer(), asks.answer()];
  await settled();
  t.is(answers.length, 1);
  answers[0]!();
  t.deepEqual(await Promise.all(given), [1, 1]);
});

test('who asks while an answer is under way takes part in the next, which is asked for when that one has come', async (t) => {
  const { asks, answers } = asked();
  const first = asks.answer();
  await settled();
  const late = [asks.answer(), asks.answer()];
  await settled();
  t.is(answers.length, 1, 'one at a time');
  answers[0]!();
  t.is(await first, 1);
  await settled();
  t.is(answers.length, 2);
  answers[1]!();
  t.deepEqual(await Promise.all(late), [2, 2]);
  const again = asks.answer();
  await settled();
  answers[2]!();
  t.is(await again, 3, 'no answer is kept');
});

test('that a question failed is told those alone who asked it', async (t) => {
  const { asks, answers } = asked();
  const first = asks.answer();
  await settled();
  const next = asks.answer();
  answers[0]!(new Error('no answer'));
  await t.throwsAsync(first, { message: 'no answer' });
  await settled();
  answers[1]!();
  t.is(await next, 2);
});
