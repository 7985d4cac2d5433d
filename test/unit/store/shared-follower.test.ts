// What a store that shares its engine makes of what it is told: which version it has, what of it readers are shown, and what lies there
// that is none.
import test from 'ava';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { DYING_PLACE, VersionNumbers } from '../../../actors/store/log/version-numbers.ts';
import type { Projection } from '../../../actors/store/readers/projection.ts';
import { UnreadableValues } from '../../../actors/store/readers/unreadable-values.ts';
import { type FollowerParts, SharedFollower } from '../../../actors/store/sequencing/shared-follower.ts';
import type { StoreOptions } from '../../../actors/store/settings.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { unreadable } from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { SharedEngine, SharedEvent } from '../../../storage/engines/shared-engine.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { isStale, recordType } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { encryption, keyed, SECRET_KEY, storedForm } from '../storage/encryption/encryption-world.ts';

const STRIDE = 128;
const BASE = 1000;
const OTHER_KEY = 'core/secrets/default/t';

function world(parts: { encryption?: StoredEncryption; options?: Partial<StoreOptions> } = {}) {
  const pool = new SlabPool(1024 * 1024, new SharedState());
  const log = new RevisionLog(pool, 'json');
  const clock = { monotonicMs: () => 0, nowMs: () => 777 };
  const seen = {
    shown: [] as number[],
    settled: 0,
    times: [] as unknown[],
    lost: [] as Error[],
    looks: [] as (() => void)[],
  };
  const context = {
    clock,
    log: { error: () => {}, info: () => {} },
    timers: {
      after: (_ms: number, look: () => void) => {
        seen.looks.push(look);
        return { cancel: () => {} };
      },
    },
  } as unknown as ActorContext;
  const projection = {
    log,
    pool,
    unreadable: new UnreadableValues(context),
    commitTimes: { add: (time: unknown) => seen.times.push(time) },
    show: () => seen.shown.push(log.revision),
    settle: () => seen.settled++,
  };
  let load = async (_: SharedFollower): Promise<number> => 0;
  const engine = { pathOf: (key: string) => `/registry/${key}`, follow: (one: SharedFollower) => load(one) };
  const follower = new SharedFollower({
    context,
    engine: engine as unknown as SharedEngine,
    options: { ...parts.options } as StoreOptions,
    encryption: parts.encryption,
    projection: projection as unknown as Projection,
    onLost: (error) => seen.lost.push(error),
  } satisfies FollowerParts);
  const open = (given: (one: SharedFollower) => Promise<number>): Promise<void> => {
    load = given;
    return follower.open({ base: BASE, stride: STRIDE });
  };
  const stale = (key: string): boolean => {
    const { slab, offset } = log.current.get(key)!;
    return isStale(pool.slab(slab), offset);
  };
  const typeOf = (key: string): number =>
    recordType(pool.slab(log.current.get(key)!.slab), log.current.get(key)!.offset);
  return { follower, projection, log, seen, open, stale, typeOf };
}

const numbers = new VersionNumbers(BASE, STRIDE);

/** A value of ours at a place in its batch. */
const storedAt = (key: string, place: number): Uint8Array => storedForm(key, 'x', place);
const put = (key: string, place: number, more: Partial<SharedEvent> = {}): SharedEvent => ({
  key,
  value: storedAt(key, place),
  place: undefined,
  ...more,
});

test('what is there at the beginning has the version of its place, and the whole that of the revision', async (t) => {
  const { open, log, seen, stale, follower } = world();
  await open(async (one) => {
    await one.value(SECRET_KEY, 5, storedAt(SECRET_KEY, 3));
    await one.value(OTHER_KEY, 6, storedAt(OTHER_KEY, 0), true);
    await one.value('core/secrets/default/gone', 4, storedAt('core/secrets/default/gone', DYING_PLACE));
    return 8;
  });
  t.deepEqual(
    [...log.current.keys()].map((key) => [key, log.current.get(key)!.revision, stale(key)]),
    [
      [SECRET_KEY, numbers.version(5, 3), false],
      [OTHER_KEY, numbers.version(6, 0), true],
    ],
  );
  t.deepEqual([log.revision, log.compactedRevision], [numbers.endOf(8), numbers.endOf(8)]);
  t.deepEqual(seen.times, [{ revision: numbers.endOf(8), wallMs: 777 }]);
  t.deepEqual([...follower.remains], [['core/secrets/default/gone', 4]]);
});

