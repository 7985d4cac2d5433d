// `orch store move` between a folder and a real etcd, as an operator meets it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { ORCH } from '../server/program.ts';
import { ServerProcess } from '../server/server-process.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const test = testNeeding(ava, ['etcd']).serial;

interface Ended {
  readonly code: number;
  readonly text: string;
}

function move(...args: string[]): Promise<Ended> {
  return store('move', ...args);
}

function store(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ORCH, 'store', ...args], { timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr });
    });
  });
}

/** A move while a server is written to. */
async function refusedBesideWrites({ client }: ServerProcess, ...args: string[]): Promise<Ended> {
  let ended: Ended | undefined;
  const moved = move(...args).then((end) => {
    ended = end;
    return end;
  });
  for (let n = 0; ended === undefined; n++) {
    await client.request('PUT', `${MAPS}/kept`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { n: String(n) } },
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return await moved;
}

test('a folder moves to a real etcd and back: objects keep their uids, versions only grow, old ones are 410', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'orch-move-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const member = await EtcdMember.start();
  t.teardown(() => member.dispose());
  const [folder, back] = [join(root, 'one'), join(root, 'back')];
  const shared = ['--store-servers', member.server];
  let uid: string | undefined;
  let version = 0;
  for (const [directory, more] of [
    [folder, []],
    [folder, shared],
    [back, []],
  ] as const) {
    const server = new ServerProcess(directory, await freePort(), { args: more });
    t.teardown(() => server.dispose());
    t.is(await server.start(), undefined);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } };
    if (uid === undefined) uid = (await server.client.request('POST', MAPS, { body })).json.metadata.uid;
    else {
      const watch = await server.client.watch(`${MAPS}?watch=1&resourceVersion=${version}`);
      t.like(await watch.next(), { type: 'ERROR', object: { code: 410 } });
    }
    const { metadata } = (await server.client.get(`${MAPS}/kept`)).json;
    t.is(metadata.uid, uid);
    t.true(Number(metadata.resourceVersion) > version || directory === back);
    version = Number((await server.client.get(MAPS)).json.metadata.resourceVersion);
    if (more.length > 0)
      t.regex((await refusedBesideWrites(server, '--to', back, ...shared)).text, /a server is running/);
    await server.stop();
    const ended =
      directory === back ? undefined : await move(...(more.length > 0 ? ['--to', back] : [folder]), ...shared);
    if (ended !== undefined) t.is(ended.code, 0, ended.text);
  }
  const again = await move('--to', join(root, 'other'), ...shared);
  t.regex(again.text, /were moved to/);
  t.not(again.code, 0);
  for (const command of ['check', 'repair']) {
    const looked = await store(command, ...shared);
    t.not(looked.code, 0);
    t.regex(looked.text, /^orch: \S+ says that the objects were moved to \/.+\/back$/m);
    t.notRegex(looked.text, /damage|repair/);
  }
});

test('a move under a prefix says that servers are to be started with it, in either direction, and they find the objects there', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'orch-move-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const member = await EtcdMember.start();
  t.teardown(() => member.dispose());
  const prefix = ['--store-prefix', '/others'];
  const [folder, back] = [join(root, 'one'), join(root, 'back')];
  const serverIn = async (directory: string, ...args: string[]): Promise<ServerProcess> => {
    const server = new ServerProcess(directory, await freePort(), { args: [...prefix, ...args] });
    t.teardown(() => server.dispose());
    t.is(await server.start(), undefined);
    return server;
  };
  const first = await serverIn(folder);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } };
  const { uid } = (await first.client.request('POST', MAPS, { body })).json.metadata;
  await first.stop();
  const shared = ['--store-servers', member.server];
  t.regex(
    (await move(folder, ...shared, ...prefix)).text,
    /start the servers with --store-servers --store-prefix \/others$/m,
  );
  t.regex(
    (await move('--to', back, ...shared, ...prefix)).text,
    /start the server with --data-dir \/.+\/back --store-prefix \/others$/m,
  );
  const last = await serverIn(back);
  t.is((await last.client.get(`${MAPS}/kept`)).json.metadata.uid, uid);
  await last.stop();
});
