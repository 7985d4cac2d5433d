// The watch loops of client libraries, in short. `npm run clients` runs them for as long as asked.

import ava from 'ava';
import { testNeeding } from '../server/machine-tools.ts';
import { watchLoops } from './watch-loops.ts';

const test = testNeeding(ava, ['python']);

test('caches that follow watches equal a list after restarts and compaction', async (t) => {
  const { writes, resumed, expired, problems } = await watchLoops(t, { seconds: 0 });
  t.deepEqual(problems, []);
  t.true(writes > 0);
  t.true(resumed > 0, 'no watch went on where another was cut off');
  t.true(expired > 0, 'no watch was too late');
});
