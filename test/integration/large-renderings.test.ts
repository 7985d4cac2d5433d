// Large answers that are indented or YAML, on both listeners of a real server: the same as the stored bytes rendered at once,
// compressed or not, and gone when their client is.
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { yamlText } from '../../transport/yaml/write.ts';
import { type ServerProcess, sharedServer, startServer } from '../server/server-process.ts';
import { configMap, createConfigMap, freshNamespace, type Namespace } from './objects.ts';

const ARGS = ['--api-dialect', 'kubernetes'];
const SERVERS = {
  uws: sharedServer(test, { args: ARGS, placement: 'default' }),
  node: sharedServer(test, { args: [...ARGS, '--ingress', 'node'], placement: 'default' }),
};
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const YAML = { accept: 'application/yaml' };
const GZIP = { 'accept-encoding': 'gzip' };
/** Without the age of a Table's rows, which goes on. */
const ageless = (text: string): string => text.replaceAll(/"\d+s"/g, '"age"');
const OBJECTS = 30;
const indented = (value: unknown): string => JSON.stringify(value, null, 2);

/** Thirty objects, 600 KB together, whose text no two of them share. Answers the revision of the last. */
async function fill({ client }: ServerProcess, namespace: Namespace): Promise<string> {
  const line = (i: number): string => `line ${i}: "quoted" é\n`;
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key-${i}`, line(i).repeat(3)]));
  let revision = '';
  for (let i = 0; i < OBJECTS; i++) {
    revision = (await createConfigMap(client, namespace, { name: `m${i}` }, data)).metadata.resourceVersion!;
  }
  return revision;
}

const large = (name: string): object =>
  configMap(
    { name },
    Object.fromEntries(Array.from({ length: 8000 }, (_, i) => [`k${i}`, `v ${i} ${'x'.repeat(20)}`])),
  );

for (const [name, server] of Object.entries(SERVERS)) {
  test(`${name}: a large list is the same list indented, as YAML, as a Table, and compressed`, async (t) => {
    const { client } = server();
    const namespace = await freshNamespace(client);
    const revision = await fill(server(), namespace);
    const path = `${namespace.configMaps}?resourceVersion=${revision}&resourceVersionMatch=Exact`;
    const plain = (await client.get(path)).json;
    const table = (await client.get(`${path}&includeObject=Object`, { headers: { accept: TABLE } })).json;
    const cases: readonly (readonly [path: string, headers: Readonly<Record<string, string>>, expected: string])[] = [
      [`${path}&pretty=true`, {}, indented(plain)],
      [path, YAML, yamlText(plain)],
      [`${path}&includeObject=Object&pretty=true`, { accept: TABLE }, indented(table)],
    ];
    for (const [asked, headers, expected] of cases) {
      const answer = await client.get(asked, { headers });
      t.is(answer.status, 200);
      t.true(ageless(answer.text) === ageless(expected), `${asked} ${headers.accept}`);
      const packed = await client.get(asked, { headers: { ...headers, ...GZIP } });
      t.is(packed.headers['content-encoding'], 'gzip');
      t.true(ageless(gunzipSync(packed.bytes).toString()) === ageless(expected), `${asked} ${headers.accept} in gzip`);
    }
  });

  test(`${name}: a large object is the same indented and as YAML, read and as the answer of its write`, async (t) => {
    const { client } = server();
    const { configMaps } = await freshNamespace(client);
    for (const [parameters, headers, rendered] of [
      ['pretty=1', {}, indented],
      ['', YAML, yamlText],
    ] as const) {
      const object = `big-${rendered === yamlText ? 'yaml' : 'json'}`;
      const dry = await client.request('POST', `${configMaps}?dryRun=All&${parameters}`, {
        body: large(object),
        headers,
      });
      t.is(dry.status, 201);
      const written = await client.request('POST', `${configMaps}?${parameters}`, { body: large(object), headers });
      t.is(written.status, 201);
      const plain = (await client.get(`${configMaps}/${object}`)).json;
      t.true(written.text === rendered(plain));
      t.true((await client.get(`${configMaps}/${object}?${parameters}`, { headers })).text === rendered(plain));
      t.is(dry.text.split('\n').length, written.text.split('\n').length - 1);
    }
  });

  test(`${name}: clients that go away in the middle cost nobody an answer`, async (t) => {
    const { client } = server();
    const namespace = await freshNamespace(client);
    await fill(server(), namespace);
    const leavers = Array.from({ length: 8 }, async () => {
      const stream = await client.stream(namespace.configMaps, { headers: YAML });
      await stream.until((received) => received.length > 0);
      stream.close();
    });
    await Promise.all(leavers);
    const lists = await Promise.all(
      Array.from({ length: 10 }, () => client.get(namespace.configMaps, { headers: YAML })),
    );
    t.deepEqual([...new Set(lists.map(({ text }) => text.match(/^ {4}name: m\d+$/gm)?.length))], [OBJECTS]);
  });
}

test('a server whose pool is at work stops in order', async (t) => {
  const server = await startServer(t, { args: ARGS, placement: 'default' });
  const namespace = await freshNamespace(server.client);
  await fill(server, namespace);
  const stream = await server.client.stream(namespace.configMaps, { headers: YAML });
  await stream.until((received) => received.length > 0);
  const stopping = server.stop();
  stream.close();
  t.is(await stopping, 0);
});