test('what others forgot while it was read is void, what could not be read of it as well', async (t) => {
  const { open, log, follower, projection } = world();
  await open(async (one) => {
    await one.value(SECRET_KEY, 5, storedAt(SECRET_KEY, 0));
    await one.value(OTHER_KEY, 5, Buffer.from('garbage'));
    await one.value('core/secrets/default/gone', 4, storedAt('core/secrets/default/gone', DYING_PLACE));
    t.is(projection.unreadable.size, 1);
    one.again();
    return 9;
  });
  t.deepEqual([log.current.size, projection.unreadable.size, follower.remains.size], [0, 0, 0]);
});

test('who waits for a revision is told when that has been shown, and no sooner', async (t) => {
  const { open, follower, seen } = world();
  await open(async () => 8);
  t.is(await follower.reach(8), numbers.endOf(8));
  const reached: number[] = [];
  const waits = [10, 9, 12].map((revision) => follower.reach(revision).then((version) => reached.push(version)));
  await follower.revision(9, [put(SECRET_KEY, 0)]);
  await waits[1];
  t.deepEqual(reached, [numbers.endOf(9)]);
  await follower.revision(11, [put(SECRET_KEY, 0)]);
  await waits[0];
  t.deepEqual(reached, [numbers.endOf(9), numbers.endOf(11)]);
  t.deepEqual(seen.shown, [numbers.endOf(9), numbers.endOf(11)]);
  t.is(seen.settled, 2);
});

test('where a version lies is known from when its commit begins until that is over', async (t) => {
  const { open, follower, log } = world();
  await open(async () => 8);
  follower.notePlaces([SECRET_KEY]);
  await follower.revision(9, [put(SECRET_KEY, 2), put(OTHER_KEY, 3)]);
  const version = numbers.version(9, 2);
  const { slab, offset } = log.current.get(SECRET_KEY)!;
  t.like(follower.placeOf(SECRET_KEY, version), { slab, offset });
  const missing = { code: 'StoreUnusable', message: /did not tell version/ };
  t.throws(() => follower.placeOf(SECRET_KEY, version + 1), missing);
  t.throws(() => follower.placeOf(OTHER_KEY, numbers.version(9, 3)), missing);
  follower.forgetPlaces([SECRET_KEY]);
  t.throws(() => follower.placeOf(SECRET_KEY, version), missing);
});

test('a value that the engine cannot read leaves the object what it was, and one that may be none of ours makes none', async (t) => {
  const { open, follower, log, projection } = world();
  await open(async () => 8);
  await follower.revision(9, [put(SECRET_KEY, 0)]);
  const error = unreadable(SECRET_KEY, 'there is no key for it');
  const unread = { error, lookAgain: () => {} };
  const told = (key: string, mayBeNone = false): SharedEvent => ({
    key,
    value: undefined,
    place: undefined,
    unread: { ...unread, mayBeNone },
  });
  await follower.revision(10, [told(SECRET_KEY), told(OTHER_KEY, true)]);
  t.is(log.current.get(SECRET_KEY)?.revision, numbers.version(9, 0));
  t.deepEqual(
    projection.unreadable.all().map(({ key, path, since, isKnown }) => [key, path, since, isKnown]),
    [[SECRET_KEY, `/registry/${SECRET_KEY}`, numbers.version(10, 1), true]],
  );
  await follower.revision(11, [told(OTHER_KEY)]);
  t.is(projection.unreadable.get(OTHER_KEY)?.isKnown, false);
  await follower.revision(12, [put(SECRET_KEY, 0), put(OTHER_KEY, 1)]);
  t.is(projection.unreadable.size, 0);
  t.is(log.current.size, 2);
});

