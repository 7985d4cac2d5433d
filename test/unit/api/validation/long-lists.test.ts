// Lists as long as a body can hold them take time in proportion to their length, also where an update is held against what is stored.
import test from 'ava';
import { loadPatterns } from '../../../../api/custom/checks/patterns.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { complete, validationOf } from './objects.ts';

const DIALECT = DIALECTS.kubernetes;
const VALIDATION = validationOf('kubernetes');
const COUNT = 20_000;

const many = <T>(make: (index: number) => T): T[] => Array.from({ length: COUNT }, (_, index) => make(index));

test.before(async () => {
  await loadPatterns();
});

/** The causes of an update of what a value says to the same with another label, each once. */
function causesOfUpdate(value: JsonObject, subresource = ''): string[] {
  const { type, object } = complete(value, DIALECT);
  const next = complete({ ...value, metadata: { ...(value.metadata as object), labels: { a: 'b' } } }, DIALECT).object;
  return [...new Set(VALIDATION.update(next, object, type, subresource).map(({ message }) => message))];
}

test('rules of an ingress for hosts with a wildcard that were there before are let stay', (t) => {
  const http = {
    paths: [{ path: '//', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
  };
  const rules = many((index) => ({ host: `*.h${index}.example.com`, http }));
  const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web', namespace: 'shop' } };
  t.deepEqual(causesOfUpdate({ ...ingress, spec: { rules } }), []);
});

test('secrets of an ingress whose names were bad before are let stay', (t) => {
  const tls = many((index) => ({ hosts: ['a'], secretName: index === COUNT - 1 ? 'A B' : `s${index}` }));
  const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web', namespace: 'shop' } };
  const defaultBackend = { service: { name: 'web', port: { number: 80 } } };
  t.deepEqual(causesOfUpdate({ ...ingress, spec: { tls, defaultBackend } }), []);
});

test('webhooks that had side effects and names of others before are let stay', (t) => {
  const clientConfig = { url: 'https://hooks.example.com/' };
  const webhooks = many((index) => ({
    name: `h${index >>> 1}.example.com`,
    clientConfig,
    sideEffects: index === COUNT - 1 ? 'Some' : 'None',
    admissionReviewVersions: ['v1'],
  }));
  const kind = 'ValidatingWebhookConfiguration';
  t.deepEqual(
    causesOfUpdate({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'checks' }, webhooks }),
    [],
  );
});

test('conditions of a certificate request whose types were repeated before are let stay', (t) => {
  const conditions = many(() => ({ type: 'Approved', status: 'True', reason: 'a' }));
  const request = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'jane' },
  };
  const spec = { request: '', signerName: 'example.com/a', usages: ['client auth'] };
  t.deepEqual(causesOfUpdate({ ...request, spec, status: { conditions } }, 'status'), []);
});

/** What is wrong with a definition of objects that have these members. */
function causesOfDefinition(properties: object) {
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  const { type, object } = complete(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
    DIALECT,
  );
  return VALIDATION.create(object, type);
}

test('keys of a list in a schema are told to be no members of its elements', (t) => {
  const list = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': many((index) => `k${index}`),
    items: { type: 'object', properties: {} },
  };
  const errors = causesOfDefinition({ list });
  t.regex(errors[0]?.message ?? '', /entries must all be names of item properties$/);
});

test('defaults in the metadata of a whole object are looked at by checks that are compiled once', (t) => {
  const properties = Object.fromEntries(many((index) => [`a${index}`, { type: 'string', default: 'x' }]));
  const annotations = { type: 'object', properties };
  const whole = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { metadata: { type: 'object', properties: { annotations } } },
  };
  t.deepEqual(causesOfDefinition({ whole }), []);
});

test('the containers of a pod are looked at once for all the profiles that its annotations name', (t) => {
  const of = (index: number) => [`container.apparmor.security.beta.kubernetes.io/c${index}`, 'unconfined'];
  const annotations = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => of(index)));
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', annotations } };
  const { type, object } = complete({ ...pod, spec: { containers: [{ image: 'a', name: 'c2000' }] } }, DIALECT);
  const [container] = (object.spec as { containers: [object] }).containers;
  let reads = 0;
  Object.defineProperty(container, 'name', {
    enumerable: true,
    get: () => {
      reads++;
      return 'c2000';
    },
  });
  const errors = VALIDATION.create(object, type);
  t.true(errors.every(({ message }) => message.endsWith('container not found')));
  t.is(errors.length, 1000);
  t.true(reads < 100, String(reads));
});
