import test from 'ava';
import { decode } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { parseExact } from '../../../api/json/exact-json.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const schema = schemaOf(DIALECTS.orch);

/** Through JSON text, as a body comes in: `__proto__` is an own member then. */
const read = (typeName: string, json: string) => decode(JSON.parse(json), schema.type(typeName));
const canonical = (typeName: string, value: unknown): unknown =>
  decode(JSON.parse(JSON.stringify(value)), schema.type(typeName)).object;

test('members come out in schema order with those that are always written', (t) => {
  const { object, unknownFields } = read(
    'core/v1.Pod',
    '{"spec":{"containers":[{"image":"i","name":"a"}]},"metadata":{"name":"p","labels":{"b":"2","a":"1"}},"apiVersion":"v1","kind":"Pod"}',
  );
  t.is(
    JSON.stringify(object),
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":null,"labels":{"a":"1","b":"2"}},' +
      '"spec":{"containers":[{"name":"a","image":"i","resources":{}}]},"status":{}}',
  );
  t.deepEqual(unknownFields, []);
});

test('an object that is canonical already is returned as it is', (t) => {
  const first = read('core/v1.Pod', '{"kind":"Pod","spec":{"nodeName":"n","containers":[{"name":"a"}]}}').object;
  const text = JSON.stringify(first);
  const second = decode(first, schema.type('core/v1.Pod')).object;
  t.is(second, first);
  t.is(JSON.stringify(second), text);
});

test('of an object that is canonical otherwise a member that its type does not have is dropped', (t) => {
  const full = read('core/v1.Pod', '{"kind":"Pod","spec":{"nodeName":"n","containers":[{"name":"a"}]}}').object;
  const text = JSON.stringify(full);
  for (const beginning of ['{', '"spec":{']) {
    const { object, unknownFields } = read('core/v1.Pod', text.replace(beginning, `${beginning}"later":1,`));
    t.is(JSON.stringify(object), text);
    t.is(unknownFields.length, 1);
  }
});

test('an object may hold more objects than may be nested', (t) => {
  const env = Array.from({ length: 2000 }, (_, i) => ({ name: `n${i}`, value: 'v' }));
  t.is((canonical('core/v1.Container', { name: 'a', env }) as { env: object[] }).env.length, env.length);
});

test('a map is sorted whatever its keys are called', (t) => {
  const { object } = read('meta/v1.ObjectMeta', '{"labels":{"constructor":"y","b":"2","__proto__":"x"}}');
  t.is(JSON.stringify(object.labels), '{"__proto__":"x","b":"2","constructor":"y"}');
});

test('an integer of 32 bits may be all of them, and bytes are whole groups of base64', (t) => {
  for (const priority of [2 ** 31 - 1, -(2 ** 31)]) t.like(canonical('core/v1.PodSpec', { priority }), { priority });
  for (const priority of [2 ** 31, -(2 ** 31) - 1, 1.5])
    t.throws(() => canonical('core/v1.PodSpec', { priority }), { instanceOf: DecodeError });
  for (const k of ['QQ==', 'QUI=', 'QUJD', ''])
    t.deepEqual(canonical('core/v1.ConfigMap', { binaryData: { k } }), {
      metadata: { creationTimestamp: null },
      binaryData: { k },
    });
  for (const k of ['QQ', 'QUI', 'Q===', 'QUJDQ', '=', '====', 'Q=Q=', 'Q QQ'])
    t.throws(() => canonical('core/v1.ConfigMap', { binaryData: { k } }), { instanceOf: DecodeError }, k);
});

test('empty members are dropped unless their absence means something else', (t) => {
  t.deepEqual(
    canonical('core/v1.PodSpec', {
      nodeName: '',
      hostNetwork: false,
      volumes: [],
      nodeSelector: {},
      containers: [],
      securityContext: {},
      automountServiceAccountToken: false,
      priority: 0,
      runtimeClassName: '',
      affinity: null,
      restartPolicy: null,
    }),
    {
      containers: null,
      automountServiceAccountToken: false,
      securityContext: {},
      priority: 0,
      runtimeClassName: '',
    },
  );
  t.deepEqual(canonical('core/v1.Service', {}), {
    metadata: { creationTimestamp: null },
    spec: {},
    status: { loadBalancer: {} },
  });
  t.deepEqual(canonical('rbac/v1.Role', { rules: [] }), { metadata: { creationTimestamp: null }, rules: null });
});

test('an optional member that is always written is null where it is not there', (t) => {
  const reference = (value: object) => canonical('core/v1.TypedLocalObjectReference', value);
  const absent = { apiGroup: null, kind: 'k', name: 'n' };
  t.deepEqual(reference({ kind: 'k', name: 'n' }), absent);
  t.deepEqual(reference(absent), absent);
  t.deepEqual(reference({ ...absent, apiGroup: '' }), { ...absent, apiGroup: '' });
});

