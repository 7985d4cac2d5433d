import anyTest, { type TestFn } from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { startInProcess } from '../../runtime/threads/in-process.ts';
import { NO_REQUEST, turn } from '../../runtime/turn.ts';
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

test('an idle actor on the same thread handles in the same turn what it is told soon, and else what it was told before', async (t) => {
  const running = await startInProcess({ actors, options: {}, environment: realEnvironment });
  const ref = running.ref<SubjectProtocol>('subject');
  t.is(ref.tellSoon({ type: 'note', note: 1 }), 'queued');
  t.is(ref.askSoon({ type: 'noteAndCount', note: 2 }, PATIENT), 2);
  ref.tell({ type: 'note', note: 3 });
  t.is(ref.tellSoon({ type: 'note', note: 4 }), 'queued');
  t.deepEqual(await ref.ask({ type: 'notes' }, PATIENT), [1, 2, 3, 4]);
  await running.stop();
});

test('what is asked for an answer soon is of the request that asks, where it names none', async (t) => {
  const running = await startInProcess({ actors, options: {}, environment: realEnvironment });
  const ref = running.ref<SubjectProtocol>('subject');
  turn.requestNumber = 7;
  const inherited = ref.askSoon({ type: 'requestNumber' }, PATIENT);
  const named = ref.askSoon({ type: 'requestNumber' }, { ...PATIENT, requestNumber: 8 });
  const left = turn.requestNumber;
  turn.requestNumber = NO_REQUEST;
  t.deepEqual([inherited, named, left], [[7], [8], 7]);
  await running.stop();
});

test('under test nobody changes what was sent, in whatever way it was', async (t) => {
  const running = await startInProcess({ actors, options: {}, environment: realEnvironment, freezeMessages: true });
  const ref = running.ref<SubjectProtocol>('subject');
  const told = { type: 'note', note: 1 } as const;
  ref.tell(told);
  const asked = { type: 'noteAndCount', note: 2 } as const;
  const soon = { ...asked };
  t.is(await ref.ask(asked, PATIENT), 2);
  t.is(ref.askSoon(soon, PATIENT), 3);
  const toldSoon = { ...told };
  ref.tellSoon(toldSoon);
  t.deepEqual([told, asked, soon, toldSoon].map(Object.isFrozen), [true, true, true, true]);
  await running.stop();
});
