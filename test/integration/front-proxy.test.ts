// The certificate by which the server shows itself to extension servers and webhooks, replaced while it runs.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { certificateAuthority, certificateOf } from '../server/credentials.ts';
import { OUTSIDE } from '../server/extension-server.ts';
import { answering, fakeExtension } from '../server/fake-extension.ts';
import { startServer } from '../server/server-process.ts';
import { webhookService } from '../server/webhook-service.ts';
import { establish, GROUP, object, path } from './custom-definitions.ts';
import { configure, created, map, webhookAt } from './hooked-server.ts';
import { eventually } from './objects.ts';

const test = OUTSIDE === undefined ? ava.skip : ava;

/** The conversion that changes nothing but the version. */
const converted = (review: unknown): object => {
  const { desiredAPIVersion, objects } = (review as { request: { desiredAPIVersion: string; objects: object[] } })
    .request;
  const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion }));
  return { result: { status: 'Success' }, convertedObjects };
};

test('a front-proxy certificate that is replaced is what extension servers, admission and conversion webhooks are shown from then on', async (t) => {
  const files = mkdtempSync(join(tmpdir(), 'orch-front-'));
  t.teardown(() => rmSync(files, { recursive: true, force: true }));
  certificateAuthority(files, 'fronts');
  for (const name of ['one', 'two']) certificateOf(files, 'fronts', name, `/CN=${name}`);
  const install = (name: string): void => {
    for (const kind of ['crt', 'key']) cpSync(join(files, `${name}.${kind}`), join(files, `front.${kind}`));
  };
  install('one');
  const server = await startServer(t, {
    args: [
      '--enable-aggregator-routing',
      `--proxy-client-cert-file=${join(files, 'front.crt')}`,
      `--proxy-client-key-file=${join(files, 'front.key')}`,
    ],
  });
  const { client } = server;
  const hooks = await webhookService(t, {
    allow: () => ({ allowed: true }),
    convert: ({ review }) => converted(review),
  });
  const at = { server, hooks };
  await configure(at, 'validating', 'v', [webhookAt(hooks, 'allow')]);
  const clientConfig = { url: `${hooks.url}/convert`, caBundle: hooks.caBundle };
  const schema = { type: 'object', 'x-orch-preserve-unknown-fields': true };
  await establish(client, {
    schema,
    version: { subresources: {}, additionalPrinterColumns: [] },
    more: [{ name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema } }],
    spec: {
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  });
  t.is((await client.request('POST', path(), { body: object('one', {}) })).status, 201);
  const extension = await fakeExtension(t, server, 'things', { handler: answering({ kind: 'ThingList', items: [] }) });
  let count = 0;
  const askAll = async (): Promise<readonly string[]> => {
    const asked = hooks.asked.length;
    t.is((await client.get(extension.path)).status, 200);
    t.is((await created(at, map(`map-${count++}`, 'allow'))).status, 201);
    t.is((await client.get(`/apis/${GROUP}/v2/namespaces/default/crontabs/one`)).status, 200);
    const shown = (wanted: string) => hooks.asked.slice(asked).findLast((one) => one.path === wanted)?.shown ?? '';
    return [extension.seen.findLast(({ url }) => url === extension.path)!.shownBy, shown('allow'), shown('convert')];
  };
  t.deepEqual(await askAll(), ['one', 'one', 'one']);
  install('two');
  // Not in haste: each round costs the server three calls.
  const askSlowly = async (): Promise<readonly string[]> => {
    await new Promise((resolve) => setTimeout(resolve, 250));
    return askAll();
  };
  t.deepEqual(await eventually(askSlowly, (shown) => shown.every((name) => name === 'two')), ['two', 'two', 'two']);
  // A pair that cannot be used leaves the one before in force.
  writeFileSync(join(files, 'front.key'), 'nothing');
  t.deepEqual(await askAll(), ['two', 'two', 'two']);
  t.is((await client.get('/readyz')).status, 200);
});
