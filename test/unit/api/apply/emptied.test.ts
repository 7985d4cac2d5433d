// Lists that a client gave empty: which are told of, and what they are where owners are compared.
import test from 'ava';
import { withEmptied } from '../../../../api/apply/emptied.ts';
import { NO_FIELDS } from '../../../../api/apply/field-set.ts';
import { ownedType } from '../../../../api/apply/owned-type.ts';
import { entriesOfCreate } from '../../../../api/apply/ownership.ts';
import { decode, type JsonObject } from '../../../../api/codec/decode.ts';
import { schema } from './live-object.ts';

const decoded = (kind: string, object: JsonObject): ReturnType<typeof decode> => decode(object, schema.type(kind));

const EMPTIED: readonly (readonly [kind: string, object: JsonObject, paths: readonly string[]])[] = [
  ['rbac/v1.Role', { rules: [] }, ['rules']],
  ['rbac/v1.Role', { rules: null }, []],
  ['rbac/v1.Role', {}, []],
  ['rbac/v1.Role', { rules: [{ resources: [], verbs: [] }], zz: 1 }, ['rules[0].verbs']],
  ['rbac/v1.RoleBinding', { subjects: [], metadata: { labels: {}, finalizers: [] } }, []],
  ['storage/v1.CSINode', { spec: { drivers: [{}, { topologyKeys: [] }] } }, ['spec.drivers[1].topologyKeys']],
  ['discovery/v1.EndpointSlice', { ports: [], endpoints: [] }, ['ports', 'endpoints']],
];

for (const [kind, object, paths] of EMPTIED) {
  test(`of ${JSON.stringify(object)} of ${kind}, what is told to have come empty is [${paths.join()}]`, (t) => {
    t.deepEqual(decoded(kind, structuredClone(object)).emptied, paths);
  });
}

test('no more than a hundred are told of, and unknown fields beside them', (t) => {
  const rules = Array.from({ length: 300 }, () => ({ verbs: [], zz: 1 }));
  const { emptied, unknownFields } = decoded('rbac/v1.Role', { rules });
  t.is(emptied.length, 100);
  t.is(emptied.at(-1), 'rules[99].verbs');
  t.is(unknownFields.length, 100);
});

const OWNERS: readonly (readonly [kind: string, object: JsonObject, fields: unknown])[] = [
  ['rbac/v1.Role', { rules: [] }, { 'f:rules': {} }],
  ['storage/v1.CSINode', { spec: { drivers: [] } }, { 'f:spec': { 'f:drivers': {} } }],
  [
    'storage/v1.CSINode',
    { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: [] }] } },
    {
      'f:spec': {
        'f:drivers': { 'k:{"name":"d"}': { '.': {}, 'f:name': {}, 'f:nodeID': {}, 'f:topologyKeys': {} } },
      },
    },
  ],
];

for (const [kind, given, fields] of OWNERS) {
  test(`who makes ${JSON.stringify(given)} of ${kind} owns what is in it`, (t) => {
    const { object, emptied } = decoded(kind, structuredClone(given));
    const before = structuredClone(object);
    const writer = { manager: 'm', apiVersion: 'v1', nowIso: '2026-01-01T00:00:00Z' };
    const text = entriesOfCreate(withEmptied(object, emptied, NO_FIELDS), ownedType(schema.type(kind)), writer);
    t.deepEqual((JSON.parse(text) as { fieldsV1: unknown }[])[0]?.fieldsV1, fields);
    t.deepEqual(object, before);
  });
}

test('a list that is filled since, or that the write leaves as it is stored, is not empty', (t) => {
  const filled = { rules: [{ verbs: ['get'] }], status: { conditions: null } };
  t.is(withEmptied(filled, ['rules', 'gone.list'], NO_FIELDS), filled);
  t.is(withEmptied(filled, ['status.conditions'], { 'f:status': {} }), filled);
  t.deepEqual(withEmptied(filled, ['status.conditions'], NO_FIELDS), { ...filled, status: { conditions: [] } });
});
