import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const OPENING = fileURLToPath(new URL('./opening-threads.js', import.meta.url));

/** In a process of its own: the one of the tests may have opened a database before. */
const opening = process.platform === 'linux' ? test : test.skip;
opening('threads that open a database and end leave no thread of LevelDB behind', (t) => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [OPENING], { encoding: 'utf8' });
  t.is(status, 0, stderr);
  const [first, ...others] = stdout.trim().split('\n');
  t.is(others.length, 3);
  t.deepEqual(new Set(others), new Set([first]));
});
