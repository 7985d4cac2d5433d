// kill -9 of a real server at moments of chance, also with a disk that loses what was not synced: nothing that was acknowledged
// is lost, nothing is there in part, and watches go on.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava from 'ava';
import { testNeeding } from '../server/machine-tools.ts';
import { seedFor } from '../server/seed.ts';
import { newServer, ServerProcess, startServer } from '../server/server-process.ts';
import { runCrashRounds } from './crash-run.ts';
import { runQuotaRounds } from './quota-run.ts';
import { runServersRounds } from './servers-run.ts';
import { UnsyncedDisk } from './unsynced-disk.ts';

// One after the other: each keeps a server and its clients busy.
const test = ava.serial;
/** On a disk that loses what was not synced, which is a library to be compiled. */
const testOnBadDisk = testNeeding(ava, ['cc']).serial;
const testOnEtcd = testNeeding(ava, ['etcd']).serial;
const HASTY = fileURLToPath(new URL('./hasty-server.js', import.meta.url));
const HASTY_ROUNDS_MAX = 5;
const HASTY_SEEDS_MAX = 3;

for (const [rounds, dropUnsynced, what] of [
  [6, false, 'of the process'],
  [4, true, 'and a disk that loses what was not synced'],
] as const) {
  const declare = dropUnsynced ? testOnBadDisk : test;
  declare(`${rounds} rounds with kill -9 ${what} lose nothing`, async (t) => {
    const seed = seedFor(t);
    const reports = await runCrashRounds({ seed, rounds, dropUnsynced });
    const problems = reports.flatMap((report) => report.problems);
    t.deepEqual(problems, [], `seed ${seed}`);
    t.is(reports.length, rounds);
    t.true(reports.every(({ acknowledged, events }) => acknowledged > 0 && events > 0));
  });
}

test('8 rounds of 64 clients against a quota, kill -9 in some, never exceed it, and the usage is what is there', async (t) => {
  const seed = seedFor(t);
  const reports = await runQuotaRounds({ seed, rounds: 8 });
  t.deepEqual(
    reports.flatMap(({ problems }) => problems),
    [],
    `seed ${seed}`,
  );
  t.is(reports.length, 8);
});

testOnEtcd(
  '3 rounds with two servers on three members of etcd lose and repeat nothing, and no read goes back',
  async (t) => {
    const seed = seedFor(t);
    const reports = await runServersRounds({ seed, rounds: 3, say: (line) => t.log(line) });
    t.deepEqual(
      reports.flatMap(({ problems }) => problems),
      [],
      `seed ${seed}: ${reports.map(({ mishap }) => mishap).join(', ')}`,
    );
    t.is(reports.length, 3);
    t.true(reports.every(({ acknowledged, events, reads }) => acknowledged > 0 && events > 0 && reads > 0));
  },
);

/**
 * Which of them shows first depends on the moment of the crash: a lost write, a lost step, a change shown in vain, an owner that is
 * lost with what it owned, a deletion that did not happen, or of which the end is lost, so that nobody goes on with it.
 */
const LIES =
  /was acknowledged|the counter is|before or after the crash|nobody deleted it|was deleted and is there|is being deleted still|outlived/;
/** So slow a disk has something to lose at each crash, also beside a machine that is kept busy. */
const HASTY_SYNC_MS = 40;

testOnBadDisk('a server that acknowledges before it has synced is found out', async (t) => {
  const slow = { dropUnsynced: true, syncMs: HASTY_SYNC_MS };
  const problems: string[] = [];
  // A disk that has cut the store's own files within their first bytes leaves nothing to find lies in: then the next seed tells.
  for (let seed = 1; seed <= HASTY_SEEDS_MAX && !problems.some((problem) => LIES.test(problem)); seed++) {
    const reports = await runCrashRounds({ seed, rounds: HASTY_ROUNDS_MAX, ...slow, program: HASTY });
    problems.push(...reports.flatMap((report) => report.problems));
    t.log(`in round ${reports.length} of seed ${seed}`);
  }
  t.true(
    problems.some((problem) => LIES.test(problem)),
    problems.join('\n'),
  );
});

testOnBadDisk('a server that lost power as soon as it was ready keeps its certificate and its token', async (t) => {
  const { dataDirectory, port } = await newServer(t);
  const disk = new UnsyncedDisk(dataDirectory, 0);
  t.teardown(() => disk.dispose());
  const server = new ServerProcess(dataDirectory, port, { env: disk.arm() });
  t.is(await server.start(), undefined);
  const { token, caPem } = server;
  await server.kill9();
  disk.cut('none');
  await server.restart();
  t.is(server.token, token);
  t.is(server.caPem, caPem);
  await server.kill9();
});

test('an empty token file is no token', async (t) => {
  const server = await startServer(t, { placement: 'default' });
  const { token } = server;
  await server.stop();
  writeFileSync(join(server.dataDirectory, 'admin.token'), '');
  await server.restart();
  t.not(server.token, '');
  t.not(server.token, token);
});
