// Goal: one leads at a time, whatever the lock is kept in, and the next leads when it has not been heard for a lease. Method: a
// server in memory and virtual time.
import test from 'ava';
import type { LeaderLock } from '../../../actors/scheduler/configuration/configuration.ts';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import type { ParsedAnswer } from '../../../actors/scheduler/remote/api-server.ts';
import { LeaderElection } from '../../../actors/scheduler/remote/leader-election.ts';
import { leaderLock } from '../../../actors/scheduler/remote/leader-locks.ts';
import type { JsonObject } from '../../../api/codec/decode.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { dialect } from './objects.ts';

/** Objects by path, each with a version that a replacement must have. */
class Objects {
  readonly byPath = new Map<string, JsonObject>();
  versions = 0;

  private async answer(status: number, object: JsonObject = {}): Promise<ParsedAnswer> {
    return { status, object: structuredClone(object) };
  }

  get(path: string): Promise<ParsedAnswer> {
    const object = this.byPath.get(path);
    return object === undefined ? this.answer(404) : this.answer(200, object);
  }

  create(collection: string, object: JsonObject): Promise<ParsedAnswer> {
    const path = `${collection}/${(object.metadata as { name: string }).name}`;
    if (this.byPath.has(path)) return this.answer(409);
    return this.store(path, object, 201);
  }

  replace(path: string, object: JsonObject): Promise<ParsedAnswer> {
    const versionOf = (one: JsonObject | undefined) => (one?.metadata as { resourceVersion?: string })?.resourceVersion;
    if (versionOf(this.byPath.get(path)) !== versionOf(object)) return this.answer(409);
    return this.store(path, object, 200);
  }

  private store(path: string, object: JsonObject, status: number): Promise<ParsedAnswer> {
    if (object.kind === 'Lease') {
      const { acquireTime, renewTime } = object.spec as { acquireTime: string; renewTime: string };
      const isOther = [acquireTime, renewTime].some((time) => !/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/.test(time));
      if (isOther) return this.answer(400, { message: 'a lease takes times with microseconds' });
    }
    const metadata = { ...(object.metadata as object), resourceVersion: String(++this.versions) };
    this.byPath.set(path, { ...object, metadata });
    return this.answer(status, object);
  }
}

/** The way of one contender to the objects. `held`: what answers wait for. */
function wayTo(objects: Objects) {
  const way = { isCut: false, held: Promise.resolve() };
  const guarded =
    <Args extends readonly unknown[]>(call: (...args: Args) => Promise<ParsedAnswer>) =>
    async (...args: Args): Promise<ParsedAnswer> => {
      if (way.isCut) throw new Error('the server is down');
      const answer = await call(...args);
      await way.held;
      return answer;
    };
  const server = {
    get: guarded((path: string) => objects.get(path)),
    create: guarded((path: string, object: JsonObject) => objects.create(path, object)),
    replace: guarded((path: string, object: JsonObject) => objects.replace(path, object)),
  };
  return { way, server };
}

function contender(objects: Objects, time: VirtualTime, identity: string, lock: LeaderLock = 'leases') {
  const { leaderElection } = defaultConfiguration(dialect);
  const { way, server } = wayTo(objects);
  const place = { server, dialect, namespace: 'orch-system', name: 'orch-scheduler' };
  const troubles: string[] = [];
  const election = new LeaderElection({
    environment: { clock: time, timers: time, random: { next: () => 0.5 } },
    configuration: { ...leaderElection, resourceLock: lock },
    read: leaderLock(lock, place),
    identity,
    onLeader: () => {},
    onTrouble: (problem) => troubles.push(problem),
  });
  const run = { ended: false, troubles, election, way };
  void election
    .acquire()
    .then((leads) => (leads ? election.keep() : undefined))
    .then(() => {
      run.ended = true;
    });
  return run;
}

for (const lock of ['leases', 'endpoints', 'configmaps', 'endpointsleases', 'configmapsleases'] as const) {
  test(`one of two leads, and the other when that one is gone: ${lock}`, async (t) => {
    const objects = new Objects();
    const time = new VirtualTime();
    const first = contender(objects, time, 'first', lock);
    await time.advance(10);
    const second = contender(objects, time, 'second', lock);
    await time.advance(60_000);
    t.true(first.election.isLeading);
    t.false(second.election.isLeading);
    t.is(objects.byPath.size, lock.endsWith('sleases') ? 2 : 1);
    t.deepEqual([first.troubles, second.troubles], [[], []]);
    await first.election.stop();
    await time.advance(6_000);
    t.true(second.election.isLeading);
    t.false(first.election.isLeading);
  });
}

