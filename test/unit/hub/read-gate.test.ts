import test from 'ava';
import type { Freshness, ReadRefusal } from '../../../actors/hub/protocol.ts';
import { ReadGate } from '../../../actors/hub/read-gate.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { SharedState } from '../../../storage/shared-state.ts';

type Outcome = 'waits' | 'goes' | ReadRefusal;

class Fixture {
  readonly time = new VirtualTime();
  readonly shared = new SharedState();
  isShared = false;
  /** Answers of the store to what was asked of it, in order. */
  readonly barriers: ((revision: number | Error) => void)[] = [];
  readonly gate = new ReadGate({ timers: this.time } as unknown as ActorContext, {
    ask: () => this.barrier() as never,
  });

  /** A gate that has applied 10 and whose window begins after 4, of a store that has committed 12. */
  static opened(isShared = false): Fixture {
    const fixture = new Fixture();
    fixture.isShared = isShared;
    fixture.shared.committedRevision = 12;
    fixture.gate.open(fixture.shared, fixture.isShared, 10, 4, true);
    return fixture;
  }

  barrier(): Promise<{ revision: number }> {
    return new Promise((resolve, reject) => {
      this.barriers.push((revision) => (typeof revision === 'number' ? resolve({ revision }) : reject(revision)));
    });
  }

  pass(freshness: Freshness): () => Outcome {
    const outcomes: Outcome[] = [];
    this.gate.pass(freshness, (refusal) => outcomes.push(refusal ?? 'goes'));
    return () => {
      if (outcomes.length > 1) throw new Error('a read was answered twice');
      return outcomes[0] ?? 'waits';
    };
  }
}

/** Longer than any read waits. */
const PATIENCE_MS = 10_000;

const tooLarge = { refused: 'tooLarge', currentRevision: 10 } as const;
const expired = { refused: 'expired', oldestRevision: 4 } as const;
const notReady = { refused: 'notReady' } as const;

const CASES: readonly (readonly [freshness: Freshness, atOnce: Outcome, when12: Outcome, never: Outcome])[] = [
  [{ kind: 'local' }, 'goes', 'goes', 'goes'],
  [{ kind: 'any' }, 'waits', 'goes', notReady],
  [{ kind: 'mostRecent' }, 'waits', 'goes', notReady],
  [{ kind: 'notOlderThan', revision: 1 }, 'waits', 'goes', notReady],
  [{ kind: 'notOlderThan', revision: 10 }, 'waits', 'goes', notReady],
  [{ kind: 'notOlderThan', revision: 12 }, 'waits', 'goes', tooLarge],
  [{ kind: 'notOlderThan', revision: 13 }, 'waits', 'waits', tooLarge],
  [{ kind: 'exact', revision: 3 }, expired, expired, expired],
  [{ kind: 'exact', revision: 4 }, 'goes', 'goes', 'goes'],
  [{ kind: 'exact', revision: 10 }, 'goes', 'goes', 'goes'],
  [{ kind: 'exact', revision: 12 }, 'waits', 'goes', tooLarge],
];

for (const [freshness, atOnce, when12, never] of CASES) {
  const what = 'revision' in freshness ? `${freshness.kind} ${freshness.revision}` : freshness.kind;
  test(`${what}: at revision 10, at 12, and when the hub stands still`, async (t) => {
    const moving = Fixture.opened();
    const outcome = moving.pass(freshness);
    t.deepEqual(outcome(), atOnce);
    moving.gate.advance(11, 4);
    moving.gate.release();
    t.deepEqual(outcome(), atOnce);
    moving.gate.advance(12, 4);
    moving.gate.release();
    t.deepEqual(outcome(), when12);
    const still = Fixture.opened();
    const waiting = still.pass(freshness);
    await still.time.advance(60_000);
    t.deepEqual(waiting(), never);
    still.gate.advance(20, 4);
    still.gate.release();
    t.deepEqual(waiting(), never);
  });

  test(`${what}: nothing is answered before the store has been read, nor when it is gone`, (t) => {
    t.deepEqual(new Fixture().pass(freshness)(), notReady);
    const gone = Fixture.opened();
    gone.gate.shut();
    t.deepEqual(gone.pass(freshness)(), notReady);
  });
}

test('a consistent read of a hub that has everything does not wait', (t) => {
  const fixture = Fixture.opened();
  fixture.gate.advance(12, 4);
  t.is(fixture.pass({ kind: 'mostRecent' })(), 'goes');
});

test('a read that waited for its revision hears when it was compacted meanwhile', (t) => {
  const fixture = Fixture.opened();
  const exact = fixture.pass({ kind: 'exact', revision: 12 });
  const newer = fixture.pass({ kind: 'notOlderThan', revision: 12 });
  fixture.gate.advance(20, 15);
  fixture.gate.release();
  t.deepEqual(exact(), { refused: 'expired', oldestRevision: 15 });
  t.is(newer(), 'goes');
});

