// The fields a new object asserts: the text made in one pass says what a comparison with the empty object says, for every
// kind there is.
import test from 'ava';
import { compareObjects } from '../../../../api/apply/compare.ts';
import { createdFieldsText } from '../../../../api/apply/created-fields.ts';
import { union } from '../../../../api/apply/field-set.ts';
import { readFields } from '../../../../api/apply/managed-entries.ts';
import { ownedType } from '../../../../api/apply/owned-type.ts';
import { managerName } from '../../../../api/apply/ownership.ts';
import { decode, type JsonObject } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import type { TypeSchema } from '../../../../api/schema/schema.ts';
import { sampleOf } from '../sample.ts';
import { LiveObject, schema } from './live-object.ts';
import { oneOf, randomNumbers } from './seeded.ts';

const KINDS = schema.typeNames
  .map((name) => schema.type(name))
  .filter((type) => type.hasTypeMeta && type.field('metadata')?.type?.name === 'meta/v1.ObjectMeta');

function fieldsOf(object: JsonObject, type: TypeSchema): [text: string, compared: unknown] {
  const owned = ownedType(type);
  const { added, modified } = compareObjects(owned.empty, object, owned.rule);
  return [createdFieldsText(object, owned.rule), union(added, modified)];
}

test('the fields of full objects are those that differ from the empty object', (t) => {
  t.true(KINDS.length > 50);
  for (const type of KINDS) {
    const [text, compared] = fieldsOf(sampleOf(type), type);
    t.deepEqual(JSON.parse(text), compared, type.name);
    t.is(text, JSON.stringify(readFields(compared)), type.name);
  }
});

test('the fields of partial objects are those that differ from the empty object', (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomNumbers(seed);
    const type = oneOf(random, KINDS);
    const object = decode(thinned(sampleOf(type), random), type).object;
    if (random() < 0.5) applyDefaults(object, type);
    const canonical = decode(object, type).object;
    const [text, compared] = fieldsOf(canonical, type);
    t.is(text, JSON.stringify(readFields(compared)), `${type.name}, seed ${seed}`);
  }
});

test('an empty object asserts nothing', (t) => {
  for (const type of KINDS) {
    t.is(createdFieldsText(ownedType(type).empty, ownedType(type).rule), '{}', type.name);
  }
});

test('the fields of a pod are those clients expect', (t) => {
  const live = new LiveObject('core/v1.Pod');
  live.create('kubectl-run', {
    metadata: { labels: { run: 'a' }, finalizers: ['example.com/x'] },
    spec: { containers: [{ name: 'a', image: 'nginx', ports: [{ containerPort: 80 }] }] },
    status: { phase: 'Running' },
  });
  t.deepEqual(live.entries, [
    {
      manager: 'kubectl-run',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:finalizers': { '.': {}, 'v:"example.com/x"': {} },
          'f:labels': { '.': {}, 'f:run': {} },
        },
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': {
              '.': {},
              'f:image': {},
              'f:imagePullPolicy': {},
              'f:name': {},
              'f:ports': {
                '.': {},
                'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
              },
              'f:resources': {},
              'f:terminationMessagePath': {},
              'f:terminationMessagePolicy': {},
            },
          },
          'f:dnsPolicy': {},
          'f:enableServiceLinks': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:securityContext': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
    },
  ]);
});

test('kinds without a schema are owned by member, with lists as a whole', (t) => {
  const live = new LiveObject('custom');
  live.create('client', { metadata: { labels: { a: 'b' } }, spec: { size: 1, list: [{ name: 'x' }], none: {} } });
  t.deepEqual(live.entries[0]!.fieldsV1, {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:spec': { '.': {}, 'f:list': {}, 'f:none': {}, 'f:size': {} },
  });
});

test('objects nested deeper than sets can be are owned as a whole below', (t) => {
  let value: object = { end: 1 };
  for (let level = 0; level < 900; level++) value = { a: value };
  const rule = ownedType(undefined).rule;
  const text = createdFieldsText({ spec: value }, rule);
  t.deepEqual(JSON.parse(text), compareObjects({}, { spec: value }, rule).added);
  t.not(readFields(JSON.parse(text)), undefined);
});

const NAMES: readonly (readonly [fieldManager: string | undefined, userAgent: string, name: string])[] = [
  ['given', 'kubectl/v1.21', 'given'],
  [undefined, 'kubectl/v1.21 (linux/amd64)', 'kubectl'],
  ['', 'my controller/1', 'my controller'],
  [undefined, 'plain', 'plain'],
  [undefined, '', 'unknown'],
  [undefined, '/x', 'unknown'],
  [undefined, 'a\u0000b\tc', 'abc'],
  [undefined, 'ü'.repeat(100), 'ü'.repeat(64)],
  [undefined, 'x'.repeat(500), 'x'.repeat(128)],
];

test('a manager is named by the request, else by its user agent', (t) => {
  for (const [fieldManager, userAgent, name] of NAMES) t.is(managerName(fieldManager, userAgent), name);
});

/** The object without some of its members. */
function thinned(value: JsonObject, random: () => number): JsonObject {
  const thin: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (random() < 0.4 && name !== 'kind' && name !== 'apiVersion') continue;
    thin[name] =
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? thinned(member as JsonObject, random)
        : random() < 0.1
          ? null
          : member;
  }
  return thin;
}
