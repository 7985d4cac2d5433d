import test from 'ava';
import { decodePprof } from '../../../bench/profile/pprof-reader.ts';
import { encodePprof } from '../../../rendering/pprof.ts';
import { ProfileTables } from '../../../runtime/profiles/thread-profile.ts';

test('threads become one profile whose samples carry their stack, the leaf first, and their thread', async (t) => {
  const front = new ProfileTables();
  const outer = front.call(-1, 'outer', 'a.js', 10, 11);
  const inner = front.call(outer, 'inner', 'a.js', 20, 22);
  front.sample(inner, 3, 3_000_000);
  front.sample(outer, 1, 2 ** 40);
  const store = new ProfileTables();
  store.sample(store.call(-1, 'commit', 'b.js', 5, 5), 2, 7);
  const bytes = encodePprof([front.of('front/0'), store.of('store')], {
    count: ['samples', 'count'],
    amount: ['cpu', 'nanoseconds'],
    periodType: ['cpu', 'nanoseconds'],
    period: 1_000_000,
    startedWallMs: 1_700_000_000_000,
    durationMs: 2000,
  });
  t.deepEqual(await decodePprof(bytes), {
    valueTypes: ['samples/count', 'cpu/nanoseconds'],
    period: 'cpu/nanoseconds 1000000',
    timeNanos: '1700000000000000000',
    durationNanos: '2000000000',
    samples: [
      { stack: ['commit b.js:5'], values: [2, 7], thread: 'store' },
      { stack: ['outer a.js:11'], values: [1, 2 ** 40], thread: 'front/0' },
      { stack: ['inner a.js:22', 'outer a.js:11'], values: [3, 3_000_000], thread: 'front/0' },
    ],
  });
});
