// Pods that permit plug-ins make wait: what lets one go on, and what ends its wait otherwise.
import test from 'ava';
import { type PermitWaits, WaitingPods } from '../../../actors/scheduler/core/waiting-pods.ts';
import { refusal, type Status } from '../../../actors/scheduler/status.ts';

const pod = (uid: string) => ({ key: `default/${uid}`, uid });
const waitsOf = (...waits: readonly (readonly [plugin: string, waitMs: number])[]): PermitWaits =>
  new Map(waits.map(([plugin, waitMs]) => [plugin, { waitMs }]));

/** Pods that wait, and what became of each: its reasons, or `go on`. */
function waitingPods() {
  const waiting = new WaitingPods();
  const done: string[] = [];
  const add = (uid: string, waits: PermitWaits, nowMs = 0): void =>
    waiting.add(pod(uid), waits, nowMs, (status) => done.push(`${uid}: ${status?.reasons.join() ?? 'go on'}`));
  return { waiting, done, add };
}

test('a pod goes on when each plug-in that made it wait has allowed it, and once', (t) => {
  const { waiting, done, add } = waitingPods();
  add('p', waitsOf(['a', 100], ['b', 100]));
  t.deepEqual(waiting.uids(), ['p']);
  for (const plugin of ['a', 'a', 'other']) waiting.allow('p', plugin);
  waiting.allow('nobody', 'b');
  t.deepEqual(done, []);
  for (let again = 0; again < 2; again++) waiting.allow('p', 'b');
  t.deepEqual(done, ['p: go on']);
  t.is(waiting.size, 0);
});

test('a pod that one plug-in rejects waits for no other', (t) => {
  const { waiting, done, add } = waitingPods();
  add('p', waitsOf(['a', 100], ['b', 100]));
  add('q', waitsOf(['a', 100]));
  t.true(waiting.reject('p', 'no room'));
  t.false(waiting.reject('p', 'no room'));
  t.deepEqual(done, ['p: no room']);
  t.deepEqual(waiting.uids(), ['q']);
});

test('what a plug-in is asked as the wait begins counts for that wait alone', (t) => {
  const { waiting, done, add } = waitingPods();
  const answers: ((status: Status | null) => void)[] = [];
  const asking: PermitWaits = new Map([['a', { waitMs: 100, begin: (answer) => void answers.push(answer) }]]);
  add('p', asking);
  waiting.reject('p', 'gone');
  add('p', asking);
  const [late, allows] = answers;
  late!(null);
  t.is(waiting.size, 1, 'it comes too late for the first wait, and is not of the second');
  allows!(null);
  add('p', asking);
  answers[2]!(refusal('unschedulable', 0, 'not here'));
  t.deepEqual(done, ['p: gone', 'p: go on', 'p: not here']);
});

test('a pod whose place is its own no more waits no longer', (t) => {
  const { waiting, done, add } = waitingPods();
  for (const uid of ['p', 'q', 'r']) add(uid, waitsOf(['a', 100]));
  waiting.keepOnly(({ key }) => key === 'default/q');
  t.deepEqual(done, ['p: removed', 'r: removed']);
  t.deepEqual(waiting.uids(), ['q']);
});

test('a pod waits for each plug-in as long as that has asked for, and is rejected once', (t) => {
  const { waiting, done, add } = waitingPods();
  t.is(waiting.nextDueMs(), undefined);
  add('p', waitsOf(['a', 3000], ['b', 2000]), 1000);
  add('q', waitsOf(['a', 9000]), 1000);
  t.is(waiting.nextDueMs(), 3000);
  waiting.expire(2999);
  t.deepEqual(done, []);
  waiting.allow('p', 'b');
  t.is(waiting.nextDueMs(), 4000);
  add('both', waitsOf(['a', 1000], ['b', 2000]), 1000);
  waiting.expire(4000);
  t.deepEqual(done, [
    'p: rejected due to timeout after waiting 3s at plugin a',
    'both: rejected due to timeout after waiting 1s at plugin a',
  ]);
  t.is(waiting.nextDueMs(), 10_000);
});
