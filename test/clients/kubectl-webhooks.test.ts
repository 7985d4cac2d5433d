// kubectl where admission webhooks have their say: what its user reads of a denial, a warning and a failure, and gets of a change.
import ava from 'ava';
import { testNeeding } from '../server/machine-tools.ts';
import { startServer } from '../server/server-process.ts';
import { patchOf, webhookService } from '../server/webhook-service.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

test('kubectl shows what webhooks deny, warn of and change', async (t) => {
  const hooks = await webhookService(t, {
    deny: () => ({ allowed: false, status: { message: 'no such luck' } }),
    forbid: () => ({ allowed: false, status: { message: 'no such luck', code: 403, reason: 'Forbidden' } }),
    warn: () => ({ allowed: true, warnings: ['mind the gap'] }),
    label: () => patchOf({ op: 'add', path: '/metadata/annotations', value: { seen: 'yes' } }),
    close: ({ response }) => void response.destroy(),
  });
  const server = await startServer(t, { args: ['--api-dialect', 'kubernetes'] });
  const kubectl = new Kubectl(server);
  t.teardown(() => kubectl.dispose());
  const webhook = (path: string): object => ({
    name: `${path}.example.org`,
    clientConfig: { url: `${hooks.url}/${path}`, caBundle: hooks.caBundle },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: path } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
  });
  const configurations = (
    [
      ['ValidatingWebhookConfiguration', ['deny', 'forbid', 'warn', 'close']],
      ['MutatingWebhookConfiguration', ['label']],
    ] as const
  ).map(([kind, paths]) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'hooks' },
    webhooks: paths.map(webhook),
  }));
  const list = { apiVersion: 'v1', kind: 'List', items: configurations };
  await kubectl.ok(['apply', '-f', '-'], JSON.stringify(list));
  const made = (label: string): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: label, labels: { case: label } } });
  const denied = 'admission webhook "deny.example.org" denied the request: no such luck';
  t.is(
    await kubectl.refused(['create', '-f', '-'], made('deny')),
    `Error from server: error when creating "STDIN": ${denied}\n`,
  );
  t.is(
    await kubectl.refused(['create', '-f', '-'], made('forbid')),
    `Error from server (Forbidden): error when creating "STDIN": ${denied.replace('deny.', 'forbid.')}\n`,
  );
  t.regex(
    await kubectl.refused(['create', '-f', '-'], made('close')),
    /^Error from server \(InternalError\): .*failed calling webhook "close.example.org": Post "https:/,
  );
  t.is((await kubectl.run(['create', '-f', '-'], made('warn'))).stderr, 'Warning: mind the gap\n');
  await kubectl.ok(['create', '-f', '-'], made('label'));
  t.is(await kubectl.ok(['get', 'configmap', 'label', '-o', 'jsonpath={.metadata.annotations.seen}']), 'yes');
});
