// Answers of the node listener whose clients do not take them: who of them gets a timer.
import test from 'ava';
import { type Untaken, UntakenAnswers } from '../../../transport/node/untaken-answers.ts';

// The looks' own timer does not keep a process alive.
const alive = setInterval(() => {}, 1000);
test.after.always(() => clearInterval(alive));

interface Answer extends Untaken {
  readonly timed: Promise<() => void>;
  isTimed: boolean;
  isCut: boolean;
}

function answer(): Answer {
  let timedWith: (callback: () => void) => void = () => {};
  const timed = new Promise<() => void>((resolve) => {
    timedWith = resolve;
  });
  const made: Answer = {
    timed,
    isTimed: false,
    isCut: false,
    setTimeout(_ms, callback) {
      made.isTimed = true;
      timedWith(callback);
    },
    destroy() {
      made.isCut = true;
    },
  };
  return made;
}

test('an answer that stays untaken is cut off when nothing of it has moved for long', async (t) => {
  const answers = new UntakenAnswers(1);
  const stuck = answer();
  answers.add(stuck);
  const expire = await stuck.timed;
  t.false(stuck.isCut);
  expire();
  t.true(stuck.isCut);
});

test('an answer that was taken gets no timer, whether a look has seen it or not', async (t) => {
  const answers = new UntakenAnswers(1);
  const [taken, takenLater, first] = [answer(), answer(), answer()];
  answers.add(taken);
  answers.delete(taken);
  answers.add(first);
  await first.timed;
  const [second, third] = [answer(), answer()];
  answers.add(takenLater);
  answers.add(second);
  answers.delete(takenLater);
  await second.timed;
  answers.add(third);
  await third.timed;
  t.false(taken.isTimed);
  t.false(takenLater.isTimed);
});
