import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { parseMediaType } from '../../../transport/media-type.ts';
import {
  isPrettyRequest,
  negotiate,
  type Offer,
  offeredMediaTypes,
  parseAccept,
} from '../../../transport/negotiation.ts';

const { orch, kubernetes } = DIALECTS;
const PROTOBUF = orch.protobufMediaType;

const BUILT_IN: Offer = {
  formats: ['json', 'yaml', 'protobuf'],
  protobufMediaType: PROTOBUF,
  transforms: ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'],
  isWatch: false,
};
const CUSTOM: Offer = { ...BUILT_IN, formats: ['json', 'yaml'] };
const WATCH: Offer = { ...BUILT_IN, isWatch: true };
const PLAIN: Offer = { ...BUILT_IN, transforms: [] };

const table = (group: string, version = 'v1'): string => `application/json;as=Table;v=${version};g=${group}`;

const CHART = `application/json;as=Chart;v=v1;g=${orch.metaGroup}`;

const CHOICES: readonly (readonly [title: string, offer: Offer, accept: string, expected: string | null])[] = [
  ['nothing sent means JSON', BUILT_IN, '', 'application/json'],
  ['anything means JSON', BUILT_IN, '*/*', 'application/json'],
  ['JSON', BUILT_IN, 'application/json', 'application/json'],
  ['the type is not case sensitive', BUILT_IN, 'Application/JSON', 'application/json'],
  ['a parameter that means nothing here is ignored', BUILT_IN, 'application/json;charset=utf-8', 'application/json'],
  ['YAML', BUILT_IN, 'application/yaml', 'application/yaml'],
  ['Protobuf', BUILT_IN, PROTOBUF, PROTOBUF],
  ['Protobuf is not offered for custom kinds', CUSTOM, PROTOBUF, null],
  [
    'the next clause is taken when the first is not offered',
    CUSTOM,
    `${PROTOBUF},application/json`,
    'application/json',
  ],
  ['the higher quality wins', BUILT_IN, 'application/json;q=0.3, application/yaml;q=0.8', 'application/yaml'],
  ['a quality of nought forbids', BUILT_IN, 'application/json;q=0', null],
  ['a named type wins over a wildcard of the same quality', BUILT_IN, '*/*, application/yaml', 'application/yaml'],
  ['a wildcard of a type', BUILT_IN, 'application/*', 'application/json'],
  ['a wildcard of another type', BUILT_IN, 'text/*', null],
  ['a wildcard of a type that begins alike', BUILT_IN, 'app/*', null],
  ['a wildcard of a type that is one letter short', BUILT_IN, 'applicatio/*', null],
  ['a browser', BUILT_IN, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
  ['another type', BUILT_IN, 'text/html', null],
  ['no media type at all', BUILT_IN, 'garbage', null],
  ['an unknown transform is passed over', BUILT_IN, `${CHART},*/*`, 'application/json'],
  ['an unknown transform alone', BUILT_IN, CHART, null],
  ['a transform in an unknown group', BUILT_IN, table('meta.example.com'), null],
  ['a transform in an unknown version', BUILT_IN, table(orch.metaGroup, 'v2'), null],
  ['a transform without a group', BUILT_IN, 'application/json;as=Table;v=v1', null],
  ['a transform where none is offered', PLAIN, `${table(orch.metaGroup)},application/json`, 'application/json'],
  ['a Table cannot be Protobuf', BUILT_IN, `${PROTOBUF};as=Table;v=v1;g=${orch.metaGroup}`, null],
  ['a watch as a stream', WATCH, 'application/json;stream=watch', 'application/json'],
  ['a watch in Protobuf says that it is one', WATCH, `${PROTOBUF};stream=watch`, `${PROTOBUF};stream=watch`],
  ['a watch in Protobuf, asked for without saying so', WATCH, PROTOBUF, `${PROTOBUF};stream=watch`],
  ['a watch is never YAML', WATCH, 'application/yaml', null],
  ['another kind of stream', WATCH, 'application/json;stream=tail', null],
  ['a quoted parameter may hold a comma', BUILT_IN, 'application/json;x="a,b;c", text/html', 'application/json'],
];

for (const [title, offer, accept, expected] of CHOICES) {
  test(`accept: ${title}`, (t) => {
    t.is(negotiate(accept, offer)?.contentType ?? null, expected);
    t.is(negotiate(accept, offer)?.contentType ?? null, expected, 'the remembered choice is the same');
  });
}

test('a transform is answered under the group name of either dialect', (t) => {
  for (const group of [orch.metaGroup, kubernetes.metaGroup]) {
    for (const version of ['v1', 'v1beta1'] as const) {
      t.deepEqual(negotiate(table(group, version), BUILT_IN)?.transform, { kind: 'Table', group, version });
    }
  }
});

test("kubectl's header takes the newest Table, and plain JSON where there is none", (t) => {
  const accept = `${table(kubernetes.metaGroup)},${table(kubernetes.metaGroup, 'v1beta1')},application/json`;
  t.deepEqual(negotiate(accept, BUILT_IN)?.transform, { kind: 'Table', group: kubernetes.metaGroup, version: 'v1' });
  t.deepEqual(negotiate(accept, PLAIN), { format: 'json', contentType: 'application/json', pretty: false });
});

test('partial metadata may be Protobuf', (t) => {
  const choice = negotiate(`${PROTOBUF};as=PartialObjectMetadataList;v=v1;g=${orch.metaGroup}`, BUILT_IN);
  t.is(choice?.format, 'protobuf');
  t.is(choice?.transform?.kind, 'PartialObjectMetadataList');
});

test('a clause may ask for indented text, but not of a watch', (t) => {
  t.true(negotiate('application/json;pretty=1', BUILT_IN)?.pretty);
  t.false(negotiate('application/json;pretty=1', WATCH)?.pretty);
});

test('many different headers are all answered', (t) => {
  for (let i = 0; i < 2000; i++) t.is(negotiate(`application/x${i}, application/yaml`, BUILT_IN)?.format, 'yaml');
  for (const quoted of ['', ';x="1"']) {
    const others = (count: number): string => `text/html${quoted},`.repeat(count);
    t.is(negotiate(`${others(20_000)}application/json`, BUILT_IN), null);
    t.is(negotiate(`${others(64)}application/json`, BUILT_IN), null);
    t.is(negotiate(`${others(63)}application/json`, BUILT_IN)?.format, 'json');
  }
});

test('clauses are sorted by quality, then as sent; malformed ones are left out', (t) => {
  const clauses = parseAccept('a/a;q=0.5, b/b, junk, c/c;q=x, d/d;q=0.7;v="1,2", e/e;q=7');
  t.deepEqual(
    clauses.map(({ type, q }) => [type, q]),
    [
      ['b/b', 1],
      ['c/c', 1],
      ['e/e', 1],
      ['d/d', 0.7],
      ['a/a', 0.5],
    ],
  );
  t.is(clauses[3]?.parameters.get('v'), '1,2');
});

test('the media types of a 406 leave out what a watch does not offer', (t) => {
  t.deepEqual(offeredMediaTypes(BUILT_IN), ['application/json', 'application/yaml', PROTOBUF]);
  t.deepEqual(offeredMediaTypes(WATCH), ['application/json;stream=watch', `${PROTOBUF};stream=watch`]);
});

test('indented text is for people, or for who asks', (t) => {
  const cases: readonly (readonly [string | null, string, boolean])[] = [
    [null, 'curl/8.0', true],
    [null, 'Wget/1.21', true],
    [null, 'Mozilla/5.0 (X11)', true],
    [null, 'kubectl/v1.21.0', false],
    [null, '', false],
    ['true', 'kubectl/v1.21.0', true],
    ['false', 'curl/8.0', false],
    ['nonsense', 'curl/8.0', false],
    ['', 'curl/8.0', true],
  ];
  for (const [parameter, agent, expected] of cases)
    t.is(isPrettyRequest(parameter, agent), expected, `${parameter} ${agent}`);
});

test('a content type is split into type and parameters', (t) => {
  const { type, parameters } = parseMediaType(' Application/JSON ; Charset="utf\\"8;x" ; a=b; =c; d');
  t.is(type, 'application/json');
  t.deepEqual(
    [...parameters],
    [
      ['charset', 'utf"8;x'],
      ['a', 'b'],
    ],
  );
  t.deepEqual(
    [...parseMediaType('a/b;x=\\";y=1";z=2').parameters],
    [
      ['x', '\\";y=1"'],
      ['z', '2'],
    ],
  );
  for (const bad of ['', 'json', 'a/', '/b', 'a b/c', 'a/b/c']) t.is(parseMediaType(bad).type, '', bad);
});
