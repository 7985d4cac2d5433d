// Questions to webhooks: which failures are tried again, when, and for how long.
import test from 'ava';
import {
  askAsTold,
  askWebhook,
  Remembered,
  reviewIn,
  tellingTime,
  type WebhookEnvironment,
} from '../../../actors/outside/webhook-call.ts';
import type { ServiceConnection } from '../../../transport/outgoing/connection-file.ts';
import { ServiceCallFailed, ServiceRefused } from '../../../transport/outgoing/service-client.ts';

/** Time that goes by only while somebody waits. */
function world(answers: readonly (unknown | Error)[], callMs = 0) {
  const waits: number[] = [];
  const deadlines: number[] = [];
  const onlyAsking: boolean[] = [];
  let nowMs = 0;
  const environment: WebhookEnvironment = {
    clock: { monotonicMs: () => nowMs, nowMs: () => nowMs },
    timers: {
      after(delayMs, callback) {
        waits.push(Math.round(delayMs));
        nowMs += delayMs;
        queueMicrotask(callback);
        return { cancel() {} };
      },
      every: () => ({ cancel() {} }),
      soon: queueMicrotask,
    },
    random: { next: () => 0.5 },
  };
  let calls = 0;
  const client = {
    async post(_json: string, deadlineMs: number, _place?: unknown, doesNothing = false): Promise<unknown> {
      onlyAsking.push(doesNothing);
      deadlines.push(Math.round(deadlineMs));
      nowMs += callMs;
      const answer = answers[Math.min(calls++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return {
    ask: () => askWebhook(client, {}, environment),
    askAsTold: (forMs: number) => askAsTold((leftMs) => client.post('', leftMs), forMs, environment),
    waits,
    deadlines,
    onlyAsking,
    calls: () => calls,
  };
}

const PASSING = new ServiceCallFailed('the service answered 500', true);
const FINAL = new ServiceCallFailed('the service answered 400', false);

test('what may pass is asked again, each time a little later, with what is left of the time', async (t) => {
  const { ask, waits, deadlines, onlyAsking } = world([PASSING, PASSING, { yes: true }], 1000);
  t.deepEqual(await ask(), { yes: true });
  t.deepEqual(onlyAsking, [true, true, true], 'a kept connection that ends costs no wait');
  t.deepEqual(waits, [550, 825]);
  t.deepEqual(deadlines, [30_000, 28_450, 26_625]);
});

test('five tries are enough', async (t) => {
  const { ask, calls } = world([PASSING]);
  await t.throwsAsync(ask(), { is: PASSING });
  t.is(calls(), 5);
});

test('a service that says when to come again is asked then, however often, and not sooner than another', async (t) => {
  const busy = new ServiceRefused(429, '', 2000);
  const { ask, waits } = world([...Array(7).fill(busy), new ServiceRefused(503, '', 0), PASSING, { yes: true }]);
  t.deepEqual(await ask(), { yes: true });
  t.deepEqual(waits, [...Array(7).fill(2000), 550, 550]);
  const never = world([busy]);
  await t.throwsAsync(never.ask(), { is: busy });
  t.is(never.calls(), 15, 'until the time is over');
});

test('a service is told how long its answer is waited for', (t) => {
  const connection = { url: 'https://judge/ask?of=me', serverName: 'judge' } as ServiceConnection;
  t.like(tellingTime(connection), { url: 'https://judge/ask?of=me&timeout=30s', serverName: 'judge' });
});

test('what does not pass is not asked again, and neither is what nobody foresaw', async (t) => {
  for (const error of [FINAL, new Error('on purpose')]) {
    const { ask, calls } = world([error]);
    await t.throwsAsync(ask(), { is: error });
    t.is(calls(), 1);
  }
});

test('when the time is over there is no other try', async (t) => {
  const { ask, calls } = world([PASSING], 29_900);
  await t.throwsAsync(ask(), { is: PASSING });
  t.is(calls(), 1);
});

test('a service that answers once is asked again when it says so, while there is time, and so often', async (t) => {
  const busy = new ServiceRefused(503, '', 2000);
  const soon = world([busy, busy, { yes: true }], 100);
  t.deepEqual(await soon.askAsTold(10_000), { yes: true });
  t.deepEqual(soon.waits, [2000, 2000]);
  t.deepEqual(soon.deadlines, [10_000, 7900, 5800]);
  const late = world([busy, busy, { yes: true }], 100);
  await t.throwsAsync(late.askAsTold(3000), { is: busy });
  t.is(late.calls(), 2);
  const never = world([new ServiceRefused(429, '', 0)]);
  await t.throwsAsync(never.askAsTold(10_000));
  t.is(never.calls(), 11);
  const justLate = world([busy, { yes: true }]);
  await t.throwsAsync(justLate.askAsTold(2000), { is: busy });
  t.deepEqual(await world([busy, { yes: true }]).askAsTold(2001), { yes: true });
  const failing = world([PASSING]);
  await t.throwsAsync(failing.askAsTold(10_000), { is: PASSING });
  t.is(failing.calls(), 1);
});

test('an answer is the review that was sent, whether it says so or nothing, and no other', (t) => {
  const sent = { kind: 'Review', apiVersion: 'judges/v1' };
  const read = (answer: unknown): unknown => reviewIn(answer, sent, { allowed: 'bool' });
  const status = { allowed: true };
  for (const named of [sent, {}, { kind: '', apiVersion: '' }, { kind: 'Review' }, { apiVersion: 'judges/v1' }])
    t.deepEqual(read({ ...named, status }), { ...named, status });
  t.deepEqual(read(null), {});
  for (const other of [
    { ...sent, kind: 'Other' },
    { ...sent, apiVersion: 'judges/v2' },
    { kind: 7 },
    [sent],
    'text',
    1,
  ])
    t.is(read(other), undefined);
  const error = t.throws(() => read({ ...sent, status: { allowed: 'yes' } }), { instanceOf: ServiceCallFailed });
  t.regex(error.message, /review that cannot be read: .*allowed/);
  t.false((error as ServiceCallFailed).mayRepeat, 'it would say the same again');
});

test('an answer is remembered for as long as it is said to hold, and what is asked with a long text not at all', (t) => {
  let nowMs = 0;
  const answers = new Remembered<string>({ monotonicMs: () => nowMs, nowMs: () => 0 });
  const long = 'k'.repeat(10_000);
  for (const key of ['k', long, `${long}k`]) answers.set(key, 'yes', 1000);
  answers.set('never', 'yes', 0);
  const known = (): unknown[] => ['k', long, `${long}k`, 'never', 'nobody'].map((key) => answers.get(key));
  nowMs = 999;
  t.deepEqual(known(), ['yes', 'yes', undefined, undefined, undefined]);
  nowMs = 1000;
  t.deepEqual(known(), Array(5).fill(undefined));
  answers.set('k', 'no', 1000);
  t.is(answers.get('k'), 'no');
});
