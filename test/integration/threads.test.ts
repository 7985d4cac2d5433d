// A server one of whose threads breaks: it is replaced, its watches end between two events, clients go on, and nothing that
// was acknowledged is lost.
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { injectFault } from '../server/faults.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { startClients } from './durability.ts';
import { configMap, createConfigMap, eventually, freshNamespace, namespaceForPods, POD_SPEC } from './objects.ts';

// One after the other: each keeps a server and its clients busy.
const test = ava.serial;
const PROGRAM = fileURLToPath(new URL('../server/breakable-server.js', import.meta.url));
const WRITES_BETWEEN = 20;

function start(t: ExecutionContext, placement: string): Promise<ServerProcess> {
  return startServer(t, { program: PROGRAM, args: ['--placement', placement] });
}

/** Breaks the thread that hosts an actor of the kind; resolves when another is being started in its place. */
async function breakThread(server: ServerProcess, kind: string): Promise<void> {
  const restarts = (): number => server.stderr.split('starting a thread again').length - 1;
  const before = restarts();
  injectFault(server.dataDirectory, kind, { type: 'break' });
  await eventually(
    () => Promise.resolve(restarts()),
    (now) => now > before,
  );
}

/** The placement, and the kinds whose threads break in turn: each thread of it at least once. */
const CASES: readonly (readonly [placement: string, kinds: readonly string[]])[] = [
  ['single', ['store', 'ingress']],
  ['default', ['ingress', 'store', 'hub', 'controllers', 'store']],
  ['wide', ['store', 'admission', 'ingress', 'controllers', 'ingress']],
];

for (const [placement, kinds] of CASES) {
  test(`under ${placement}, when one thread after another breaks, nothing acknowledged is lost and clients go on`, async (t) => {
    const server = await start(t, placement);
    const { client, pid } = server;
    const clients = await startClients(t, client, await freshNamespace(client));
    await clients.progress(WRITES_BETWEEN);
    for (const kind of kinds) {
      await breakThread(server, kind);
      const brokenMs = performance.now();
      await clients.progress(1);
      t.log(
        `${kind}: every client writes again ${Math.round(performance.now() - brokenMs)} ms after its thread was replaced`,
      );
      await clients.progress(WRITES_BETWEEN);
    }
    t.true(
      clients.watch.ends.every((end) => end === 'clean'),
      clients.watch.ends.join(),
    );
    await clients.finish(t);
    await eventually(
      () => client.get('/readyz'),
      ({ text }) => text === 'ok',
    );
    t.is(server.pid, pid);
    t.is(await server.stop(), 0, server.stderr);
  });
}

test('pods are still bound, and namespaces still emptied, after the control thread broke', async (t) => {
  const server = await start(t, 'default');
  const { client } = server;
  await breakThread(server, 'controllers');
  const namespace = await namespaceForPods(client);
  const node = { metadata: { name: 'here' }, status: { allocatable: { cpu: '4', memory: '4Gi', pods: '10' } } };
  t.is((await client.request('POST', '/api/v1/nodes', { body: node })).status, 201);
  const pod = { metadata: { name: 'one' }, spec: { ...POD_SPEC, tolerations: [{ operator: 'Exists' }] } };
  t.is((await client.request('POST', `${namespace.core}/pods`, { body: pod })).status, 201);
  await eventually(
    () => client.get(`${namespace.core}/pods/one`),
    ({ json }) => json.spec?.nodeName === 'here',
  );
  const second = await freshNamespace(client);
  await createConfigMap(client, second, { name: 'inside' });
  await client.request('DELETE', second.core);
  await gone(client, second.core);
  t.is((await client.get(`${second.configMaps}/inside`)).status, 404);
});

test('while the store is away writes are told to come back, and reads and watches go on when it is there', async (t) => {
  const server = await start(t, 'wide');
  const { client } = server;
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'before' }, { a: '1' });
  const watch = await client.watch(`${namespace.configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  await breakThread(server, 'store');
  const configMaps = namespace.configMaps;
  await answeredBy(t, 200, () => client.get(`${configMaps}/before`));
  // Another thread than the one that reads may still be without the store; and what was told to come back may be stored.
  const body = configMap({ name: 'after' });
  await answeredBy(t, 201, () => client.request('POST', configMaps, { body }), 409);
  const events = await watch.until(({ object }) => object.metadata.name === 'after');
  t.false(events.some(({ type }) => type === 'ERROR'));
});

/** Asks until the answer has the code; until then it is told to come back. After that it may find its own work done. */
async function answeredBy(
  t: ExecutionContext,
  code: number,
  ask: () => Promise<Answer>,
  doneBefore?: number,
): Promise<void> {
  let told = false;
  await eventually(ask, ({ status, headers, text }) => {
    if (status === code || (told && status === doneBefore)) return true;
    t.is(status, 503, text);
    // A write that may have been done has none, since clients would repeat it by themselves.
    if (doneBefore === undefined) t.is(headers['retry-after'], '1', text);
    told = true;
    return false;
  });
}

async function gone(client: HttpsClient, path: string): Promise<void> {
  await eventually(
    () => client.get(path),
    ({ status }) => status === 404,
  );
}
