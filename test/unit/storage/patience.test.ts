// How long what nobody answers is asked again, and how often.
import test from 'ava';
import type { Timer, Timers } from '../../../runtime/environment.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { askedAgain } from '../../../storage/etcd/asked-again.ts';
import { EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { Patience } from '../../../storage/etcd/patience.ts';

const LONG_MS = 30_000;
const silence = (): Promise<never> => Promise.reject(new EtcdError('unknown', 'no answer'));

/** Lets time go by, and all that follows from it, until something has come of a promise; not for ever. */
async function until(time: VirtualTime, promise: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  promise.then(over, over);
  for (let left = 1000; left > 0 && !isOver; left--) await time.advance(100);
}

test('between two tries is twice the time of before, up to a second', async (t) => {
  const time = new VirtualTime();
  const patience = new Patience(time, () => t.fail());
  const asked: number[] = [];
  const answer = patience.persistently(() => {
    asked.push(time.monotonicMs());
    return asked.length > 9 ? Promise.resolve('it') : silence();
  });
  await until(time, answer);
  t.is(await answer, 'it');
  t.deepEqual(
    asked.slice(1).map((atMs, index) => atMs - asked[index]!),
    [20, 40, 80, 160, 320, 640, 1000, 1000, 1000],
  );
});

test('what is answered with a refusal, or with anything but silence, is not asked again', async (t) => {
  const patience = new Patience(new VirtualTime(), () => t.fail());
  for (const error of [new EtcdError('refused', 'no'), new EtcdError('compacted', 'gone'), new Error('a bug')]) {
    let tries = 0;
    const ask = (): Promise<never> => {
      tries++;
      return Promise.reject(error);
    };
    t.is(await t.throwsAsync(patience.persistently(ask)), error);
    t.is(tries, 1);
  }
});

test('once it is over nothing is asked again', async (t) => {
  const time = new VirtualTime();
  const patience = new Patience(time, () => t.fail());
  let tries = 0;
  const answer = patience.persistently(() => {
    tries++;
    return silence();
  });
  const refused = t.throwsAsync(answer, { message: 'no answer' });
  patience.end();
  await until(time, answer);
  await refused;
  t.is(tries, 1);
});

test('what is asked for so long is given up then, and a start says once before that it waits', async (t) => {
  const time = new VirtualTime();
  const said: string[] = [];
  const patience = new Patience(time, (text) => said.push(text));
  for (const ask of ['asked', 'atStart'] as const) {
    const begunMs = time.monotonicMs();
    const answer = patience[ask](LONG_MS, silence);
    const refused = t.throwsAsync(answer, { message: 'no answer' });
    await until(time, answer);
    t.like(await refused, { code: 'StoreUnusable' });
    const waitedMs = time.monotonicMs() - begunMs;
    t.true(waitedMs >= LONG_MS && waitedMs < LONG_MS + 2000);
  }
  t.deepEqual(said, ["the start waits up to 30 s for the store's cluster: no answer"]);
});

test('what was answered leaves no timer behind', async (t) => {
  let waiting = 0;
  const after = (): Timer => {
    waiting++;
    return { cancel: () => void waiting-- };
  };
  const patience = new Patience({ after } as unknown as Timers, () => t.fail());
  t.is(await patience.asked(LONG_MS, () => Promise.resolve('it')), 'it');
  await t.throwsAsync(patience.asked(LONG_MS, () => Promise.reject(new EtcdError('refused', 'no'))));
  t.is(waiting, 0);
});

test('a command asks a silent cluster again, twelve times at most and a second apart at most', async (t) => {
  const time = new VirtualTime();
  const asked: number[] = [];
  const ask = (): Promise<never> => {
    asked.push(time.monotonicMs());
    return silence();
  };
  const answer = askedAgain(time, ask);
  const refused = t.throwsAsync(answer, { message: 'no answer' });
  await until(time, answer);
  t.like(await refused, { code: 'StoreUnusable' });
  t.deepEqual(
    asked.slice(1).map((atMs, index) => atMs - asked[index]!),
    [20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 1000, 1000, 1000],
  );
});

test('a command is given the first answer, and a refusal at once', async (t) => {
  const time = new VirtualTime();
  let tries = 0;
  const answer = askedAgain(time, () => (++tries < 3 ? silence() : Promise.resolve('it')));
  await until(time, answer);
  t.is(await answer, 'it');
  t.is(tries, 3);
  const refused = askedAgain(time, () => Promise.reject(new EtcdError('refused', 'no')));
  t.like(await t.throwsAsync(refused, { message: 'no' }), { code: 'StoreUnusable' });
  const bug = new Error('a bug');
  t.is(await t.throwsAsync(askedAgain(time, () => Promise.reject(bug))), bug);
});
