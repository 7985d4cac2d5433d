// What a follower of etcd is told and when, and by what one history is told from another.
import test from 'ava';
import type { SharedEvent } from '../../../storage/engines/shared-engine.ts';
import {
  type EtcdCluster,
  EtcdError,
  type EtcdEvent,
  type EtcdPair,
  type RangeAnswer,
  type RangeRequest,
  type WatchListener,
} from '../../../storage/etcd/etcd-cluster.ts';
import { EtcdFeed } from '../../../storage/etcd/etcd-feed.ts';
import { breakBehind, breakBetween, requireBehind } from '../../../storage/etcd/etcd-history.ts';

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
      arrived: (events) => async () => events.map(({ key }) => ({ key, value: undefined, place: 0 })),
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
  const forgetful = (present: EtcdPair): EtcdCluster => {
    const range = async ({ revision }: RangeRequest) => {
      if (revision !== undefined) throw new EtcdError('compacted', 'compacted');
      return { revision: 20, pairs: [present], more: false };
    };
    return { range } as unknown as EtcdCluster;
  };
  t.is(await breakBehind(forgetful(outline(9, 1)), OUTLINE, AT), undefined, 'nothing of ours has happened');
  await t.throwsAsync(breakBehind(forgetful(outline(15, 3)), OUTLINE, AT), { message: 'compacted' });
});

const event = (key: string, modRevision: number): EtcdEvent => ({
  key,
  createRevision: 1,
  modRevision,
  value: undefined,
});

/** A feed that has followed up to AT, on a cluster that does as it is told; and what has come of it. */
function followed(outlineKey?: string) {
  const watches: { readonly from: number; readonly listener: WatchListener }[] = [];
  const asked: {
    readonly request: RangeRequest;
    readonly answer: (given: RangeAnswer) => void;
    readonly fail: (error: EtcdError) => void;
  }[] = [];
  const seen = { ended: 0, told: [] as string[], pauses: [] as number[], warned: [] as string[], lost: [] as Error[] };
  const cluster = {
    watch: (_key: string, _end: string, from: number, listener: WatchListener) => {
      watches.push({ from, listener });
      return () => void seen.ended++;
    },
    range: (request: RangeRequest) =>
      new Promise<RangeAnswer>((answer, fail) => {
        asked.push({ request, answer, fail });
      }),
  };
  const feed = new EtcdFeed({
    cluster: cluster as unknown as EtcdCluster,
    view: {
      from: 'a',
      end: 'z',
      arrived: (events) => () => events.map(({ key }) => ({ key, value: undefined, place: 0 })),
      ...(outlineKey !== undefined && { outline: outlineKey }),
    },
    pause: (tries) => {
      seen.pauses.push(tries);
      return Promise.resolve();
    },
    warn: (text) => void seen.warned.push(text),
  });
  const follower = {
    value: () => {},
    again: () => {},
    lost: (error: Error) => void seen.lost.push(error),
    revision: (revision: number, events: readonly SharedEvent[]) =>
      void seen.told.push(`${revision} ${events.map(({ key }) => key)}`),
  };
  feed.start(follower, AT.reached, AT.newest);
  return { feed, watches, asked, seen };
}

const committed = (feed: EtcdFeed, revision: number): void =>
  feed.committed({ revision, mark: 1 }, () => [{ key: `own${revision}`, value: undefined, place: 0 }]);

test('a watch that breaks off begins again where it was, later each time, and one line says so until it goes on', async (t) => {
  const { watches, seen } = followed();
  const breakOff = async (): Promise<void> => {
    watches.at(-1)!.listener.onEnd(new EtcdError('unknown', 'gone'));
    await settled();
  };
  for (let round = 0; round < 3; round++) await breakOff();
  t.deepEqual(seen.pauses, [0, 1, 2]);
  t.is(seen.warned.length, 1);
  watches.at(-1)!.listener.onEvents([event('k', 12)]);
  await breakOff();
  t.deepEqual(seen.pauses, [0, 1, 2, 0]);
  t.is(seen.warned.length, 2);
  t.deepEqual(
    watches.map(({ from }) => from),
    [11, 11, 11, 11, 13],
  );
});

test('a watch that is refused is the end of what is followed', async (t) => {
  const { watches, seen } = followed();
  watches[0]!.listener.onEnd(new EtcdError('refused', 'permission denied'));
  await settled();
  t.is(seen.lost.length, 1);
  t.like(seen.lost[0], { code: 'StoreUnusable', message: 'the watch of the store ended: permission denied' });
  t.deepEqual([watches.length, seen.ended, seen.pauses.length], [1, 1, 0]);
});

