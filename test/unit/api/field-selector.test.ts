// Field selectors, and the values of objects that they are matched against.
import test from 'ava';
import { DEFAULT_SELECTABLE_FIELDS } from '../../../api/resources/resource-row.ts';
import {
  compileFieldSelector,
  escapeFieldValue,
  parseFieldTerms,
  storedFieldSelector,
} from '../../../api/selectors/field-selector.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { isStatusError } from '../../../api/status/status.ts';

const POD_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.host',
  'status.phase',
  'status.podIP',
  'status.podIPs',
];

const pod = {
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'n1' },
  status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
};

test('selectors match the values they name', (t) => {
  const values = selectableValues(pod, POD_FIELDS);
  const cases: readonly (readonly [text: string, matches: boolean])[] = [
    ['', true],
    [',', true],
    ['=', true],
    ['==', true],
    ['!=', true],
    ['!=,=,metadata.name=other', false],
    ['metadata.name= web', false],
    ['metadata.name=web', true],
    ['metadata.name==web', true],
    ['metadata.name=web,', true],
    [',metadata.name=other', false],
    ['metadata.name!=web', false],
    ['spec.nodeName=n1,status.phase!=Failed', true],
    ['spec.nodeName=n1,status.phase!=Running', false],
    ['spec.host=n1', true],
    ['spec.nodeName=', false],
    ['spec.nodeName!=', true],
    ['status.podIP=10.0.0.1', true],
    ['status.podIPs=10.0.0.1\\,fd00::1', true],
  ];
  for (const [text, expected] of cases) t.is(compileFieldSelector(text, POD_FIELDS).matches(values), expected, text);
});

test('a field selector has one canonical text and tells what it fixes', (t) => {
  const selector = compileFieldSelector('status.phase!=Failed,spec.host=n1,spec.nodeName==n1', POD_FIELDS);
  t.is(selector.text, 'spec.nodeName=n1,status.phase!=Failed');
  t.deepEqual([...selector.equality], [['spec.nodeName', 'n1']]);
  t.is(compileFieldSelector(selector.text, POD_FIELDS).text, selector.text);
});

test('escaped values are read back as they were', (t) => {
  for (const value of ['', 'a', 'a,b', 'a=b', 'a\\b', '\\,=', 'a!b', ',,', '==']) {
    const selector = compileFieldSelector(`metadata.name=${escapeFieldValue(value)}`, POD_FIELDS);
    t.is(selector.equality.get('metadata.name'), value);
    t.true(selector.matches([value]));
    t.is(compileFieldSelector(selector.text, POD_FIELDS).equality.get('metadata.name'), value);
  }
});

test('text that is no field selector is a bad request, in the words of Kubernetes', (t) => {
  for (const [text, message] of [
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=b,metadata.name>1', "invalid selector: 'a=b,metadata.name>1'; can't understand 'metadata.name>1'"],
    ['unknown=b,metadata.name', "invalid selector: 'unknown=b,metadata.name'; can't understand 'metadata.name'"],
    ['b,a', "invalid selector: 'b,a'; can't understand 'a'"],
    ['metadata.name===', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['metadata.name=\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ] as const) {
    const fields = ['a', ...POD_FIELDS];
    const error = t.throws(() => compileFieldSelector(text, fields));
    t.true(isStatusError(error, 'BadRequest'), text);
    t.is(error?.message, message);
  }
});

test('a field the type does not offer is a bad request that names it', (t) => {
  for (const field of ['spec.image', 'constructor', '__proto__', '']) {
    const error = t.throws(() => compileFieldSelector(`${field}=x`, ['metadata.name']));
    t.true(isStatusError(error, 'BadRequest'));
    t.is(error?.message, `field label not supported: ${field}`);
  }
  const common = t.throws(() => compileFieldSelector('spec.image=x', DEFAULT_SELECTABLE_FIELDS));
  t.is(common?.message, '"spec.image" is not a known field selector: only "metadata.name", "metadata.namespace"');
  t.throws(() => compileFieldSelector('spec.host=x', ['metadata.name']));
});

interface ValueCase {
  readonly of: string;
  readonly object: Record<string, unknown>;
  readonly expected: Readonly<Record<string, string>>;
}

const VALUES: readonly ValueCase[] = [
  {
    of: 'a pod',
    object: pod,
    expected: {
      'metadata.name': 'web',
      'metadata.namespace': 'default',
      'spec.nodeName': 'n1',
      'spec.host': 'n1',
      'status.podIP': '10.0.0.1',
      'status.podIPs': '10.0.0.1,fd00::1',
    },
  },
  {
    of: 'a pod that has only just been made',
    object: { kind: 'Pod', metadata: { name: 'web' }, spec: {} },
    expected: {
      'metadata.namespace': '',
      'spec.nodeName': '',
      'spec.host': '',
      'status.podIP': '',
      'status.podIPs': '',
    },
  },
  { of: 'a node', object: { metadata: {}, spec: { unschedulable: true } }, expected: { 'spec.unschedulable': 'true' } },
  { of: 'an open node', object: { metadata: {}, spec: {} }, expected: { 'spec.unschedulable': 'false' } },
  { of: 'a job', object: { kind: 'Job', status: { succeeded: 3 } }, expected: { 'status.successful': '3' } },
  { of: 'a fresh job', object: { kind: 'Job', status: {} }, expected: { 'status.successful': '0' } },
  { of: 'a cron job', object: { kind: 'CronJob', status: {} }, expected: { 'status.successful': '' } },
  { of: 'a replication controller', object: { status: { replicas: 2 } }, expected: { 'status.replicas': '2' } },
  { of: 'a secret', object: { type: 'Opaque' }, expected: { type: 'Opaque' } },
  {
    of: 'an event of the core group',
    object: {
      involvedObject: { kind: 'Pod', name: 'web' },
      reason: 'Started',
      source: { component: 'agent' },
      reportingComponent: 'other',
    },
    expected: {
      'involvedObject.kind': 'Pod',
      'regarding.name': 'web',
      reason: 'Started',
      source: 'agent',
      reportingComponent: 'other',
    },
  },
  {
    of: 'an event of the events group',
    object: { regarding: { kind: 'Pod', name: 'web' }, reportingController: 'agent' },
    expected: { 'involvedObject.kind': 'Pod', 'regarding.name': 'web', source: 'agent', reportingController: 'agent' },
  },
  {
    of: 'an object with odd shapes',
    object: { metadata: 'text', spec: [], status: null },
    expected: {
      'metadata.name': '',
      'spec.nodeName': '',
      'status.podIPs': '',
      'status.phase': '',
      'spec.constructor': '',
    },
  },
];

for (const { of, object, expected } of VALUES) {
  test(`the selectable values of ${of} are texts in the order of the fields`, (t) => {
    t.deepEqual(selectableValues(object, Object.keys(expected)), Object.values(expected));
  });
}

test('what is asked of a type is asked of the store under its own names, with every value as it was written', (t) => {
  const type = { selectableFields: ['metadata.name', 'spec.nodeName'], storedFieldNames: { 'spec.nodeName': 'node' } };
  const stored = storedFieldSelector(parseFieldTerms('spec.nodeName!=a\\,b\\=c\\\\,metadata.name=x'), type);
  const { requirements } = compileFieldSelector(stored, ['metadata.name', 'node']);
  t.deepEqual(
    requirements.map(({ field, equals, value }) => [field, equals, value]),
    [
      ['metadata.name', true, 'x'],
      ['node', false, 'a,b=c\\'],
    ],
  );
});
