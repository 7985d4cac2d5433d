// Steps that wait for the batch that is being written.
import test from 'ava';
import { SettledSteps } from '../../../actors/store/settled-steps.ts';

test('a step is taken at once between batches, else once behind the one being written', (t) => {
  let isSettled = true;
  const steps = new SettledSteps(() => isSettled);
  const taken: string[] = [];
  const [one, other] = ['one', 'other'].map((name) => () => void taken.push(name));
  steps.when(one!);
  t.deepEqual(taken.splice(0), ['one']);
  isSettled = false;
  for (const step of [one!, other!, one!]) steps.when(step);
  t.deepEqual(taken, []);
  isSettled = true;
  steps.run();
  steps.run();
  t.deepEqual(taken, ['one', 'other']);
});

test('a question that cannot be answered fails, and those behind it are answered', (t) => {
  const steps = new SettledSteps(() => false);
  const answers: unknown[] = [];
  const reply = {
    isAwaited: true,
    send: (value: unknown) => void answers.push(value),
    fail: () => void answers.push('failed'),
  };
  steps.answer(reply, () => {
    throw new Error('no');
  });
  steps.answer(reply, () => 7);
  steps.run();
  t.deepEqual(answers, ['failed', 7]);
});
