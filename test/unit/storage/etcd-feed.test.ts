// What a follower of etcd is told and when, and by what one history is told from another.
import test from 'ava';
import type {
  EtcdCluster,
  EtcdEvent,
  EtcdPair,
  RangeRequest,
  WatchListener,
} from '../../../storage/etcd/etcd-cluster.ts';
import { EtcdFeed } from '../../../storage/etcd/etcd-feed.ts';
import { breakBehind, breakBetween, requireBehind } from '../../../storage/etcd/etcd-history.ts';
import type { SharedEvent } from '../../../storage/shared-engine.ts';

const AT = { reached: 10, newest: { revision: 9, mark: 1 } };
const OUTLINE = 'newest';

function outline(modRevision: number, mark: number): EtcdPair {
  const value = Buffer.from(JSON.stringify({ '': mark }));
  return { key: OUTLINE, createRevision: 1, modRevision, version: 1, value };
}

/** Microtasks of what waits for nothing else. */
const settled = (): Promise<void> => new Promise(setImmediate);

test('a revision is told when it has been read, and the next when the follower has taken it', async (t) => {
  let listener: WatchListener | undefined;
  const watch = (_key: string, _end: string, _from: number, given: WatchListener) => {
    listener = given;
    return () => {};
  };
  const feed = new EtcdFeed({
    cluster: { watch } as unknown as EtcdCluster,
    view: {
      from: 'a',
      end: 'b',
      read: async (events) => events.map(({ key }) => ({ key, value: undefined, place: 0 })),
    },
    pause: () => Promise.resolve(),
    warn: () => t.fail(),
  });
  const told: [revision: number, keys: readonly string[]][] = [];
  let take = (): void => {};
  const follower = {
    value: () => t.fail(),
    again: () => t.fail(),
    lost: (error: Error) => t.fail(error.message),
    revision: (revision: number, events: readonly SharedEvent[]) => {
      told.push([revision, events.map(({ key }) => key)]);
      return new Promise<void>((resolve) => {
        take = resolve;
      });
    },
  };
  feed.start(follower, 5);
  const event = (key: string, modRevision: number): EtcdEvent => ({
    key,
    createRevision: 1,
    modRevision,
    value: undefined,
  });
  listener!.onEvents([event('a1', 6), event('a2', 6), event('a3', 8)]);
  await settled();
  t.deepEqual(told, [[6, ['a1', 'a2']]]);
  // Those that have been told, or wait to be, are not told again.
  listener!.onEvents([event('a1', 6), event('a3', 8), event('a4', 9)]);
  await settled();
  t.is(told.length, 1);
  for (const expected of [
    [8, ['a3']],
    [9, ['a4']],
  ] as const) {
    take();
    await settled();
    t.deepEqual(told.at(-1), expected);
  }
  take();
  await settled();
  t.is(told.length, 3);
  listener!.onEvents([event('a5', 12)]);
  await settled();
  t.deepEqual(told.at(-1), [12, ['a5']]);
});

test('a present state is of another history where etcd went back, or the newest batch is another', (t) => {
  t.is(breakBetween(AT, 10, { revision: 9, mark: 1 }), undefined);
  t.is(breakBetween(AT, 15, { revision: 14, mark: 2 }), undefined);
  t.regex(breakBetween(AT, 9, { revision: 9, mark: 1 })!, /went back from revision 10 to 9/);
  t.regex(breakBetween(AT, 15, { revision: 9, mark: 2 })!, /another history/);
  t.regex(breakBetween(AT, 15, { revision: 8, mark: 1 })!, /another history/);
  t.notThrows(() => requireBehind(AT, 11));
  t.throws(() => requireBehind(AT, 10), { code: 'StoreUnusable' });
});

test('where more has happened since, what etcd remembers of then is looked at', async (t) => {
  const clusterWith = (then: EtcdPair): EtcdCluster => {
    const range = async ({ revision }: RangeRequest) => {
      return { revision: 20, pairs: [revision === undefined ? outline(15, 3) : then], more: false };
    };
    return { range } as unknown as EtcdCluster;
  };
  t.is(await breakBehind(clusterWith(outline(9, 1)), OUTLINE, AT), undefined);
  t.regex((await breakBehind(clusterWith(outline(9, 2)), OUTLINE, AT))!, /another history/);
  t.regex((await breakBehind(clusterWith(outline(8, 1)), OUTLINE, AT))!, /another history/);
});
