import test from 'ava';
import type { Delivery, Drainable } from '../../../runtime/messages/delivery.ts';
import { type Inbound, Mailbox } from '../../../runtime/messages/mailbox.ts';
import { NO_REQUEST, turn } from '../../../runtime/turn.ts';

const MAX = 3;
const MANY = 100;

/** A mailbox that is drained when the test says, and what became of the messages. */
function rig() {
  const due: Drainable[] = [];
  const delivery: Delivery = { schedule: (mailbox) => void due.push(mailbox), handsOverAtOnce: () => true };
  let elapsedMs = 0;
  const clock = { nowMs: () => elapsedMs, monotonicMs: () => elapsedMs };
  const spend = (ms: number): void => {
    elapsedMs += ms;
  };
  const rethrow = (error: unknown): never => {
    throw error;
  };
  const mailbox = new Mailbox('a', MAX, delivery, clock, rethrow, true);
  const seen: string[] = [];
  const handler = { onMessage: ({ type }: { readonly type: string }) => void seen.push(type) };
  /** A tell leaves its place when it has been handled, an ask not before it is answered. */
  const inbound = (isTell: boolean): Inbound => ({
    begin: () => true,
    end: () => {
      if (isTell) mailbox.release();
    },
    isAwaited: !isTell,
    send: () => {},
    fail: () => {},
    drop: ({ code }) => void seen.push(code),
  });
  const take = (type: string, isTell = true): void => mailbox.accept({ type }, inbound(isTell), NO_REQUEST);
  /** Answers how many times the mailbox was due. */
  const drain = (messagesMax = MANY): number => {
    const drained = due.splice(0);
    for (const each of drained) each.drain(messagesMax);
    return drained.length;
  };
  return { mailbox, handler, seen, inbound, take, drain, spend };
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

test('what one drain leaves behind is due again, once', (t) => {
  const { mailbox, handler, seen, take, drain } = rig();
  take('before it was open');
  mailbox.open(handler);
  for (const type of ['second', 'third']) take(type);
  t.is(drain(2), 1);
  t.deepEqual(seen, ['before it was open', 'second']);
  t.is(drain(2), 1);
  t.deepEqual(seen, ['before it was open', 'second', 'third']);
  t.is(drain(), 0);
});

test('a long queue is handled in order, however much of it is behind', (t) => {
  const { mailbox, handler, seen, take, drain } = rig();
  mailbox.open(handler);
  const types = Array.from({ length: 3000 }, (_, at) => `message ${at}`);
  for (const type of types) take(type);
  while (drain(1100) > 0) t.deepEqual(seen, types.slice(0, seen.length));
  t.deepEqual(seen, types);
});

test('what comes while a message is handled finds its place free, and waits its turn', (t) => {
  const { mailbox, seen, take, drain } = rig();
  const rooms: boolean[] = [];
  mailbox.open({
    onMessage: ({ type }: { readonly type: string }) => {
      seen.push(type);
      if (type !== 'first') return;
      rooms.push(mailbox.hasRoomToBeTold());
      take('fourth');
      rooms.push(mailbox.hasRoomToBeTold());
    },
  });
  for (const type of ['first', 'second', 'third']) take(type);
  t.is(drain(), 1);
  t.deepEqual(rooms, [true, false]);
  t.deepEqual(seen, ['first', 'second', 'third']);
  t.is(drain(), 1);
  t.is(seen.at(-1), 'fourth');
});

test('a question that is handed over leaves the sender the number of its own request', (t) => {
  const { mailbox, inbound } = rig();
  const numbers: number[] = [];
  mailbox.open({ onMessage: () => void numbers.push(turn.requestNumber) });
  turn.requestNumber = 7;
  mailbox.handOver({ type: 'question' }, inbound(true), 8);
  numbers.push(turn.requestNumber);
  turn.requestNumber = NO_REQUEST;
  t.deepEqual(numbers, [8, 7]);
});

test('a mailbox tells how long its batches took and waited, the longest by itself', (t) => {
  const { mailbox, take, drain, spend } = rig();
  const observed: number[] = [];
  mailbox.turnSeconds = { observe: (seconds) => void observed.push(seconds) };
  mailbox.open({ onMessage: () => spend(20) });
  for (const count of [2, 1]) {
    for (let left = count; left > 0; left--) take('tell');
    spend(5);
    drain();
  }
  t.deepEqual(observed, [0.04, 0.02]);
  t.like(mailbox.stats(), { depth: 0, unanswered: 0, handled: 3, turns: 2, turnMsMax: 40, waits: 2, waitMs: 10 });
});
