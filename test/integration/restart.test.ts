// A server that is stopped and started again: what it acknowledged is there, and clients go on where they were. Deaths without
// warning are in test/crash.
import ava from 'ava';
import { startServer } from '../server/server-process.ts';
import { startClients } from './durability.ts';
import { freshNamespace } from './objects.ts';

// One after the other: each keeps a server and its clients busy.
const test = ava.serial;
/** Acknowledged to each client before the server is stopped. */
const WRITES_BEFORE = 40;

test('a graceful stop ends watches between two events, and clients go on after the next start', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  const { client } = server;
  const clients = await startClients(t, client, await freshNamespace(client));
  await clients.progress(WRITES_BEFORE);
  t.is(await server.stop(), 0);
  await server.restart();
  await clients.progress(1);
  t.deepEqual(clients.watch.ends, ['clean']);
  await clients.finish(t);
});

test('continue tokens and versions are good across a restart', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  const { client } = server;
  const first = (await client.get('/api/v1/namespaces?limit=2')).json;
  await server.stop();
  await server.restart();
  await freshNamespace(client);
  const token = first.metadata.continue ?? '';
  const rest = await client.get(`/api/v1/namespaces?limit=100&continue=${token}`);
  t.is(rest.status, 200, rest.text);
  t.is(rest.json.metadata.resourceVersion, first.metadata.resourceVersion);
  t.is((first.items?.length ?? 0) + (rest.json.items?.length ?? 0), 4);
  const exact = `/api/v1/namespaces?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
  t.is((await client.get(exact)).json.items?.length, 4);
});