test('a commit of ours before which others are yet to come is told behind them, once and as it was made', async (t) => {
  const { feed, watches, seen } = followed();
  committed(feed, 11);
  committed(feed, 13);
  await settled();
  t.deepEqual(seen.told, ['11 own11']);
  watches[0]!.listener.onEvents([event('k', 11), event('k', 12)]);
  watches[0]!.listener.onEvents([event('own', 13), event('k', 14)]);
  await settled();
  t.deepEqual(seen.told, ['11 own11', '12 k', '13 own13', '14 k']);
  committed(feed, 20);
  // What came between was nothing that is watched.
  watches[0]!.listener.onEvents([event('own', 20)]);
  await settled();
  t.is(seen.told.at(-1), '20 own20');
});

test('what comes after the end is not told, and nothing is looked for any more', async (t) => {
  const { feed, watches, asked, seen } = followed(OUTLINE);
  const [{ listener }] = watches as [(typeof watches)[0]];
  listener.onEnd(new EtcdError('compacted', 'compacted', 12));
  t.is(asked.length, 1);
  feed.stop();
  asked[0]!.answer({ revision: 15, pairs: [outline(14, 2)], more: false });
  listener.onEvents([event('k', 11)]);
  listener.onEnd(new EtcdError('unknown', 'gone'));
  committed(feed, 11);
  await settled();
  t.like(seen, { told: [], lost: [], pauses: [] });
  t.is(watches.length, 1);
});

test('where others were compacted the watch goes on behind that, whatever of ours is told while it is looked at', async (t) => {
  const { feed, watches, asked, seen } = followed(OUTLINE);
  committed(feed, 11);
  watches[0]!.listener.onEnd(new EtcdError('compacted', 'compacted', 11));
  t.deepEqual(asked[0]!.request, { key: OUTLINE, revision: 11 });
  committed(feed, 12);
  // The state at 11, from an etcd that has come to 20.
  asked[0]!.answer({ revision: 20, pairs: [outline(11, 1)], more: false });
  await settled();
  t.deepEqual(seen.lost, []);
  t.deepEqual(
    watches.map(({ from }) => from),
    [11, 13],
  );
  watches[1]!.listener.onEnd(new EtcdError('compacted', 'compacted', 17));
  asked[1]!.answer({ revision: 20, pairs: [outline(12, 1)], more: false });
  await settled();
  t.is(watches[2]!.from, 18);
  watches[2]!.listener.onEnd(new EtcdError('compacted', 'compacted', 13));
  t.deepEqual(asked[2]!.request, { key: OUTLINE, revision: 17 }, 'what lies behind that is known');
  t.deepEqual(seen.told, ['11 own11', '12 own12']);
});

test('where a batch of ours was compacted, or another history is found behind it, nothing is gone on from', async (t) => {
  for (const [newest, message] of [
    [outline(15, 1), /^the watch of the store ended: compacted/],
    [outline(9, 2), /^etcd is of another history than was followed up to revision 10,/],
  ] as const) {
    const { watches, asked, seen } = followed(OUTLINE);
    watches[0]!.listener.onEnd(new EtcdError('compacted', 'compacted', 16));
    asked[0]!.answer({ revision: 20, pairs: [newest], more: false });
    await settled();
    t.regex(seen.lost[0]!.message, message);
    t.is(watches.length, 1);
  }
});

test('where outlines are written a watch that broke off goes on once etcd is known to be what it was', async (t) => {
  const { watches, asked, seen } = followed(OUTLINE);
  const breakOff = async (): Promise<void> => {
    watches.at(-1)!.listener.onEnd(new EtcdError('unknown', 'gone'));
    await settled();
  };
  await breakOff();
  t.is(watches.length, 1, 'it is looked at first');
  t.deepEqual(asked[0]!.request, { key: OUTLINE });
  asked[0]!.answer({ revision: 12, pairs: [outline(9, 1)], more: false });
  await settled();
  t.deepEqual(
    watches.map(({ from }) => from),
    [11, 11],
  );
  await breakOff();
  asked[1]!.answer({ revision: 12, pairs: [outline(9, 2)], more: false });
  await settled();
  t.is(watches.length, 2);
  t.deepEqual(
    seen.lost.map(({ message }) => message.slice(0, 34)),
    ['etcd is of another history than wa'],
  );
});

