// Work that shares a part of the heap.
import test from 'ava';
import { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { HeapShare } from '../../../runtime/memory/heap-share.ts';
import { StepsInRoom } from '../../../runtime/memory/steps-in-room.ts';

/** Shares of a room for 10, and the names of those that have been let in. */
function shares() {
  const room = new HeapRoom(10);
  const order: string[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const begin = (name: string, bytes: number): HeapShare => {
    const share = new HeapShare(room);
    void share.keep(bytes).then(() => order.push(name));
    return share;
  };
  return { order, settled, begin };
}

test('of writes that take much of the heap others wait, in their order, until there is room; what takes more than all is alone', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 6);
  const b = begin('b', 4);
  const huge = begin('huge', 11);
  begin('c', 1);
  await settled();
  t.deepEqual(order, ['a', 'b']);
  a.giveBack();
  a.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b'], 'nobody is overtaken');
  b.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'huge']);
  huge.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'huge', 'c']);
});

test('writes that come upon large objects have room before newcomers, one after the other, and never wait for each other', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 5);
  const b = begin('b', 5);
  begin('c', 1);
  await settled();
  void a.borrow(4).then(() => order.push('a reads'));
  await settled();
  t.deepEqual(order, ['a', 'b'], 'b is at work and will make room');
  void b.borrow(4).then(() => order.push('b reads'));
  await settled();
  t.deepEqual(order, ['a', 'b', 'a reads'], 'both would wait for ever');
  void a.borrow(3).then(() => order.push('a reads again'));
  await settled();
  t.deepEqual(order, ['a', 'b', 'a reads', 'a reads again'], 'of one after the other it has the largest');
  a.giveBack();
  await settled();
  t.deepEqual(order.slice(4).sort(), ['b reads', 'c']);
});

test('a write that ends while a part of it waits for more gives everything back when that has come', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 5);
  const b = begin('b', 5);
  await settled();
  const waiting = a.borrow(4);
  a.giveBack();
  const c = begin('c', 5);
  await settled();
  t.deepEqual(order, ['a', 'b']);
  b.giveBack();
  await waiting;
  await settled();
  t.deepEqual(order, ['a', 'b', 'c']);
  begin('d', 10);
  begin('e', 1);
  c.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'c', 'd'], 'all ten are there, and d is known to be at work');
});

test('what has room is lent in the same turn, unless others wait; what a share has already is there', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 5);
  await settled();
  t.true(a.borrowNow(3));
  t.true(a.borrowNow(2), 'one after the other');
  const b = begin('b', 2);
  await settled();
  t.deepEqual(order, ['a', 'b']);
  t.false(b.borrowNow(1));
  begin('c', 1);
  t.true(a.borrowNow(3), 'it has that');
  a.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'c']);
  t.true(b.borrowNow(7));
  t.false(b.borrowNow(8));
});

test('a share that holds nothing is lent something in the same turn, alone also more than there is room for', (t) => {
  const room = new HeapRoom(10);
  const [a, b] = [new HeapShare(room), new HeapShare(room)];
  t.true(a.borrowNow(11));
  t.false(b.borrowNow(1));
  a.giveBack();
  t.true(b.borrowNow(1));
});

test('small work takes a quarter beside what is counted, by what it comes to at most, and gives it back', (t) => {
  const room = new HeapRoom(40);
  const [a, b, c] = [new HeapShare(room), new HeapShare(room), new HeapShare(room)];
  t.true(a.keepSmall(4));
  t.true(a.borrowSmall(3));
  t.true(a.borrowSmall(2), 'one after the other');
  t.true(b.keepSmall(3));
  t.false(c.keepSmall(1));
  t.false(b.borrowSmall(1));
  t.true(c.borrowNow(40), 'there is all of the other room');
  a.giveBack();
  a.giveBack();
  t.true(b.borrowSmall(7));
  t.false(c.keepSmall(1));
});

test('steps of one write that go on side by side have room for all of them together; what there is none for waits until one has ended', async (t) => {
  const { order, settled, begin } = shares();
  const other = begin('other', 3);
  const write = begin('write', 1);
  await settled();
  const steps = new StepsInRoom(write);
  const ends = new Map<string, () => void>();
  const run = (name: string, bytes: number): Promise<void> =>
    steps.run(bytes, () => {
      order.push(name);
      return new Promise((resolve) => {
        ends.set(name, resolve);
      });
    });
  const all = [run('a', 3), run('b', 3), run('c', 3), run('huge', 20)];
  await settled();
  t.deepEqual(order.slice(2), ['a', 'b'], 'a third would be more than all');
  ends.get('a')!();
  await settled();
  t.deepEqual(order.slice(4), ['c']);
  ends.get('b')!();
  other.giveBack();
  await settled();
  t.deepEqual(order.slice(5), [], 'what is more than all goes on alone');
  ends.get('c')!();
  await settled();
  t.deepEqual(order.slice(5), ['huge']);
  ends.get('huge')!();
  await Promise.all(all);
  write.giveBack();
  begin('next', 10);
  await settled();
  t.is(order.at(-1), 'next');
});
