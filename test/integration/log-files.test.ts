// The log of a running server in files, as the options say.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import { ORCH } from '../server/program.ts';
import { startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'orch-log-'));
test.after.always(() => rmSync(FOLDER, { recursive: true }));
const HEAD = /^Log file created at: .*\nRunning on machine: .*\nBinary: .*\nLog line format: .*\n/;
const LINE = /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] ".*/;
const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

test('without logtostderr the log is in log-file, from its head on, and goes on in a new one when SIGHUP says that it was moved', async (t) => {
  const path = join(FOLDER, 'one.log');
  const args = ['--logtostderr=false', '--log-file', path, '-v', '6', '--log-file-max-size', '100'];
  const server = await startServer(t, { args });
  const { client } = server;
  await client.get('/api/v1/nodes');
  const text = await eventually(
    async () => read(path),
    (all) => all.includes('/api/v1/nodes'),
  );
  t.regex(text, HEAD);
  t.regex(text.split('\n')[4]!, LINE);
  t.notRegex(server.stderr, /\/api\/v1\/nodes/);
  renameSync(path, `${path}.1`);
  process.kill(server.pid, 'SIGHUP');
  await eventually(
    async () => {
      await client.get('/api/v1/pods');
      return read(path);
    },
    (all) => all.includes('/api/v1/pods'),
  );
  t.regex(read(path), HEAD);
});

test('log-dir has a file for each severity and a link to it, with lines on standard error too where alsologtostderr says so', async (t) => {
  const folder = join(FOLDER, 'folder');
  const more = ['--alsologtostderr', '--one-output', '--skip-log-headers', '--add-dir-header', '--vmodule', '*=6'];
  const server = await startServer(t, { args: ['--logtostderr=false', '--log-dir', folder, ...more] });
  await server.client.get('/api/v1/nodes');
  const text = await eventually(
    async () => read(join(folder, 'orch.INFO')),
    (all) => all.includes('/api/v1/nodes'),
  );
  t.regex(text.split('\n')[0]!, LINE);
  t.true(text.split('\n').some((line) => / [a-z]+\/[a-z-]+\.[jt]s:\d+\] .*\/api\/v1\/nodes/.test(line)));
  await eventually(
    async () => server.stderr,
    (all) => / [a-z]+\/[a-z-]+\.[jt]s:\d+\] .*\/api\/v1\/nodes/.test(all),
  );
  for (const word of ['INFO', 'WARNING', 'ERROR', 'FATAL']) {
    t.true(
      readdirSync(folder).some((name) => name.includes(`.log.${word}.`)),
      word,
    );
  }
  t.is(read(join(folder, 'orch.FATAL')), '');
});

test('a copy that was installed elsewhere says where its lines are from by its own tables, not by those of the build', async (t) => {
  const copy = join(FOLDER, 'installed');
  const built = dirname(dirname(ORCH));
  cpSync(join(built, 'packed'), join(copy, 'dist', 'packed'), { recursive: true });
  cpSync(ORCH, join(copy, 'dist', 'bin', 'orch.cjs'));
  for (const name of ['node_modules', 'config', 'package.json'])
    symlinkSync(join(dirname(built), name), join(copy, name));
  for (const name of readdirSync(join(copy, 'dist', 'packed'))) {
    if (!name.endsWith('.lines')) continue;
    const table = join(copy, 'dist', 'packed', name);
    const text = readFileSync(table, 'latin1');
    writeFileSync(table, text.replaceAll('actors/store/store.ts', 'actors/store/STORE.ts'), 'latin1');
  }
  const server = await startServer(t, { program: join(copy, 'dist', 'bin', 'orch.cjs'), placement: 'default' });
  await eventually(
    async () => server.stderr,
    (all) => all.includes('"store opened"'),
  );
  t.regex(server.stderr, /STORE\.ts:\d+\] "store opened"/);
});