test('null inside a list or map stands for the zero value', (t) => {
  t.deepEqual(canonical('core/v1.Container', { name: 'a', args: [null, 'x'], env: [null], command: null }), {
    name: 'a',
    args: ['', 'x'],
    env: [{ name: '' }],
    resources: {},
  });
  t.deepEqual(canonical('meta/v1.ObjectMeta', { labels: { a: null } }), {
    creationTimestamp: null,
    labels: { a: '' },
  });
  t.deepEqual(canonical('authorization/v1.SubjectAccessReviewSpec', { extra: { a: null, b: [] } }), {
    extra: { a: [], b: [] },
  });
});

test('unknown members are dropped and reported with their paths', (t) => {
  const { object, unknownFields } = read(
    'core/v1.Pod',
    '{"bogus":1,"spec":{"containers":[{"name":"a","nope":{}},{"name":"b","ports":[{"containerPort":1,"no.pe":2}]}]},"metadata":{"Labels":{}}}',
  );
  t.deepEqual(unknownFields, [
    'bogus',
    'spec.containers[0].nope',
    'spec.containers[1].ports[0].no.pe',
    'metadata.Labels',
  ]);
  t.false(JSON.stringify(object).includes('nope'));
});

test('a member named as one of every object’s own is unknown like any other', (t) => {
  const { object, unknownFields } = read(
    'core/v1.Pod',
    '{"__proto__":{"polluted":1},"constructor":{},"metadata":{"labels":{"__proto__":"x","a":"1"}}}',
  );
  t.deepEqual(unknownFields, ['__proto__', 'constructor']);
  t.is(Object.getPrototypeOf(object), Object.prototype);
  const labels = (object.metadata as { labels: object }).labels;
  t.is(JSON.stringify(labels), '{"__proto__":"x","a":"1"}');
  t.is(Object.getPrototypeOf(labels), Object.prototype);
});

