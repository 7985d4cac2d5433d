// What a client has not taken that is not read meanwhile: when it is tried again, and when the client is read on.
import test from 'ava';
import { SendingByTries, type Tried } from '../../../../transport/uws/sending-by-tries.ts';

function world(outcomes: Tried[], address = new ArrayBuffer(4)) {
  const calls: string[] = [];
  const socket = {
    pause: () => calls.push('pause'),
    close: () => {
      calls.push('close');
      over();
    },
    getRemoteAddress: () => address,
  };
  let over = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  const attempt = (): Tried => {
    const tried = outcomes.shift()!;
    calls.push(tried);
    return tried;
  };
  const sending = new SendingByTries(socket, 2, attempt, () => {
    calls.push(`sent, ${sending.isUnderWay ? 'under way' : 'over'}`);
    over();
  });
  return { sending, calls, isOver, socket };
}

test('it is tried until all is sent, and the client not read between two tries', async (t) => {
  const { sending, calls, isOver } = world(['nothing', 'some', 'all']);
  t.false(sending.isUnderWay);
  sending.begin();
  sending.begin();
  t.true(sending.isUnderWay);
  await isOver;
  t.deepEqual(calls, ['pause', 'nothing', 'pause', 'some', 'pause', 'all', 'sent, over']);
});

test('one that is stopped tries no more, whoever stops it', async (t) => {
  const { sending, calls } = world(['all']);
  t.false(sending.stop());
  sending.begin();
  t.true(sending.stop());
  t.false(sending.isUnderWay);
  const own = world([]);
  const stopped = new Promise<void>((resolve) => {
    const inside = new SendingByTries(
      own.socket,
      2,
      () => {
        inside.stop();
        resolve();
        return 'nothing';
      },
      () => t.fail(),
    );
    inside.begin();
  });
  await stopped;
  t.deepEqual([calls, own.calls], [['pause'], ['pause']]);
});

test('a client that has gone is closed with the first try that sends nothing', async (t) => {
  const { sending, calls, isOver } = world(['some', 'nothing'], new ArrayBuffer(0));
  sending.begin();
  await isOver;
  t.deepEqual(calls, ['pause', 'some', 'pause', 'nothing', 'close']);
  sending.stop();
});
