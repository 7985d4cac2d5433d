// Which shape a request gets its answer in: the Accept header and `includeObject`, by what the answer is about.

import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import {
  type AnswerClass,
  type Representation,
  Representations,
} from '../../../../actors/ingress/reads/representation.ts';
import type { CustomForm } from '../../../../api/custom/definitions/custom-type.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import type { RowType } from '../../../../api/table/table.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { exchangeOver } from '../exchanges.ts';

const REPRESENTATIONS = new Representations(DIALECTS.orch, { nowMs: () => 0, monotonicMs: () => 0 });
const POD = { group: '', version: 'v1', kind: 'Pod' };
/** No message stands for it. */
const CUSTOM = { group: 'example.com', version: 'v1', kind: 'CronTab' };
const PROTOBUF = DIALECTS.orch.protobufMediaType;
const as = (kind: string, version = 'v1', group = 'meta.orch.io'): string =>
  `application/json;as=${kind};v=${version};g=${group}`;
const inProtobuf = (kind: string): string => as(kind).replace('application/json', PROTOBUF);

function exchangeWith(accept: string, query: string): Exchange {
  const request = { header: (name: string) => (name === 'accept' ? accept : '') } as Exchange['request'];
  return exchangeOver({}, { request, query: parseQuery(query) });
}

/** The shape chosen, `plain` for none, or the code of the refusal. */
function outcome(answer: AnswerClass, accept: string, query = ''): string | number {
  try {
    const { rendering }: Representation = REPRESENTATIONS.of(exchangeWith(accept, query), answer, POD);
    if (rendering.shape === undefined) return rendering.encoding === 'json' ? 'plain' : rendering.encoding;
    const { kind, metaGroup, version, includeObject } = rendering.shape;
    return `${kind} ${metaGroup}/${version} ${includeObject}`;
  } catch (error) {
    if (isStatusError(error)) return error.status.code ?? 0;
    throw error;
  }
}

const CASES: readonly (readonly [answer: AnswerClass, accept: string, query: string, outcome: string | number])[] = [
  ['object', '', '', 'plain'],
  ['list', 'application/json', 'includeObject=None', 'plain'],
  ['object', as('Table'), '', 'Table meta.orch.io/v1 Metadata'],
  ['list', as('Table', 'v1beta1'), 'includeObject=None', 'Table meta.orch.io/v1beta1 None'],
  ['watch', as('Table', 'v1', 'meta.k8s.io'), 'includeObject=Object', 'Table meta.k8s.io/v1 Object'],
  ['list', as('Table'), 'includeObject=Everything', 400],
  ['object', as('PartialObjectMetadata'), 'includeObject=Everything', 'PartialObjectMetadata meta.orch.io/v1 Metadata'],
  ['watch', as('PartialObjectMetadata'), '', 'PartialObjectMetadata meta.orch.io/v1 Metadata'],
  ['list', as('PartialObjectMetadataList'), '', 'PartialObjectMetadataList meta.orch.io/v1 Metadata'],
  ['list', as('PartialObjectMetadata'), '', 406],
  ['object', as('PartialObjectMetadataList'), '', 406],
  ['watch', as('PartialObjectMetadataList'), '', 406],
  ['document', as('Table'), '', 406],
  ['tableless', as('Table'), '', 406],
  ['tableless', `${as('Table')},application/json`, '', 'plain'],
  ['list', as('Table', 'v2'), '', 406],
  ['list', as('Table', 'v1', 'meta.example.com'), '', 406],
  [
    'list',
    `${as('Table', 'v2')},${as('Table', 'v1beta1')},application/json`,
    '',
    'Table meta.orch.io/v1beta1 Metadata',
  ],
  ['document', `${as('Table')},application/json`, '', 'plain'],
];

for (const [answer, accept, query, expected] of CASES) {
  test(`${answer}: Accept "${accept}" with "${query}" gives ${expected}`, (t) => {
    t.is(outcome(answer, accept, query), expected);
  });
}

