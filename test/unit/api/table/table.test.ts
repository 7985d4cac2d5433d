// The layout of a Table and of PartialObjectMetadata, and that no object can break a row.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partialMetadata, partialMetadataList } from '../../../../api/table/partial-metadata.ts';
import {
  columnsOf,
  hasOwnOrder,
  includeObjectProblem,
  parseIncludeObject,
  rowMetadata,
  rowOf,
  tableOf,
} from '../../../../api/table/table.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { frozen } from '../sample-type.ts';
import { KIND_FACTS, nameOf, requestFor, typeNamed, typesOf } from './fixture.ts';

const NAMESPACES = frozen([
  { metadata: { name: 'a', resourceVersion: '5' }, status: { phase: 'Active' } },
  { metadata: { name: 'b', resourceVersion: '7' }, status: { phase: 'Active' } },
]);
const REQUEST = requestFor(typeNamed('v1 Namespace'));

test('a Table has the list metadata, the columns, and a row for each item in their order', (t) => {
  const table = tableOf(REQUEST, NAMESPACES, { resourceVersion: '9', continue: 'x' }, 'Metadata', true);
  t.deepEqual(table, {
    kind: 'Table',
    apiVersion: 'meta.orch.io/v1',
    metadata: { resourceVersion: '9', continue: 'x' },
    columnDefinitions: columnsOf(REQUEST.type, DIALECTS.orch),
    rows: ['a', 'b'].map((name, index) => ({
      cells: [name, 'Active', '<unknown>'],
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.orch.io/v1',
        metadata: NAMESPACES[index]!.metadata,
      },
    })),
  });
});

test('a Table is answered under the group and version that were asked for', (t) => {
  const request = { ...REQUEST, metaGroup: 'meta.k8s.io', version: 'v1beta1' as const };
  const table = tableOf(request, NAMESPACES, {}, 'Metadata', true);
  t.is(table.apiVersion, 'meta.k8s.io/v1beta1');
  t.is((table.rows[0]!.object as JsonObject).apiVersion, 'meta.k8s.io/v1beta1');
});

test('a Table of nothing has columns and no rows', (t) => {
  const table = tableOf(REQUEST, [], {}, 'Metadata', true);
  t.deepEqual(table.rows, []);
  t.is(table.columnDefinitions?.length, 3);
});

test('a Table that follows another leaves the columns out', (t) => {
  t.is(tableOf(REQUEST, NAMESPACES, {}, 'Metadata', false).columnDefinitions, null);
});

test('rows can carry the whole object, named by its kind, or nothing', (t) => {
  const whole = rowOf(REQUEST, NAMESPACES[0]!, 'Object');
  t.deepEqual(whole.object, { ...NAMESPACES[0]!, kind: 'Namespace', apiVersion: 'v1' });
  t.is(rowOf(REQUEST, NAMESPACES[0]!, 'None').object, null);
});

test('kind and apiVersion in a row with the whole object are those of its type', (t) => {
  const row = rowOf(requestFor(typeNamed('apps/v1 Deployment')), { metadata: {} }, 'Object');
  t.like(row.object, { kind: 'Deployment', apiVersion: 'apps/v1' });
});

test('a Table of one object has its resourceVersion, when it has one', (t) => {
  t.deepEqual(rowMetadata(NAMESPACES[0]!), { resourceVersion: '5' });
  for (const object of [{}, { metadata: null }, { metadata: { resourceVersion: 5 } }, { metadata: 'x' }]) {
    t.deepEqual(rowMetadata(object), {});
  }
});

for (const [parameter, meaning] of [
  [undefined, 'Metadata'],
  ['', 'Metadata'],
  ['None', 'None'],
  ['Metadata', 'Metadata'],
  ['Object', 'Object'],
  ['object', undefined],
  ['constructor', undefined],
] as const) {
  test(`includeObject=${parameter} means ${meaning}`, (t) => {
    t.is(parseIncludeObject(parameter), meaning);
  });
}

test('an includeObject that is none is named in the problem', (t) => {
  t.is(
    includeObjectProblem('all'),
    `Unable to convert to Table as requested: includeObject: Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty`,
  );
});

test('flow schemas are listed in the order in which they are tried', (t) => {
  const request = requestFor(typeNamed('flowcontrol.apiserver.orch.io/v1beta1 FlowSchema'));
  const schema = (name: string, matchingPrecedence: number): JsonObject => ({
    metadata: { name },
    spec: { matchingPrecedence },
  });
  const items = frozen([schema('a', 500), schema('d', 1), schema('c', 500), schema('b', 500)]);
  const names = tableOf(request, items, {}, 'None', true).rows.map(({ cells }) => cells[0]);
  t.deepEqual(names, ['d', 'a', 'b', 'c']);
  t.true(hasOwnOrder(request.type, request.dialect));
  t.false(hasOwnOrder(REQUEST.type, REQUEST.dialect));
});

test('partial metadata is the metadata and nothing else', (t) => {
  t.deepEqual(partialMetadata(NAMESPACES[0]!, 'meta.k8s.io', 'v1'), {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 'a', resourceVersion: '5' },
  });
});

test('a list of partial metadata names the kind of its items', (t) => {
  const list = partialMetadataList(NAMESPACES, { resourceVersion: '9' }, 'meta.orch.io', 'v1beta1');
  t.deepEqual(
    { ...list, items: list.items.length },
    {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.orch.io/v1beta1',
      metadata: { resourceVersion: '9' },
      items: 2,
    },
  );
  t.deepEqual(list.items[1], partialMetadata(NAMESPACES[1]!, 'meta.orch.io', 'v1beta1'));
});

/** Values no schema would let through, in the places where cells look. */
const ODD_VALUES: readonly unknown[] = [null, 'text', 17, true, [], [null, 'x', 3], { name: 5, type: [], ip: {} }];
const PARTS = [
  'metadata',
  'spec',
  'status',
  'conditions',
  'subsets',
  'ports',
  'endpoints',
  'template',
  'data',
  'secrets',
  'series',
  'source',
  'subjects',
  'roleRef',
  'webhooks',
  'involvedObject',
];

test('no kind breaks on an object that is not what it should be', (t) => {
  for (const fact of KIND_FACTS) {
    for (const type of typesOf(fact)) {
      const width = columnsOf(type, DIALECTS.orch).length;
      for (const value of ODD_VALUES) {
        const flat = Object.fromEntries(PARTS.map((part) => [part, value]));
        const nested = Object.fromEntries(PARTS.map((part) => [part, { ...flat, labels: value, annotations: value }]));
        for (const object of [{}, flat, nested]) {
          const { cells } = rowOf(requestFor(type), object, 'Metadata');
          t.is(cells.length, width, nameOf(type));
          for (const cell of cells) t.true(['string', 'number', 'boolean'].includes(typeof cell), nameOf(type));
        }
      }
    }
  }
});