test('a leader that cannot say so any more gives up before another leads', async (t) => {
  const objects = new Objects();
  const time = new VirtualTime();
  const first = contender(objects, time, 'first');
  await time.advance(10);
  const second = contender(objects, time, 'second');
  await time.advance(30_000);
  first.way.isCut = true;
  for (let passed = 0; !first.ended && passed < 60_000; passed += 100) {
    t.false(second.election.isLeading);
    await time.advance(100);
  }
  t.true(first.ended);
  t.false(first.election.isLeading);
  t.false(second.election.isLeading);
  t.deepEqual(first.troubles.slice(0, 1), ['the server is down']);
  await time.advance(20_000);
  t.true(second.election.isLeading);
  const lease = objects.byPath.get('/apis/coordination.orch.io/v1/namespaces/orch-system/leases/orch-scheduler');
  t.like(lease?.spec, { holderIdentity: 'second', leaseTransitions: 1, leaseDurationSeconds: 15 });
});

test("a lock whose two halves name two leaders is nobody's until neither is renewed", async (t) => {
  const objects = new Objects();
  const time = new VirtualTime();
  const old = contender(objects, time, 'old', 'endpoints');
  const newer = contender(objects, time, 'newer', 'leases');
  await time.advance(10);
  const mixed = contender(objects, time, 'mixed', 'endpointsleases');
  await time.advance(40_000);
  t.true(old.election.isLeading && newer.election.isLeading);
  t.false(mixed.election.isLeading);
  await old.election.stop();
  await newer.election.stop();
  await time.advance(40_000);
  t.true(mixed.election.isLeading);
});

test('a contender that may not write the lock says why, and leads once it may', async (t) => {
  const objects = new Objects();
  const time = new VirtualTime();
  const create = objects.create.bind(objects);
  const refusal = { status: 403, object: { message: 'leases is forbidden' } };
  objects.create = () => Promise.resolve(refusal);
  const one = contender(objects, time, 'one');
  await time.advance(10_000);
  t.false(one.election.isLeading);
  const lock = 'the lock orch-system/orch-scheduler, a Lease of coordination.orch.io/v1,';
  t.is(one.troubles[0], `${lock} cannot be written (403 leases is forbidden)`);
  objects.create = create;
  await time.advance(10_000);
  t.true(one.election.isLeading);
});

const LEASE = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases/orch-scheduler';
const holder = ({ byPath }: Objects) => (byPath.get(LEASE)?.spec as { holderIdentity?: string })?.holderIdentity;

/** Everything that is under way goes on until it waits for an answer, or for time. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('one that is stopped while it takes the lock, or renews it, leaves it to the next', async (t) => {
  for (const isLeading of [false, true]) {
    const objects = new Objects();
    const time = new VirtualTime();
    const first = contender(objects, time, 'first');
    let answer = (): void => {};
    const hold = (): void => {
      first.way.held = new Promise((resolve) => {
        answer = resolve;
      });
    };
    if (isLeading) {
      await time.advance(10);
      hold();
      await time.advance(2_000);
    } else hold();
    await settled();
    // The lock was read, and now it is written.
    answer();
    hold();
    const versionBefore = objects.versions;
    await settled();
    t.is(objects.versions, versionBefore + 1);
    const stopped = first.election.stop();
    first.way.held = Promise.resolve();
    answer();
    await stopped;
    await settled();
    t.true(first.ended);
    t.false(first.election.isLeading);
    t.is(holder(objects), '', isLeading ? 'renewing' : 'taking');
  }
});

test('one whose server hangs is stopped all the same, and one that has given up at once', async (t) => {
  const objects = new Objects();
  const time = new VirtualTime();
  const standing = contender(objects, time, 'standing');
  standing.way.held = new Promise(() => {});
  let isStopped = false;
  void standing.election.stop().then(() => {
    isStopped = true;
  });
  await time.advance(3_000);
  t.true(isStopped);
  const leader = contender(objects, time, 'leader');
  await time.advance(10);
  t.true(leader.election.isLeading);
  leader.way.held = new Promise(() => {});
  await time.advance(13_000);
  t.true(leader.ended);
  await leader.election.stop();
});
