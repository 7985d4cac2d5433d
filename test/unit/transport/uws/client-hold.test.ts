// How a client is held back that sends faster than what it sends is taken, by what the binary is told.
import test from 'ava';
import { ClientHold } from '../../../../transport/uws/client-hold.ts';
import type { KeptAlive } from '../../../../transport/uws/parking.ts';

const MEGABYTE = 1024 * 1024;
const LOOK = ['pause', 'resume'];

function world(hasUnsent = () => false) {
  const calls: string[] = [];
  const parked = new Set<KeptAlive>();
  const scope = { parked, waiting: { bytes: 0 } };
  const socket = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
  const make = (): ClientHold => new ClientHold(socket, scope, hasUnsent);
  const tick = (turns: number): void => {
    for (let i = 0; i < turns; i++) for (const one of parked) one.keepAlive();
  };
  const heard = (): string[] => calls.splice(0);
  return { hold: make(), make, scope, heard, tick };
}

test('a client is held back when much waits, and goes on when it has been taken', (t) => {
  const { hold, scope, heard } = world();
  t.true(hold.waiting(1000));
  t.deepEqual(heard(), []);
  t.true(hold.waiting(MEGABYTE));
  t.deepEqual([heard(), scope.waiting.bytes], [['pause'], MEGABYTE]);
  hold.goOn();
  t.deepEqual([heard(), scope.waiting.bytes, scope.parked.size], [LOOK, 0, 0]);
  hold.goOn();
  t.deepEqual(heard(), []);
});

test('one that has unsent bytes is not held back, and given up when too much waits', (t) => {
  const { hold, heard } = world(() => true);
  t.true(hold.waiting(8 * MEGABYTE));
  t.false(hold.waiting(8 * MEGABYTE + 1));
  t.deepEqual(heard(), []);
});

test('one of which nothing is unsent any more is looked at, unless it is held for what it sends', (t) => {
  const { hold, heard } = world();
  hold.sent();
  t.deepEqual(heard(), LOOK);
  hold.waiting(MEGABYTE);
  hold.sent();
  t.deepEqual(heard(), ['pause']);
});

test('of clients whose bytes come all the same, those with many are given up when all have too many together', (t) => {
  const { hold, make } = world();
  t.true(hold.waiting(255 * MEGABYTE));
  const other = make();
  t.true(other.waiting(8 * MEGABYTE));
  t.false(other.waiting(60 * MEGABYTE));
  t.true(other.waiting(8 * MEGABYTE), 'few are nobody’s trouble');
  hold.letGo();
  t.true(other.waiting(60 * MEGABYTE));
});

test('a client that is held is looked at now and then', (t) => {
  const { hold, heard, tick } = world();
  hold.waiting(MEGABYTE);
  heard();
  tick(14);
  t.deepEqual(heard(), []);
  tick(1);
  t.deepEqual(heard(), LOOK);
  hold.waiting(MEGABYTE);
  t.deepEqual(heard(), ['pause']);
  tick(14);
  t.deepEqual(heard(), []);
  tick(1);
  t.deepEqual(heard(), LOOK);
});

test('one that is held as its answer ends is read again, and waits no more', (t) => {
  const { hold, heard, scope } = world();
  hold.waiting(MEGABYTE);
  heard();
  hold.letGo();
  t.deepEqual([heard(), scope.parked.size, scope.waiting.bytes], [LOOK, 0, 0]);
  t.true(hold.waiting(MEGABYTE));
  t.deepEqual(heard(), []);
});

test('one whose all came while it was held is kept until it is answered', (t) => {
  const { hold, heard, tick, scope } = world();
  hold.waiting(MEGABYTE);
  heard();
  hold.gotAll();
  t.deepEqual(heard(), LOOK);
  tick(2);
  t.deepEqual(heard(), [...LOOK, ...LOOK]);
  hold.letGo();
  t.deepEqual([heard(), scope.parked.size, scope.waiting.bytes], [[], 0, 0]);
});

test('nothing is asked of a socket that is gone', (t) => {
  const { hold, heard, scope } = world();
  hold.waiting(MEGABYTE);
  hold.drop();
  t.is(scope.waiting.bytes, 0);
  heard();
  hold.goOn();
  hold.gotAll();
  t.true(hold.waiting(MEGABYTE));
  t.deepEqual([heard(), scope.parked.size, scope.waiting.bytes], [[], 0, 0]);
});
