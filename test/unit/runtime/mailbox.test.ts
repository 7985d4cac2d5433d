import test from 'ava';
import type { Delivery, Drainable } from '../../../runtime/delivery.ts';
import { type Inbound, Mailbox } from '../../../runtime/mailbox.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { NO_REQUEST } from '../../../runtime/turn.ts';

const MAX = 3;
const MANY = 100;

/** A mailbox that is drained when the test says, and what became of the messages. */
function rig() {
  const due: Drainable[] = [];
  const delivery: Delivery = { schedule: (mailbox) => void due.push(mailbox), handsOverAtOnce: () => true };
  const mailbox = new Mailbox('a', MAX, delivery, new VirtualTime(), (error) => {
    throw error;
  });
  const seen: string[] = [];
  const handler = { onMessage: ({ type }: { readonly type: string }) => void seen.push(type) };
  /** A tell leaves its place when it has been handled, an ask not before it is answered. */
  const inbound = (isTell: boolean): Inbound => ({
    begin: () => true,
    end: () => {
      if (isTell) mailbox.release();
    },
    send: () => {},
    fail: () => {},
    drop: ({ code }) => void seen.push(code),
  });
  const take = (type: string, isTell = true): void => mailbox.accept({ type }, inbound(isTell), NO_REQUEST);
  const drain = (): void => {
    for (const each of due.splice(0)) each.drain(MANY);
  };
  return { mailbox, handler, seen, take, drain };
}

test('what is told finds room beside asks that are handled and not answered, and none beside as many that wait', (t) => {
  const { mailbox, handler, take, drain } = rig();
  mailbox.open(handler);
  for (let count = 0; count < MAX; count++) take('ask', false);
  t.deepEqual([mailbox.hasRoom(), mailbox.hasRoomToBeTold()], [false, false]);
  drain();
  t.deepEqual([mailbox.hasRoom(), mailbox.hasRoomToBeTold()], [false, true]);
  for (let count = 0; count < MAX; count++) take('tell');
  t.false(mailbox.hasRoomToBeTold());
});

test('a question is handed over at once only where nothing waits before it', (t) => {
  const { mailbox, handler, seen, take, drain } = rig();
  t.false(mailbox.isIdle(), 'its actor has not begun');
  mailbox.open(handler);
  t.true(mailbox.isIdle());
  take('tell');
  t.false(mailbox.isIdle(), 'it would overtake what was told');
  drain();
  t.true(mailbox.isIdle());
  t.deepEqual(seen, ['tell']);
});

test('a mailbox that closes drops what waits and what comes, with a word to each', (t) => {
  const { mailbox, handler, seen, take, drain } = rig();
  mailbox.open(handler);
  take('first', false);
  take('second', false);
  mailbox.close();
  take('third', false);
  drain();
  t.deepEqual(seen, ['ActorDown', 'ActorDown', 'ActorDown']);
  t.deepEqual([mailbox.hasRoom(), mailbox.hasRoomToBeTold(), mailbox.depth], [false, false, 0]);
});