test('the report of unknown members is bounded', (t) => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'x'.repeat(1000)}${i}`, i]));
  const { unknownFields } = decode(many, schema.type('core/v1.Pod'));
  t.is(unknownFields.length, 100);
  t.true(unknownFields.every((path) => path.length < 100));
});

test('a value of the wrong type is refused with its path', (t) => {
  const cases = [
    ['core/v1.Pod', '[]', 'cannot unmarshal array into a value of type Pod'],
    ['core/v1.Pod', 'null', 'cannot unmarshal null into a value of type Pod'],
    ['core/v1.Pod', '{"kind":1}', 'kind: cannot unmarshal number into a value of type string'],
    ['core/v1.Pod', '{"spec":[]}', 'spec: cannot unmarshal array into a value of type PodSpec'],
    [
      'core/v1.Pod',
      '{"spec":{"containers":[{"name":"a"},{"name":7}]}}',
      'spec.containers[1].name: cannot unmarshal number into a value of type string',
    ],
    [
      'core/v1.Pod',
      '{"spec":{"containers":[{"ports":[{"containerPort":"80"}]}]}}',
      'spec.containers[0].ports[0].containerPort: cannot unmarshal string into a value of type int32',
    ],
    [
      'core/v1.Pod',
      '{"spec":{"containers":{}}}',
      'spec.containers: cannot unmarshal object into a value of type list of Container',
    ],
    [
      'core/v1.Pod',
      '{"spec":{"hostNetwork":"true"}}',
      'spec.hostNetwork: cannot unmarshal string into a value of type bool',
    ],
    [
      'core/v1.Pod',
      '{"metadata":{"labels":["a"]}}',
      'metadata.labels: cannot unmarshal array into a value of type map of string',
    ],
    [
      'core/v1.Pod',
      '{"metadata":{"labels":{"a/b":1}}}',
      'metadata.labels[a/b]: cannot unmarshal number into a value of type string',
    ],
    [
      'core/v1.Pod',
      '{"metadata":{"creationTimestamp":"soon"}}',
      'metadata.creationTimestamp: cannot unmarshal "soon" into a value of type Time',
    ],
    [
      'core/v1.Pod',
      '{"spec":{"priority":2147483648}}',
      'spec.priority: cannot unmarshal "2147483648" into a value of type int32',
    ],
    ['core/v1.Pod', '{"spec":{"priority":1.5}}', 'spec.priority: cannot unmarshal "1.5" into a value of type int32'],
    [
      'core/v1.ResourceRequirements',
      '{"limits":{"cpu":"much"}}',
      'limits[cpu]: cannot unmarshal "much" into a value of type Quantity',
    ],
    ['core/v1.Secret', '{"data":{"a":"***"}}', 'data[a]: illegal base64 data'],
    ['core/v1.ServicePort', '{"targetPort":1.5}', 'targetPort: cannot unmarshal "1.5" into a value of type int32'],
    ['core/v1.ServicePort', '{"targetPort":{}}', 'targetPort: cannot unmarshal object into a value of type int32'],
    ['meta/v1.ManagedFieldsEntry', '{"fieldsV1":[]}', 'fieldsV1: cannot unmarshal array into a value of type object'],
    [
      'apiextensions/v1.JSONSchemaProps',
      '{"items":{"type":1}}',
      'items.type: cannot unmarshal number into a value of type string',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      '{"additionalProperties":"yes"}',
      'additionalProperties: cannot unmarshal string into a value of type JSONSchemaProps',
    ],
  ] as const;
  for (const [type, json, message] of cases) {
    t.throws(() => read(type, json), { instanceOf: DecodeError, message }, json);
  }
});

test('after a refusal the next object is read as if nothing had been', (t) => {
  t.throws(() => read('core/v1.Pod', '{"bogus":1,"spec":{"containers":[{"bogus":1,"name":7}]}}'));
  t.deepEqual(read('core/v1.Pod', '{"spec":{"containers":[{"name":"a"}]}}').unknownFields, []);
});

test('spellings of values are unified', (t) => {
  t.deepEqual(canonical('core/v1.ResourceRequirements', { limits: { cpu: 0.5, memory: '1024Mi' } }), {
    limits: { cpu: '500m', memory: '1Gi' },
  });
  t.deepEqual(canonical('core/v1.Secret', { data: { a: 'YQ\n==', b: 'YR==', c: '', d: null } }), {
    metadata: { creationTimestamp: null },
    data: { a: 'YQ==', b: 'YQ==', c: '', d: '' },
  });
  t.deepEqual(canonical('meta/v1.ObjectMeta', { creationTimestamp: '2021-01-01T01:00:00+01:00' }), {
    creationTimestamp: '2021-01-01T00:00:00Z',
  });
  t.deepEqual(canonical('meta/v1.ObjectMeta', { creationTimestamp: '0001-01-01T00:00:00Z', deletionTimestamp: null }), {
    creationTimestamp: null,
  });
});

test('numbers beyond int64 are refused', (t) => {
  for (const digits of ['9223372036854776000', '-9223372036854776000', '19223372036854775807'])
    t.throws(
      () => read('core/v1.PodSpec', `{"terminationGracePeriodSeconds":${digits}}`),
      { message: /int64/ },
      digits,
    );
});

test('an integer beyond 2^53 is kept to its last digit or refused with its path', (t) => {
  const asSent = (digits: string): unknown =>
    decode(parseExact(`{"activeDeadlineSeconds":${digits}}`) as JsonObject, schema.type('batch/v1.JobSpec')).object
      .activeDeadlineSeconds;
  for (const digits of ['9007199254740992', '-9007199254740994', '1000000000000000000'])
    t.is(JSON.stringify(asSent(digits)), digits);
  for (const digits of ['9007199254740993', '-9007199254740993', '9223372036854775807']) {
    const { message } = t.throws(() => asSent(digits));
    t.regex(message, new RegExp(`^activeDeadlineSeconds: ${digits} is an integer beyond 2\\^53`));
  }
});

test('a number or a text is kept as which it came', (t) => {
  t.deepEqual(canonical('core/v1.HTTPGetAction', { port: 'http' }), { port: 'http' });
  t.deepEqual(canonical('core/v1.HTTPGetAction', { port: 80 }), { port: 80 });
  t.deepEqual(canonical('core/v1.HTTPGetAction', {}), { port: 0 });
});

test('raw values are kept untouched', (t) => {
  const data = { b: [1, { z: null, a: '' }], a: {} };
  t.deepEqual(canonical('apps/v1.ControllerRevision', { data, revision: 1 }), {
    metadata: { creationTimestamp: null },
    data,
    revision: 1,
  });
  t.deepEqual(canonical('meta/v1.ManagedFieldsEntry', { fieldsV1: { 'f:spec': {} } }), { fieldsV1: { 'f:spec': {} } });
});

test('the parts of a JSON schema take their several forms', (t) => {
  const props = {
    type: 'object',
    default: { a: [] },
    enum: [1, null, 'x'],
    items: [{ type: 'string' }, { type: 'integer' }],
    properties: { a: { additionalProperties: false }, b: { additionalProperties: { type: 'string' } } },
    dependencies: { a: ['b'], b: { type: 'string' } },
    'x-orch-preserve-unknown-fields': true,
  };
  t.deepEqual(canonical('apiextensions/v1.JSONSchemaProps', props), props);
});

test('members of an inline struct are read where they stand', (t) => {
  t.is(
    JSON.stringify(canonical('core/v1.EnvVarSource', { configMapKeyRef: { key: 'k', name: 'n', optional: false } })),
    '{"configMapKeyRef":{"name":"n","key":"k","optional":false}}',
  );
});

test('nesting beyond the bound is refused, in our own types and in raw values', (t) => {
  const schemaDeep = `${'{"not":'.repeat(2000)}{}${'}'.repeat(2000)}`;
  t.throws(() => read('apiextensions/v1.JSONSchemaProps', schemaDeep), { message: /nested deeper than 512 levels$/ });
  const raw = `{"revision":1,"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  t.throws(() => read('apps/v1.ControllerRevision', raw), { message: 'data: nested deeper than 512 levels' });
});
