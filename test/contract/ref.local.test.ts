import anyTest, { type TestFn } from 'ava';
import { startInProcess } from '../../runtime/in-process.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { refContract } from './ref-contract.ts';
import { roster, type SubjectProtocol } from './ref-subject.ts';

const test = anyTest as TestFn;
// The environment's timers do not keep a process alive; this one does.
const awake = setInterval(() => {}, 1000);
test.after.always(() => clearInterval(awake));

for (const freezeMessages of [false, true]) {
  refContract(test, freezeMessages ? 'local, frozen' : 'local', { refusesNonPlain: freezeMessages }, async () => {
    const running = await startInProcess({ actors: roster, options: {}, environment: realEnvironment, freezeMessages });
    return { ref: running.ref<SubjectProtocol>('subject'), stop: () => running.stop() };
  });
}
