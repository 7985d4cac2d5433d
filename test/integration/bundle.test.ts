// What `orch bundle` and `orch top` say of a running server, and what they must not.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { samplesOf, table } from '../../bin/admin/top-table.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { ORCH } from '../server/program.ts';
import { startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const run = promisify(execFile);

test('a bundle holds what tells how a server is, and no secret', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'orch.log');
  const server = await startServer(t, { args: ['--logtostderr=false', '--log-file', log, '-v', '6'] });
  const { client, dataDirectory } = server;
  const body = { metadata: { name: 's' }, stringData: { key: 'the-value-of-a-secret' } };
  const created = await client.request('POST', '/api/v1/namespaces/default/secrets', { body });
  t.is(created.status, 201);
  await client.get('/api/v1/nodes?token=typed-by-mistake');
  await client.get('/api/v1/nodes?at=http://etcd:typed-in-an-address@10.0.0.1:2379');
  await client.get("/api/v1/nodes?at=http://etcd:typed-with-it's@and-behind-it@10.0.0.1:2380");
  await eventually(
    async () => readFileSync(log, 'utf8'),
    (text) => text.includes('10.0.0.1:2380'),
  );
  const file = join(folder, 'bundle.tar.gz');
  await run(process.execPath, [ORCH, 'bundle', file, '--data-dir', dataDirectory, '--log-file', log]);
  t.is(statSync(file).mode & 0o777, 0o600);
  const { stdout: listed } = await run('tar', ['-tzf', file]);
  const names = listed.trim().split('\n');
  for (const name of [
    'metrics.txt',
    'readyz.txt',
    'command.txt',
    'threads.txt',
    'log.txt',
    'heap.pb.gz',
    'heap.txt',
    'queues.txt',
  ])
    t.true(names.includes(`orch-bundle/${name}`), name);
  await run('tar', ['-xzf', file, '-C', folder]);
  const text = (name: string): string => readFileSync(join(folder, 'orch-bundle', name), 'utf8');
  t.regex(text('metrics.txt'), /^apiserver_request_total\{/m);
  t.regex(text('readyz.txt'), /check passed/);
  t.regex(text('heap.txt'), /^# .*\n# .*\nprocess: resident=[1-9][\d.]*MiB\nthread /);
  t.regex(text('heap.txt'), /^thread [^\n]*: used=[1-9][^\n]*(?:\n {2}.*)*\n {2}old_space: used=[1-9][\d.]*MiB size=/m);
  t.regex(text('log.txt'), /\/api\/v1\/nodes/);
  const all = [
    gunzipSync(readFileSync(file)),
    ...names.filter((name) => name.endsWith('.gz')).map((name) => gunzipSync(readFileSync(join(folder, name)))),
  ].map((bytes) => bytes.toString('latin1'));
  const token = readFileSync(join(dataDirectory, 'admin.token'), 'utf8').trim();
  const base64 = Buffer.from('the-value-of-a-secret').toString('base64');
  for (const secret of [
    token,
    'the-value-of-a-secret',
    base64,
    'typed-by-mistake',
    'typed-in-an-address',
    'typed-with-it',
    'and-behind-it',
    'PRIVATE KEY',
  ]) {
    t.false(
      all.some((part) => part.includes(secret)),
      secret,
    );
  }
});

test('top prints every actor of every thread once', async (t) => {
  const { dataDirectory } = await startServer(t, { args: [], placement: 'default' });
  const { stdout } = await run(process.execPath, [ORCH, 'top', '--once', '--data-dir', dataDirectory]);
  t.regex(stdout, /^requests \d+\/s, in flight \d+/);
  t.regex(stdout, /^THREAD +ACTOR +WAITING +MESSAGES\/S +TURNS\/S +TURNS P99 +LONGEST TURN$/m);
  for (const actor of ['ingress', 'hub', 'admission', 'store', 'controllers', 'scheduler'])
    t.regex(
      stdout,
      new RegExp(`^\\S+ +${actor}\\S* +\\d+ +\\d+ +\\d+ +(?:[≤>] [\\d.]+ ms|-) +[\\d.]+ ms$`, 'm'),
      actor,
    );
});

test('the server’s own commands reach one whose certificate is for a name alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-named-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const times = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000) };
  const pair = await makeSelfSigned({ commonName: 'named', names: ['api.example.org'], ...times });
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(cert, pair.certPem);
  writeFileSync(key, pair.keyPem, { mode: 0o600 });
  const { dataDirectory } = await startServer(t, { args: ['--tls-cert-file', cert, '--tls-private-key-file', key] });
  t.regex(readFileSync(join(dataDirectory, 'admin.conf'), 'utf8'), /^ {4}tls-server-name: "api\.example\.org"$/m);
  const there = ['--data-dir', dataDirectory];
  t.regex((await run(process.execPath, [ORCH, 'top', '--once', ...there])).stdout, /^requests /);
  const saved = await run(process.execPath, [ORCH, 'store', 'snapshot', join(folder, 'snapshot'), ...there]);
  t.regex(saved.stdout, /^saved \d+ objects /);
});

test('what happened between two looks is shown by the second', (t) => {
  const at = (seconds: number, messages: number) => ({
    atMs: seconds * 1000,
    samples: samplesOf(
      [
        '# TYPE actor_messages_total counter',
        'actor_mailbox_depth{actor="hub",thread="a"} 3',
        'orch_hub_watchers 7',
        'orch_hub_cohorts 2',
        `actor_messages_total{actor="hub",thread="a"} ${messages}`,
        `actor_messages_total{actor="hub",thread="b"} 1e3`,
        ...[0.001, 0.002, '+Inf'].map(
          (le, index) => `actor_turn_seconds_bucket{actor="hub",le="${le}",thread="a"} ${messages * (index + 1)}`,
        ),
        'actor_turn_seconds_max{actor="hub",thread="a"} 0.0123',
      ].join('\n'),
    ),
  });
  t.regex(table(at(1, 10), at(3, 110)), /watches 7 in 2 cohorts/);
  t.regex(table(at(1, 10), at(3, 110)), /^a +hub +3 +50 +0 +> 2 ms +12\.3 ms$/m);
});
