// A scheduler beside others that share the store: it decides while it leads and knows all that there is, and at no other time.
import test from 'ava';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import type { SchedulerProtocol } from '../../../actors/scheduler/protocol.ts';
import { createScheduler, type Scheduler, type SchedulerOptions } from '../../../actors/scheduler/scheduler.ts';
import type { MessageOf, Reply } from '../../../runtime/actor.ts';
import type { UnreadableValue } from '../../../storage/following/publication.ts';
import { FakeCluster, feedEvent } from './fake-context.ts';
import { dialect, node, pod } from './objects.ts';

const NO_REPLY: Reply = { isAwaited: false, send() {}, fail() {} };
/** Longer than any backoff, and than a pod waits without a reason. */
const LONG_MS = 10 * 60_000;
const pending = (name: string) => feedEvent('put', 'core/pods', pod(name));

interface OwnPermit {
  readonly options: Pick<SchedulerOptions, 'configuration'>;
  readonly plugins: ReadonlyMap<string, () => object>;
}

/** A plug-in that lets every pod wait. */
function waitingPermit(): OwnPermit {
  const configuration = defaultConfiguration(dialect);
  const [profile] = configuration.profiles;
  const sets = { ...profile!.sets, permit: [{ name: 'Mine', weight: 1 }] };
  return {
    options: { configuration: { ...configuration, profiles: [{ ...profile!, sets }] } },
    plugins: new Map([['Mine', () => ({ permit: () => ({ waitMs: 2 * LONG_MS }) })]]),
  };
}

/** A scheduler that waits to lead, of a store with a pod and a node for it. */
async function standingBy(prepare: (cluster: FakeCluster) => void = () => {}, own?: OwnPermit) {
  const cluster = new FakeCluster();
  prepare(cluster);
  cluster.listed = [pending('first'), feedEvent('present', 'core/nodes', node('n'))];
  const options = { dialect, host: 'here', waitsToLead: true, ...own?.options };
  const scheduler: Scheduler = createScheduler(cluster.context(), options, cluster.feedFactory, own?.plugins);
  await scheduler.start();
  const tell = async (message: MessageOf<SchedulerProtocol>, byMs = 0) => {
    scheduler.onMessage(message, NO_REPLY);
    await cluster.time.advance(byMs);
  };
  let sequence = 0;
  let isLeading = false;
  const feed = (...names: readonly string[]) => tell(cluster.batch(++sequence, names.map(pending)), LONG_MS);
  const lead = (leads: boolean) => {
    // Who leads no more subscribes anew.
    if (isLeading && !leads) sequence = 0;
    isLeading = leads;
    return tell({ type: 'lead', leads });
  };
  const bound = () => cluster.binds.flat().map(({ name }) => name);
  await cluster.time.advance(LONG_MS);
  const unread = (...unreadable: readonly UnreadableValue[]) =>
    tell({ ...cluster.batch(++sequence, []), unreadable }, LONG_MS);
  return { cluster, feed, lead, bound, unread };
}

test('a scheduler that does not lead binds nothing, whatever comes, and all of it once it leads', async (t) => {
  const { feed, lead, bound } = await standingBy();
  await lead(false);
  await feed('second');
  await feed('third');
  t.deepEqual(bound(), []);
  await lead(true);
  t.deepEqual(bound(), ['first', 'second', 'third']);
});

test('a scheduler that leads no more binds nothing from then on, until it leads again', async (t) => {
  const { cluster, feed, lead, bound } = await standingBy();
  await lead(true);
  t.deepEqual(bound(), ['first']);
  await lead(false);
  t.deepEqual(cluster.warned, [{ reason: 'this server schedules no more' }]);
  await feed('second');
  t.deepEqual(bound(), ['first']);
  await lead(true);
  t.deepEqual(bound(), ['first', 'second']);
});

test('what a scheduler has decided and not sent when it leads no more is decided anew when it leads again', async (t) => {
  const { cluster, feed, lead, bound } = await standingBy();
  let answer = (): void => {};
  cluster.onBind = (bindings) =>
    new Promise((resolve) => (answer = () => resolve(bindings.map(() => ({ bound: true })))));
  await lead(true);
  await feed('second', 'third');
  t.deepEqual(bound(), ['first'], 'the others wait until that is answered');
  cluster.listed = [pending('third'), feedEvent('present', 'core/nodes', node('n'))];
  await lead(false);
  answer();
  await cluster.time.advance(LONG_MS);
  t.deepEqual(bound(), ['first']);
  await lead(true);
  await cluster.time.advance(LONG_MS);
  t.false(bound().includes('second'), 'somebody else has bound it');
  t.true(bound().includes('third'));
});

test('a scheduler does not begin while there is something that it cannot read, and goes on when it had begun', async (t) => {
  const other = { key: 'core/nodes//other', path: '', why: 'no key', since: 0, isKnown: false };
  const { lead, feed, bound, unread } = await standingBy((cluster) => {
    const { onSubscribe } = cluster;
    cluster.onSubscribe = async () => ({ ...(await onSubscribe()), unreadable: [other] });
  });
  await lead(true);
  t.deepEqual(bound(), []);
  await unread();
  t.deepEqual([...new Set(bound())], ['first']);
  await unread(other);
  await feed('second');
  t.deepEqual([...new Set(bound())], ['first', 'second'], 'by what it knows');
});

test('of a pod that waits for a permit when its scheduler leads no more nothing is said, and it is not bound', async (t) => {
  const { cluster, lead, bound } = await standingBy(() => {}, waitingPermit());
  await lead(true);
  await cluster.time.advance(LONG_MS);
  await lead(false);
  await cluster.time.advance(2 * LONG_MS);
  t.deepEqual([bound(), cluster.writes], [[], []]);
  await lead(true);
  await cluster.time.advance(3 * LONG_MS);
  t.deepEqual(
    cluster.events('FailedScheduling').map(({ note }) => note),
    ['rejected due to timeout after waiting 20m0s at plugin Mine'],
    'now it has waited too long',
  );
});