test('where etcd is compacted again while it is looked at, the watch goes on behind what it is by then', async (t) => {
  const watches: number[] = [];
  const asked: RangeRequest[] = [];
  let listener: WatchListener | undefined;
  const cluster = {
    watch: (_key: string, _end: string, from: number, given: WatchListener) => {
      watches.push(from);
      listener = given;
      return () => {};
    },
    range: async (request: RangeRequest): Promise<RangeAnswer> => {
      asked.push(request);
      if (request.revision !== undefined) throw new EtcdError('compacted', 'compacted', 30);
      return { revision: 40, pairs: [outline(9, 1)], more: false };
    },
  } as unknown as EtcdCluster;
  const view = { from: 'a', end: 'z', outline: OUTLINE, arrived: () => () => [] };
  const feed = new EtcdFeed({ cluster, view, pause: () => Promise.resolve(), warn: () => {} });
  const lost: Error[] = [];
  const follower = {
    value: () => {},
    again: () => {},
    lost: (error: Error) => void lost.push(error),
    revision: () => {},
  };
  feed.start(follower, AT.reached, AT.newest);
  listener!.onEnd(new EtcdError('compacted', 'compacted', 20));
  await settled();
  t.deepEqual(asked, [{ key: OUTLINE, revision: 20 }, { key: OUTLINE }]);
  t.deepEqual(watches, [11, 41]);
  t.deepEqual(lost, []);
});

test('where etcd does not say what it is, it is asked again a moment later, and the watch goes on then', async (t) => {
  for (const end of [new EtcdError('unknown', 'gone'), new EtcdError('compacted', 'compacted', 12)]) {
    const { watches, asked, seen } = followed(OUTLINE);
    watches[0]!.listener.onEnd(end);
    await settled();
    const before = seen.pauses.length;
    asked[0]!.fail(new EtcdError('unknown', 'no answer'));
    await settled();
    t.is(seen.pauses.length, before + 1, end.kind);
    t.deepEqual(
      asked.slice(1).map(({ request }) => request),
      [{ key: OUTLINE }],
    );
    t.deepEqual([watches.length, seen.lost.length], [1, 0]);
    asked[1]!.answer({ revision: 12, pairs: [outline(9, 1)], more: false });
    await settled();
    t.deepEqual(
      watches.map(({ from }) => from),
      [11, 11],
    );
  }
});

test('a watch of no outlines that was compacted is the end of what is followed', async (t) => {
  const { watches, asked, seen } = followed();
  watches[0]!.listener.onEnd(new EtcdError('compacted', 'compacted', 16));
  await settled();
  t.is(seen.lost[0]?.message, 'the watch of the store ended: compacted');
  t.deepEqual([watches.length, asked.length], [1, 0]);
});

test('a feed that was stopped begins no watch', async (t) => {
  const { feed, watches, asked } = followed(OUTLINE);
  watches[0]!.listener.onEnd(new EtcdError('unknown', 'gone'));
  feed.stop();
  await settled();
  t.deepEqual([watches.length, asked.length], [1, 0]);
});

test('which batch was the newest is known from its outline, and a change that writes none is no batch', async (t) => {
  for (const [mark, goesOn] of [
    [2, true],
    [3, false],
  ] as const) {
    const { watches, asked, seen } = followed(OUTLINE);
    const { listener } = watches[0]!;
    listener.onEvents([outline(11, 2), event('k', 11), event('other', 12)]);
    await settled();
    t.deepEqual(seen.told, [`11 ${OUTLINE},k`, '12 other']);
    listener.onEnd(new EtcdError('unknown', 'gone'));
    await settled();
    asked[0]!.answer({ revision: 12, pairs: [outline(11, mark)], more: false });
    await settled();
    t.deepEqual([watches.at(-1)!.from, seen.lost.length], goesOn ? [13, 0] : [11, 1]);
  }
});

test('commits of ours that wait for one of others are all told behind it, in their order', async (t) => {
  const { feed, watches, seen } = followed();
  committed(feed, 13);
  committed(feed, 12);
  await settled();
  t.deepEqual(seen.told, []);
  watches[0]!.listener.onEvents([event('k', 11)]);
  await settled();
  t.deepEqual(seen.told, ['11 k', '12 own12', '13 own13']);
});

test('what cannot be told is the end of what is followed', async (t) => {
  const { feed, watches, seen } = followed();
  const bug = new TypeError('a bug');
  feed.committed({ revision: 11, mark: 1 }, () => Promise.reject(bug));
  await settled();
  t.deepEqual(seen.lost, [bug]);
  watches[0]!.listener.onEvents([event('k', 12)]);
  await settled();
  t.deepEqual(seen.told, []);
});
