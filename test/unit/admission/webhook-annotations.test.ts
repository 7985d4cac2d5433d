// What webhooks say for audit events, and what is said of them: two plugins and a webhook's server, without the rest of ours.
import test from 'ava';
import { pino } from 'pino';
import type { Attributes } from '../../../actors/admission/attributes.ts';
import { type Keep, KindView } from '../../../actors/admission/cluster.ts';
import { mutatingAdmissionWebhook } from '../../../actors/admission/plugins/mutating-admission-webhook/mutating-admission-webhook.ts';
import type { AdmissionPlugin, PluginContext } from '../../../actors/admission/plugins/plugin.ts';
import { validatingAdmissionWebhook } from '../../../actors/admission/plugins/validating-admission-webhook/validating-admission-webhook.ts';
import type { AuditAnnotation } from '../../../actors/admission/protocol.ts';
import { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import { type MakeWebhookClient, ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { type Behaviour, patchOf, webhookService } from '../../server/webhook-service.ts';
import { NO_METRICS } from '../controllers/fake-context.ts';
import { askedAttributes } from './asked-attributes.ts';

const dialect = DIALECTS.orch;
const registry = createRegistry(dialect);
const schema = schemaOf(dialect);

/** The thread runs other tests as well, on a busy machine for minutes: no webhook is waited for in vain here. */
const PATIENT_SECONDS = 240;

/** A plugin whose configurations are these. */
function pluginWith(
  kind: typeof mutatingAdmissionWebhook,
  configurations: Readonly<Record<string, JsonObject>>,
  lines: string[],
): AdmissionPlugin {
  const follow = <T>(plural: string, keep: Keep<T>): KindView<T> => {
    const view = new KindView(keep);
    const objects = plural === 'v1/namespaces' ? { default: {} } : configurations;
    for (const [name, object] of Object.entries(objects)) view.put(object, { namespace: '', name, revision: 1 });
    return view;
  };
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const context = { ...realEnvironment, log, metrics: NO_METRICS };
  const webhookClient: MakeWebhookClient = (parts) => new ServiceClient(parts);
  const options = { gate: () => true, callsEndpoints: false, shownToServices: NOTHING_SHOWN, webhookClient };
  return kind.create({
    reader: { context, requestTimeoutMs: PATIENT_SECONDS * 1000 },
    cluster: { follow, current: () => undefined },
    registry,
    dialect,
    schema,
    forms: new StoredForm(registry, schema),
    options,
  } as unknown as PluginContext);
}

function written(): Attributes {
  return askedAttributes(dialect, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', namespace: 'default' },
  });
}

const answering = async (
  t: Parameters<typeof webhookService>[0],
  kind: typeof mutatingAdmissionWebhook,
  behaviours: Readonly<Record<string, Behaviour>>,
  lines: string[] = [],
) => {
  const { url, caBundle } = await webhookService(t, behaviours);
  const webhooks = Object.keys(behaviours).map((path) => ({
    name: `${path}.example.org`,
    clientConfig: { url: `${url}/${path}`, caBundle },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: PATIENT_SECONDS,
    failurePolicy: 'Fail',
  }));
  return pluginWith(kind, { c: { webhooks } }, lines);
};

const metadata = (key: string, value: string): AuditAnnotation => ({ key, value, level: 'Metadata' });

test('what a webhook says is kept under its name, unless it is no name, or another value is there', async (t) => {
  const plugin = await answering(t, validatingAdmissionWebhook, {
    says: () => ({ allowed: true, auditAnnotations: { why: 'so', 'no name': 'x', 'a/b': 'y', '': 'z' } }),
  });
  const attributes = written();
  await plugin.validate?.(attributes);
  await plugin.validate?.(attributes);
  t.deepEqual(attributes.auditAnnotations, [metadata('says.example.org/why', 'so')]);
  t.true(attributes.annotate('says.example.org/why', 'so'));
  t.false(attributes.annotate('says.example.org/why', 'other'));
  t.deepEqual(attributes.auditAnnotations, [metadata('says.example.org/why', 'so')]);
});

test('of all that a webhook says in vain there is one line in the log', async (t) => {
  const lines: string[] = [];
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 'v']));
  const plugin = await answering(
    t,
    validatingAdmissionWebhook,
    { chats: () => ({ allowed: true, auditAnnotations: many }) },
    lines,
  );
  const attributes = written();
  await plugin.validate?.(attributes);
  t.is(attributes.auditAnnotations.length, 100);
  t.is(lines.length, 1);
  t.like(JSON.parse(lines[0]!), { webhook: 'chats.example.org', count: 4900 });
});

test('a webhook that refuses says why as well', async (t) => {
  const plugin = await answering(t, validatingAdmissionWebhook, {
    refuses: () => ({ allowed: false, auditAnnotations: { why: 'not' } }),
  });
  const attributes = written();
  await t.throwsAsync(async () => plugin.validate?.(attributes));
  t.deepEqual(attributes.auditAnnotations, [metadata('refuses.example.org/why', 'not')]);
});

test('a patch that changes nothing is told, too', async (t) => {
  const operation = { op: 'replace', path: '/metadata/name', value: 'm' };
  const plugin = await answering(t, mutatingAdmissionWebhook, { repeats: () => patchOf(operation) });
  const attributes = written();
  // In canonical form, as the steps before plugins leave it.
  const before = { ...attributes.object, metadata: { name: 'm', namespace: 'default', creationTimestamp: null } };
  attributes.object = before;
  await plugin.mutate?.(attributes);
  t.is(attributes.object, before);
  t.false(attributes.wantsSecondRound);
  const of = { configuration: 'c', webhook: 'repeats.example.org' };
  t.deepEqual(attributes.auditAnnotations, [
    {
      key: 'patch.webhook.admission.orch.io/round_0_index_0',
      value: JSON.stringify({ ...of, patch: [operation], patchType: 'JSONPatch' }),
      level: 'Request',
    },
    metadata('mutation.webhook.admission.orch.io/round_0_index_0', JSON.stringify({ ...of, mutated: false })),
  ]);
});

test('what webhooks change is told, with their patches at a higher level, and what they leave as it is', async (t) => {
  const operation = { op: 'add', path: '/data', value: { a: 'b' } };
  const plugin = await answering(t, mutatingAdmissionWebhook, {
    looks: () => ({ allowed: true, auditAnnotations: { seen: 'yes' } }),
    changes: () => patchOf(operation),
  });
  const attributes = written();
  await plugin.mutate?.(attributes);
  const of = { configuration: 'c', webhook: 'changes.example.org' };
  t.deepEqual(attributes.auditAnnotations, [
    metadata('looks.example.org/seen', 'yes'),
    metadata(
      'mutation.webhook.admission.orch.io/round_0_index_0',
      JSON.stringify({ configuration: 'c', webhook: 'looks.example.org', mutated: false }),
    ),
    {
      key: 'patch.webhook.admission.orch.io/round_0_index_1',
      value: JSON.stringify({ ...of, patch: [operation], patchType: 'JSONPatch' }),
      level: 'Request',
    },
    metadata('mutation.webhook.admission.orch.io/round_0_index_1', JSON.stringify({ ...of, mutated: true })),
  ]);
  attributes.begin(1, '2026-01-01T00:00:00Z', undefined, {});
  t.deepEqual(attributes.auditAnnotations, []);
});
