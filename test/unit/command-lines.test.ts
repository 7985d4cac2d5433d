// What the test runners say to options that they do not know.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';

for (const runner of ['audit-load', 'clients', 'crash', 'differential', 'fuzz', 'simulation', 'soak']) {
  test(`${runner} answers an option that it does not know with a line and its usage`, (t) => {
    const file = fileURLToPath(new URL(`../${runner}/run.js`, import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, '--no-such'], { encoding: 'utf8' });
    t.deepEqual([status, stdout], [2, '']);
    t.regex(stderr, /^Unknown option '--no-such'[^\n]*\n\nusage: npm run /);
    t.notRegex(stderr, /^ {4}at /m);
  });
}

for (const runner of ['crash', 'differential', 'fuzz', 'simulation', 'soak']) {
  test(`${runner} takes no seed that is not a number: all of them would be the same`, (t) => {
    const file = fileURLToPath(new URL(`../${runner}/run.js`, import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, '--seed', 'new'], { encoding: 'utf8' });
    t.deepEqual([status, stdout], [2, '']);
    t.regex(stderr, /^--seed must be a number, not "new"\n\nusage: npm run /);
  });
}