test('a value is to be written again where the engine, the version of its type or its encryption says so', async (t) => {
  const values = encryption([keyed('aescbc', 'new', 1), keyed('aescbc', 'old', 2)]);
  const older = encryption([keyed('aescbc', 'old', 2)]);
  await older.readyFor([{ operations: [{ key: SECRET_KEY }] }]);
  await values.readyFor([{ operations: [{ key: SECRET_KEY }] }]);
  const { open, stale } = world({ encryption: values });
  await open(async (one) => {
    await one.value(SECRET_KEY, 5, older.seal(SECRET_KEY, Buffer.from(storedAt(SECRET_KEY, 0))));
    await one.value(OTHER_KEY, 5, values.seal(OTHER_KEY, Buffer.from(storedAt(OTHER_KEY, 1))));
    return 8;
  });
  t.deepEqual([stale(SECRET_KEY), stale(OTHER_KEY)], [true, false]);
  const plain = world();
  await plain.open(async () => 8);
  await plain.follower.revision(9, [put(SECRET_KEY, 0, { isStale: true }), put(OTHER_KEY, 1)]);
  t.deepEqual([plain.stale(SECRET_KEY), plain.stale(OTHER_KEY)], [true, false]);
  const converting = world({
    options: { currentVersion: (key, value) => (key === SECRET_KEY ? { ...value } : value) },
  });
  await converting.open(async () => 8);
  await converting.follower.revision(9, [put(SECRET_KEY, 0), put(OTHER_KEY, 1)]);
  t.deepEqual([converting.stale(SECRET_KEY), converting.stale(OTHER_KEY)], [true, false]);
});

test('a value that went with its last change is gone, whether or not it can be read', async (t) => {
  const values = encryption([keyed('aescbc', 'a', 1)]);
  await values.readyFor([{ operations: [{ key: SECRET_KEY }] }]);
  const sealed = (key: string, place: number): Uint8Array => values.seal(key, Buffer.from(storedAt(key, place)));
  const { open, follower, log, projection } = world();
  await open(async (one) => {
    await one.value(SECRET_KEY, 5, sealed(SECRET_KEY, DYING_PLACE));
    return 8;
  });
  t.deepEqual([projection.unreadable.size, [...follower.remains]], [0, [[SECRET_KEY, 5]]]);
  await follower.revision(9, [put(OTHER_KEY, 0)]);
  follower.notePlaces([OTHER_KEY]);
  await follower.revision(10, [{ key: OTHER_KEY, value: sealed(OTHER_KEY, DYING_PLACE), place: undefined }]);
  t.deepEqual([log.current.size, projection.unreadable.size], [0, 0]);
  t.is(follower.remains.get(OTHER_KEY), 10);
  t.like(follower.placeOf(OTHER_KEY, numbers.version(10, 0)), { revision: numbers.version(10, 0) });
  await follower.revision(11, [{ key: SECRET_KEY, value: sealed(SECRET_KEY, 2), place: undefined }]);
  t.deepEqual([log.current.size, projection.unreadable.get(SECRET_KEY)?.since], [0, numbers.version(11, 2)]);
  t.false(follower.remains.has(SECRET_KEY));
});

test('where a value that no service gave a key for can be read at last, the store begins anew', async (t) => {
  let isDown = true;
  const open = (key: string, bytes: Uint8Array): Promise<Uint8Array> =>
    isDown ? Promise.reject(unreadable(key, 'no key', 'no key', true)) : Promise.resolve(bytes);
  const one = world({ encryption: { open, isStale: () => false } as unknown as StoredEncryption });
  await one.open(async () => 8);
  await one.follower.revision(9, [put(SECRET_KEY, 0)]);
  t.is(one.projection.unreadable.get(SECRET_KEY)?.why, 'no key');
  const look = async (): Promise<void> => {
    one.seen.looks.at(-1)!();
    await new Promise(setImmediate);
  };
  await look();
  t.deepEqual(one.seen.lost, []);
  isDown = false;
  await look();
  t.regex(one.seen.lost[0]?.message ?? '', /the store begins anew/);
});

test('what goes wrong otherwise than by what lies there is nobody’s value', async (t) => {
  const bug = new TypeError('a bug');
  const options: Partial<StoreOptions> = {};
  const values = { open: () => Promise.reject(bug), isStale: () => false } as unknown as StoredEncryption;
  const { open, follower, projection } = world({ options, encryption: values });
  await t.throwsAsync(
    open(async (one) => {
      await one.value(SECRET_KEY, 5, storedAt(SECRET_KEY, 0));
      return 8;
    }),
    { is: bug },
  );
  await t.throwsAsync(async () => follower.revision(9, [put(SECRET_KEY, 0)]), { is: bug });
  t.is(projection.unreadable.size, 0);
});
