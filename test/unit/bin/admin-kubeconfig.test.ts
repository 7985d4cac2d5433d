// The kubeconfig of the data folder, after `kubectl config` has written into it.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { adminConnection } from '../../../bin/admin/admin-connection.ts';
import { writeAdminKubeconfig } from '../../../bin/server/admin-kubeconfig.ts';
import { parseYaml } from '../../../transport/yaml/read.ts';

const WAY = { server: 'https://127.0.0.1:6443', caPem: 'the authority', token: 'secret' };
const THERE = { url: WAY.server, tls: { ca: WAY.caPem }, token: WAY.token };

/** As kubectl leaves it: sorted by name, everything in its own order, with another cluster before the server's. */
const EDITED = `apiVersion: v1
clusters:
- cluster:
    server: https://other.example:6443
  name: kind
- cluster:
    certificate-authority-data: ${Buffer.from(WAY.caPem).toString('base64')}
    server: https://127.0.0.1:6443
  name: orch
contexts:
- context:
    cluster: kind
    user: ann
  name: ann
- context:
    cluster: orch
    namespace: shop
    user: orch-admin
  name: orch
current-context: ann
kind: Config
preferences: {}
users:
- name: ann
  user:
    token: of the other cluster
- name: orch-admin
  user:
    token: secret
`;

function folder(t: ExecutionContext, text?: string): { directory: string; path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'admin.conf');
  if (text !== undefined) writeFileSync(path, text, { mode: 0o600 });
  return { directory, path };
}

test("the server's own entries are found among those that kubectl has put before them", (t) => {
  const { directory } = folder(t, EDITED);
  t.like(adminConnection(directory), THERE);
});

test('a start leaves a kubeconfig as it is in which nothing has to change', (t) => {
  const { directory, path } = folder(t, EDITED);
  const { ino } = statSync(path);
  t.is(writeAdminKubeconfig(directory, WAY), path);
  t.is(readFileSync(path, 'utf8'), EDITED);
  t.is(statSync(path).ino, ino);
});

test('a start at another address with another token changes its own entries and keeps those of others', (t) => {
  const { directory, path } = folder(t, EDITED);
  writeAdminKubeconfig(directory, { server: 'https://127.0.0.1:7443', caPem: 'another', token: 'new' });
  t.like(adminConnection(directory), { url: 'https://127.0.0.1:7443', tls: { ca: 'another' }, token: 'new' });
  t.is(statSync(path).mode & 0o777, 0o600);
  const told = parseYaml(readFileSync(path, 'utf8'), 16) as typeof before;
  const before = parseYaml(EDITED, 16) as { clusters: object[]; users: object[]; contexts: object[] };
  t.deepEqual(told.contexts, before.contexts);
  t.deepEqual([told.clusters[0], told.users[0]], [before.clusters[0], before.users[0]]);
  t.like(told, { 'current-context': 'ann', clusters: { length: 2 }, users: { length: 2 } });
});

test('a file that holds nothing of others is written as it was at first', (t) => {
  const { directory, path } = folder(t);
  writeAdminKubeconfig(directory, WAY);
  const first = readFileSync(path, 'utf8');
  writeAdminKubeconfig(directory, { ...WAY, server: 'https://127.0.0.1:7443' });
  t.is(readFileSync(path, 'utf8'), first.replace(':6443', ':7443'));
});

test('entries that were taken out are put back, and become those in use where nothing else is', (t) => {
  const { directory, path } = folder(t, 'kind: Config\napiVersion: v1\ncurrent-context: gone\nusers: null\n');
  writeAdminKubeconfig(directory, WAY);
  t.like(adminConnection(directory), THERE);
  t.like(parseYaml(readFileSync(path, 'utf8'), 16), { 'current-context': 'orch', contexts: [{ name: 'orch' }] });
});

for (const text of [undefined, '', '[', '\0', '- a list']) {
  test(`a kubeconfig is written anew where there is ${text === undefined ? 'none' : JSON.stringify(text)}`, (t) => {
    const { directory } = folder(t, text);
    writeAdminKubeconfig(directory, WAY);
    t.like(adminConnection(directory), THERE);
  });
}

test('the name that the certificate is for is asked for, as long as it is another than the address', (t) => {
  const { directory } = folder(t, EDITED);
  writeAdminKubeconfig(directory, { ...WAY, serverName: 'a.example' });
  t.like(adminConnection(directory), { ...THERE, tls: { servername: 'a.example' } });
  writeAdminKubeconfig(directory, WAY);
  t.false('servername' in adminConnection(directory).tls);
});