const ofCustom: readonly (readonly [
  answer: AnswerClass,
  accept: string,
  encoding: string,
  shape: string | undefined,
])[] = [
  ['object', inProtobuf('PartialObjectMetadata'), 'protobuf', 'PartialObjectMetadata'],
  ['list', inProtobuf('PartialObjectMetadataList'), 'protobuf', 'PartialObjectMetadataList'],
  ['watch', `${PROTOBUF},${inProtobuf('PartialObjectMetadata')}`, 'protobuf', 'PartialObjectMetadata'],
  ['list', `${PROTOBUF},application/json`, 'json', undefined],
  ['list', `${inProtobuf('Table')},${as('Table')}`, 'json', 'Table'],
];
for (const [answer, accept, encoding, shape] of ofCustom) {
  test(`${answer} of a type that has no message: Accept "${accept}" gives ${shape ?? 'all'} in ${encoding}`, (t) => {
    const { rendering } = REPRESENTATIONS.of(exchangeWith(accept, ''), answer, CUSTOM);
    t.deepEqual([rendering.encoding, rendering.shape?.kind], [encoding, shape]);
  });
}

test('who asks for a custom object in what there is none of is told what there is, its metadata in Protobuf as well', (t) => {
  const form = {} as CustomForm;
  const refusal = (accept: string, type: RowType = { ...CUSTOM, form }) =>
    t.throws(() => REPRESENTATIONS.of(exchangeWith(accept, ''), 'object', type))?.message;
  const told = `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`;
  t.is(refusal(PROTOBUF), told);
  t.is(refusal('text/html'), told);
  t.is(refusal(as('PartialObjectMetadataList'), POD), told);
  t.is(refusal('text/html', POD), '406: Not Acceptable');
  const watched = t.throws(() => REPRESENTATIONS.of(exchangeWith('application/yaml', ''), 'watch', POD))?.message;
  t.regex(watched ?? '', /^only the following media types are accepted: application\/json;stream=watch, /);
});

test('who asks for the groups in what there is none of is told what there is, and who asks for their types is not', (t) => {
  const refusal = (kind: string) =>
    t.throws(() => REPRESENTATIONS.ofDocument(exchangeWith('text/html', ''), { kind, apiVersion: 'v1' }))?.message;
  const told = `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`;
  t.is(refusal('APIGroupList'), told);
  t.is(refusal('APIGroup'), told);
  t.is(refusal('APIResourceList'), '406: Not Acceptable');
  t.is(refusal('APIVersions'), '406: Not Acceptable');
});

test('whoever watches is refused as whoever lists, and only then because of what cannot be watched', (t) => {
  const refusal = (answer: AnswerClass, accept: string, type: RowType) =>
    t.throws(() => REPRESENTATIONS.of(exchangeWith(accept, ''), answer, type))?.message;
  const told = `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`;
  for (const accept of [inProtobuf('Table'), as('Nothing')]) {
    t.is(refusal('list', accept, POD), told);
    t.is(refusal('watch', accept, POD), told);
  }
  const custom = { ...CUSTOM, form: {} as CustomForm };
  t.is(refusal('watch', 'text/html', custom), refusal('list', 'text/html', custom));
});

test('a plain representation is made once for all requests that say the same', (t) => {
  const choose = (): Representation => REPRESENTATIONS.of(exchangeWith('application/json', ''), 'list', POD);
  t.is(choose(), choose());
});

test('versions and lists of paths are indented whoever asks, and documents of the API for people only', (t) => {
  const written = (document: object, query = ''): string => {
    const { encode } = REPRESENTATIONS.ofDocument(exchangeWith('application/json', query), document);
    return Buffer.from(encode(document)).toString().trimEnd();
  };
  const paths = { paths: ['/api'] };
  t.is(written(paths), '{\n  "paths": [\n    "/api"\n  ]\n}');
  t.is(written(paths, 'pretty=false'), written(paths));
  const versions = { kind: 'APIVersions', versions: ['v1'] };
  t.is(written(versions), JSON.stringify(versions));
  t.is(written(versions, 'pretty=true'), JSON.stringify(versions, null, 2));
});