test('a read that waits when the store is lost goes on with the next one', async (t) => {
  const fixture = Fixture.opened();
  const outcome = fixture.pass({ kind: 'mostRecent' });
  fixture.gate.shut();
  await fixture.time.advance(1000);
  t.is(outcome(), 'waits');
  const next = new SharedState();
  next.committedRevision = 13;
  fixture.gate.open(next, false, 13, 13, true);
  t.is(outcome(), 'waits');
  fixture.gate.release();
  t.is(outcome(), 'goes');
});

test('a consistent read whose store is lost while it says how far it is goes on with the next one', async (t) => {
  const fixture = Fixture.opened(true);
  const outcome = fixture.pass({ kind: 'mostRecent' });
  await fixture.time.runUntilIdle();
  fixture.barriers[0]!(10);
  fixture.gate.shut();
  await fixture.time.runUntilIdle();
  t.is(outcome(), 'waits');
  fixture.gate.open(fixture.shared, true, 10, 4, true);
  fixture.gate.release();
  t.is(outcome(), 'goes');
});

test('reads that wait are answered once, and set no more timers', async (t) => {
  const fixture = Fixture.opened();
  const outcomes = Array.from({ length: 100 }, () => fixture.pass({ kind: 'mostRecent' }));
  t.not(fixture.time.nextDueMs, undefined);
  fixture.gate.advance(12, 4);
  for (let count = 0; count < 2; count++) fixture.gate.release();
  t.is(fixture.time.nextDueMs, undefined);
  t.true(outcomes.every((outcome) => outcome() === 'goes'));
});

test('where other servers write too, a consistent read waits for what the store says was acknowledged by then', async (t) => {
  const fixture = Fixture.opened(true);
  const first = fixture.pass({ kind: 'mostRecent' });
  const second = fixture.pass({ kind: 'mostRecent' });
  const cached = fixture.pass({ kind: 'notOlderThan', revision: 10 });
  await fixture.time.runUntilIdle();
  t.is(fixture.barriers.length, 1);
  const third = fixture.pass({ kind: 'mostRecent' });
  await fixture.time.runUntilIdle();
  t.is(fixture.barriers.length, 1, 'one at a time');
  fixture.barriers[0]!(13);
  await fixture.time.runUntilIdle();
  t.is(fixture.barriers.length, 2, 'who came later is not told what was asked before');
  fixture.gate.advance(12, 4);
  fixture.gate.release();
  t.deepEqual([first(), second(), third(), cached()], ['waits', 'waits', 'waits', 'goes']);
  fixture.gate.advance(13, 4);
  fixture.gate.release();
  t.deepEqual([first(), second(), third()], ['goes', 'goes', 'waits']);
  fixture.barriers[1]!(new Error('no member answers'));
  await fixture.time.runUntilIdle();
  t.deepEqual(third(), notReady);
});

test('only who names a revision that is to come waits less long than the hub may take to catch up', async (t) => {
  const still = Fixture.opened();
  const there = still.pass({ kind: 'notOlderThan', revision: 10 });
  const toCome = still.pass({ kind: 'notOlderThan', revision: 11 });
  await still.time.advance(5000);
  t.deepEqual([there(), toCome()], ['waits', tooLarge]);
  await still.time.advance(5000);
  t.deepEqual(there(), notReady);
});

test('a read that waits for what another history may never have asks again how new it has to be', async (t) => {
  const fixture = Fixture.opened(true);
  const read = fixture.pass({ kind: 'mostRecent' });
  await fixture.time.runUntilIdle();
  fixture.barriers[0]!(20);
  await fixture.time.runUntilIdle();
  t.is(read(), 'waits');
  const named = fixture.pass({ kind: 'notOlderThan', revision: 20 });
  await fixture.time.runUntilIdle();
  fixture.barriers[1]!(20);
  await fixture.time.runUntilIdle();
  fixture.gate.shut();
  fixture.gate.open(fixture.shared, true, 15, 15, false);
  fixture.gate.release();
  await fixture.time.runUntilIdle();
  t.is(fixture.barriers.length, 3);
  t.is(read(), 'waits');
  fixture.barriers[2]!(15);
  await fixture.time.runUntilIdle();
  t.is(read(), 'goes');
  // What a client names, it has been told: no older state will do.
  t.is(named(), 'waits');
  await fixture.time.advance(PATIENCE_MS);
  t.deepEqual([read(), named()], ['goes', { refused: 'tooLarge', currentRevision: 15 }]);
});

test('where other servers write too, a version that is not there yet is asked for: nothing may be written behind it for long', async (t) => {
  for (const kind of ['notOlderThan', 'exact'] as const) {
    const fixture = Fixture.opened(true);
    const outcome = fixture.pass({ kind, revision: 13 });
    await fixture.time.runUntilIdle();
    t.is(outcome(), 'waits');
    t.is(fixture.barriers.length, 1);
    fixture.barriers[0]!(new Error('not reached'));
    fixture.gate.advance(13, 4);
    fixture.gate.release();
    t.is(outcome(), 'goes');
    fixture.pass({ kind, revision: 13 });
    await fixture.time.runUntilIdle();
    t.is(fixture.barriers.length, 1, 'and not where it is');
  }
  const alone = Fixture.opened();
  alone.pass({ kind: 'exact', revision: 13 });
  await alone.time.runUntilIdle();
  t.is(alone.barriers.length, 0);
});
