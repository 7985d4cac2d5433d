// When the mailboxes of a thread are drained: with what else the waiting I/O brings, and never so long that I/O starves.
import test from 'ava';
import { type Drainable, GatheringDelivery } from '../../../runtime/messages/delivery.ts';

/** A delivery whose turns of the event loop the test begins, and what it drained in which order. */
function rig() {
  const turns: (() => void)[] = [];
  const drained: string[] = [];
  const delivery = new GatheringDelivery({ soon: (callback) => void turns.push(callback) });
  const mailbox = (name: string, then: () => void = () => {}): Drainable => ({
    drain: () => {
      drained.push(name);
      then();
      return 1;
    },
  });
  return { turns, drained, delivery, mailbox };
}

test('mailboxes that I/O fills one after the other are drained together, after it', async (t) => {
  const { turns, drained, delivery, mailbox } = rig();
  delivery.schedule(mailbox('first'));
  await Promise.resolve();
  delivery.schedule(mailbox('second'));
  await Promise.resolve();
  t.deepEqual(drained, []);
  t.is(turns.length, 1);
  turns[0]!();
  t.deepEqual(drained, ['first', 'second']);
});

test('what draining leads to follows in the same turn of the event loop', async (t) => {
  const { turns, drained, delivery, mailbox } = rig();
  const next = mailbox('next');
  delivery.schedule(mailbox('first', () => delivery.schedule(next)));
  turns[0]!();
  t.deepEqual(drained, ['first'], 'never within the call that scheduled it');
  await Promise.resolve();
  t.deepEqual(drained, ['first', 'next']);
  t.is(turns.length, 1);
});

test('actors that keep each other busy let I/O have its turn', async (t) => {
  const { turns, drained, delivery, mailbox } = rig();
  const again: Drainable = mailbox('again', () => delivery.schedule(again));
  delivery.schedule(again);
  turns[0]!();
  while (turns.length < 2 && drained.length < 10_000) await Promise.resolve();
  t.is(turns.length, 2);
});

test('what comes when all is drained waits for the I/O of its own turn', async (t) => {
  const { turns, drained, delivery, mailbox } = rig();
  delivery.schedule(mailbox('first'));
  turns[0]!();
  await Promise.resolve();
  delivery.schedule(mailbox('second'));
  await Promise.resolve();
  t.deepEqual(drained, ['first']);
  turns[1]!();
  t.deepEqual(drained, ['first', 'second']);
});
