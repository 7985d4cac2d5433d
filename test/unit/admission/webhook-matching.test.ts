// Which webhooks hear of a write: their rules, by operation, group, version, resource, subresource and scope, also by another
// version of the same objects; and their selectors.
import test from 'ava';
import type { Operation } from '../../../actors/admission/attributes.ts';
import { hooksOf } from '../../../actors/admission/hooks/hook.ts';
import { invocationsOf } from '../../../actors/admission/plugins/webhooks/matching.ts';
import { knownTypesOf } from '../../../api/catalog/known-types.ts';
import { readDefinition } from '../../../api/custom/definitions/definition.ts';
import { withCustomTypes } from '../../../api/resources/custom-registry.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const registry = createRegistry(DIALECTS.kubernetes, { runtimeConfig: [] });

interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };

/** The apiVersion that a webhook with a rule is told of a write in; undefined: it is told nothing. */
function toldIn(rule: Rule, write: string, matchPolicy = 'Exact', types = registry): string | undefined {
  const [operation, apiVersion, path] = write.split(' ') as [Operation, string, string];
  const [plural = '', subresource = ''] = path.split('/');
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const type = types.byPath(group, version, plural);
  if (type === undefined) throw new Error(`there is no ${write}`);
  const rules = [{ ...everything, ...rule }];
  const clientConfig = { url: 'https://example.org' };
  const hooks = hooksOf({ webhooks: [{ name: 'w', rules, matchPolicy, clientConfig }] }, 'c');
  return invocationsOf(hooks, types, type, subresource, operation)[0]?.type.apiVersion;
}

const cases: readonly (readonly [rule: Rule, write: string, told: boolean])[] = [
  [{}, 'create v1 pods', true],
  [{}, 'connect v1 pods/exec', true],
  [{ operations: ['CREATE', 'UPDATE'] }, 'create v1 pods', true],
  [{ operations: ['CREATE', 'UPDATE'] }, 'update v1 pods', true],
  [{ operations: ['CREATE', 'UPDATE'] }, 'delete v1 pods', false],
  [{ operations: ['CONNECT'] }, 'connect v1 pods/exec', true],
  [{ apiGroups: [''] }, 'create v1 pods', true],
  [{ apiGroups: [''] }, 'create apps/v1 deployments', false],
  [{ apiGroups: ['apps', 'batch'] }, 'create batch/v1 jobs', true],
  [{ apiVersions: ['v1beta1'] }, 'create batch/v1beta1 cronjobs', true],
  [{ apiVersions: ['v1beta1'] }, 'create batch/v1 cronjobs', false],
  [{ resources: ['pods'] }, 'create v1 pods', true],
  [{ resources: ['pods'] }, 'update v1 pods/status', false],
  [{ resources: ['pods'] }, 'create v1 services', false],
  [{ resources: ['*'] }, 'create v1 services', true],
  [{ resources: ['*'] }, 'update v1 services/status', false],
  [{ resources: ['pods/*'] }, 'update v1 pods/status', true],
  [{ resources: ['pods/*'] }, 'create v1 pods', true],
  [{ resources: ['pods/*'] }, 'update v1 services/status', false],
  [{ resources: ['pods/status'] }, 'update v1 pods/status', true],
  [{ resources: ['pods/status'] }, 'create v1 pods', false],
  [{ resources: ['*/scale'] }, 'update apps/v1 deployments/scale', true],
  [{ resources: ['*/scale'] }, 'update apps/v1 deployments/status', false],
  [{ resources: ['*/*'] }, 'create v1 pods/binding', true],
  [{ scope: '*' }, 'create v1 nodes', true],
  [{ scope: 'Cluster' }, 'create v1 nodes', true],
  [{ scope: 'Cluster' }, 'create v1 pods', false],
  [{ scope: 'Cluster' }, 'create v1 namespaces', true],
  [{ scope: 'Namespaced' }, 'create v1 namespaces', false],
  [{ scope: 'Namespaced' }, 'create v1 nodes', false],
  [{ scope: 'Namespaced' }, 'create v1 pods', true],
  [{}, 'create admissionregistration.k8s.io/v1 validatingwebhookconfigurations', false],
  [{}, 'delete admissionregistration.k8s.io/v1beta1 mutatingwebhookconfigurations', false],
];

for (const [rule, write, told] of cases) {
  test(`a webhook with the rule ${JSON.stringify(rule)} ${told ? 'hears' : 'hears nothing'} of ${write}`, (t) => {
    t.is(toldIn(rule, write) !== undefined, told);
  });
}

test('the same objects in another version are told in the version of the first rule that names one, where the policy is Equivalent', (t) => {
  const rule = { apiGroups: ['extensions'], resources: ['ingresses'] };
  const write = 'create networking.k8s.io/v1 ingresses';
  t.is(toldIn(rule, write), undefined);
  t.is(toldIn(rule, write, 'Equivalent'), 'extensions/v1beta1');
  t.is(
    toldIn({ ...rule, apiGroups: ['extensions', 'networking.k8s.io'] }, write, 'Equivalent'),
    'networking.k8s.io/v1',
  );
  t.is(toldIn({ apiVersions: ['v1beta1'] }, 'update batch/v1 cronjobs/status', 'Equivalent'), 'batch/v1beta1');
  t.is(toldIn({ apiVersions: ['v1beta1'] }, 'update apps/v1 deployments/scale', 'Equivalent'), undefined);
});

test('objects of a custom type are told in a version that is not served any more, and in the first of the definition that rules name', (t) => {
  const versions = [
    { name: 'v1beta1', served: false, storage: true },
    { name: 'v1', served: true },
    { name: 'v2', served: true },
    { name: 'v3', served: true },
  ];
  const spec = { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions };
  const status = { conditions: [{ type: 'Established', status: 'True' }] };
  const definition = readDefinition({ metadata: { name: 'things.example.com' }, spec, status }, 1);
  const words = { prefix: 'x-kubernetes-', metadata: schemaOf(DIALECTS.kubernetes).type('meta/v1.ObjectMeta') };
  const types = withCustomTypes(registry, knownTypesOf(definition, words), 1);
  const told = (apiVersions: readonly string[], matchPolicy?: string): string | undefined =>
    toldIn({ apiGroups: ['example.com'], apiVersions }, 'create example.com/v2 things', matchPolicy, types);
  t.is(told(['v1beta1'], 'Equivalent'), 'example.com/v1beta1');
  t.is(told(['v1beta1'], 'Exact'), undefined);
  t.is(told(['v3', 'v1'], 'Equivalent'), 'example.com/v1');
  t.is(told(['v3', 'v2'], 'Equivalent'), 'example.com/v2');
});

test('a webhook that leaves things out has the defaults of v1, and each of its name is told from the others', (t) => {
  const service = { namespace: 'n', name: 's' };
  const webhook = { name: 'w', clientConfig: { service }, admissionReviewVersions: ['v9', 'v1beta1'] };
  const [first, second] = hooksOf({ webhooks: [webhook, { ...webhook, timeoutSeconds: 3 }] }, 'c');
  t.like(first, {
    id: 'c/w/0',
    timeoutMs: 10_000,
    failsOpen: false,
    supportsDryRun: false,
    reviewVersion: 'v1beta1',
    address: { namespace: 'n', service: 's', port: 443, path: '/' },
  });
  t.like(second, { id: 'c/w/1', timeoutMs: 3000 });
});
