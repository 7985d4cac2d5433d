// Webhooks that take all the time they are given, under a clock of the test's own: what becomes of a write that has none left.
import test from 'ava';
import { type Keep, KindView } from '../../../actors/admission/cluster.ts';
import { Patience } from '../../../actors/admission/patience.ts';
import { mutatingAdmissionWebhook } from '../../../actors/admission/plugins/mutating-admission-webhook/mutating-admission-webhook.ts';
import type { PluginContext } from '../../../actors/admission/plugins/plugin.ts';
import { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { isStatusError, type Status } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import { type MakeWebhookClient, ServiceTooLate } from '../../../transport/outgoing/service-client.ts';
import { fakeContext } from '../controllers/fake-context.ts';
import { VirtualTime } from '../controllers/virtual-time.ts';
import { askedAttributes } from './asked-attributes.ts';

const dialect = DIALECTS.orch;
const registry = createRegistry(dialect);
const schema = schemaOf(dialect);

/** What becomes of a write that has so much time left and is told to so many webhooks, which hang for 10 s each and may be passed over. */
async function written(leftMs: number, webhooks: number) {
  const time = new VirtualTime();
  const given: number[] = [];
  const toldOf: (string | null)[] = [];
  const webhookClient: MakeWebhookClient = ({ connection }) => ({
    post: (_json, deadlineMs, _place, _doesNothing, url = connection.url) => {
      given.push(deadlineMs);
      toldOf.push(new URL(url).searchParams.get('timeout'));
      return new Promise((_, reject) => time.timers.after(deadlineMs, () => reject(new ServiceTooLate())));
    },
    postUnread: () => Promise.reject(new Error('not asked so')),
    retire: () => {},
  });
  const hooks = Array.from({ length: webhooks }, (_, index) => ({
    name: `hook-${index}.example.org`,
    clientConfig: { url: 'https://hook/' },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
    ...{ namespaceSelector: {}, objectSelector: {}, sideEffects: 'None', admissionReviewVersions: ['v1'] },
    ...{ timeoutSeconds: 10, failurePolicy: 'Ignore' },
  }));
  const follow = <T>(plural: string, keep: Keep<T>): KindView<T> => {
    const view = new KindView(keep);
    const objects: Readonly<Record<string, JsonObject>> =
      plural === 'v1/namespaces' ? { default: {} } : { c: { webhooks: hooks } };
    for (const [name, object] of Object.entries(objects)) view.put(object, { namespace: '', name, revision: 1 });
    return view;
  };
  const plugin = mutatingAdmissionWebhook.create({
    reader: { context: fakeContext(time, () => Promise.reject(new Error('nobody is asked'))) },
    cluster: { follow, current: () => undefined },
    registry,
    dialect,
    schema,
    forms: new StoredForm(registry, schema),
    options: { gate: () => true, callsEndpoints: false, shownToServices: NOTHING_SHOWN, webhookClient },
  } as unknown as PluginContext);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'default' } };
  let refused: Status | undefined;
  let isOver = false;
  const reader = { patience: new Patience(time.clock, leftMs) };
  void Promise.resolve(plugin.mutate?.(askedAttributes(dialect, object, { reader })))
    .catch((error: unknown) => {
      refused = isStatusError(error) ? error.status : undefined;
    })
    .finally(() => {
      isOver = true;
    });
  for (let turn = 0; turn < webhooks && !isOver; turn++) await time.advance(10_000);
  return { isOver, given, toldOf, refused };
}

test('webhooks that hang and may be passed over are, as long as the request has time', async (t) => {
  const { isOver, given, refused } = await written(60_000, 3);
  t.true(isOver);
  t.deepEqual(given, [10_000, 10_000, 10_000]);
  t.is(refused, undefined);
});

test('a write that has no time left is refused, though the webhooks that took it may be passed over', async (t) => {
  const { given, refused } = await written(25_000, 5);
  t.deepEqual(given, [10_000, 10_000, 5000]);
  t.like(refused, {
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: request did not complete within requested timeout',
  });
});

test('a webhook is told how long it is waited for: its own time, or what is left of the request, rounded up to seconds', async (t) => {
  t.deepEqual((await written(60_000, 2)).toldOf, ['10s', '10s']);
  t.deepEqual((await written(23_400, 5)).toldOf, ['10s', '10s', '4s']);
  t.deepEqual((await written(400, 1)).toldOf, ['1s']);
});
