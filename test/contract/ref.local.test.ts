import anyTest, { type TestFn } from 'ava';
import { startInProcess } from '../../runtime/in-process.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { PATIENT, refContract } from './ref-contract.ts';
import { actors, type SubjectProtocol } from './ref-subject.ts';

const test = anyTest as TestFn;
// The environment's timers do not keep a process alive; this one does.
const awake = setInterval(() => {}, 1000);
test.after.always(() => clearInterval(awake));

for (const freezeMessages of [false, true]) {
  refContract(test, freezeMessages ? 'local, frozen' : 'local', { refusesNonPlain: freezeMessages }, async () => {
    const running = await startInProcess({ actors, options: {}, environment: realEnvironment, freezeMessages });
    return { ref: running.ref<SubjectProtocol>('subject'), stop: () => running.stop() };
  });
}

test('an idle actor on the same thread answers in the same turn', async (t) => {
  const running = await startInProcess({ actors, options: {}, environment: realEnvironment });
  const ref = running.ref<SubjectProtocol>('subject');
  t.is(ref.askSoon({ type: 'noteAndCount', note: 1 }, PATIENT), 1);
  ref.tell({ type: 'note', note: 2 });
  const behind = ref.askSoon({ type: 'noteAndCount', note: 3 }, PATIENT);
  t.true(behind instanceof Promise);
  t.is(await behind, 3);
  await running.stop();
});
