// Formats of names, the rules of metadata, of request options and of LabelSelector objects.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import {
  type NameFormat,
  nameProblems,
  qualifiedNameProblems,
  type TextFormat,
  textProblems,
} from '../../../api/metadata/formats.ts';
import type { ObjectMeta } from '../../../api/metadata/object-meta.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../api/metadata/object-meta-rules.ts';
import * as options from '../../../api/requests/request-options.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';
import { validateLabelSelector } from '../../../api/validation/label-selector.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { frozen, sampleType } from './sample-type.ts';

interface FormatCase {
  readonly format: TextFormat;
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

const FORMATS: readonly FormatCase[] = [
  {
    format: 'dns1123Label',
    good: ['a', '1', 'a-b', 'a--b', '0a', 'a'.repeat(63)],
    bad: ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a'.repeat(64), 'a\n', 'é'],
  },
  {
    format: 'dns1123Subdomain',
    good: ['a', 'a.b', '1.2.3', 'a-b.c-d', `${'a'.repeat(100)}.b`, 'a'.repeat(253)],
    bad: ['', '.', 'a.', '.a', 'a..b', 'a.-b', 'a-.b', 'A.b', 'a'.repeat(254)],
  },
  { format: 'dns1035Label', good: ['a', 'a1', 'a-1'], bad: ['', '1', '1a', 'a-', 'A', 'a.b', 'a'.repeat(64)] },
  { format: 'wildcardSubdomain', good: ['*.a', '*.a.b'], bad: ['*', '*.', 'a.*', '*a', '*.*.a'] },
  {
    format: 'labelValue',
    good: ['', 'a', 'A', '1', 'a.b_c-D', 'v'.repeat(63)],
    bad: ['-a', 'a-', '.a', 'a b', 'a/b', 'é', 'v'.repeat(64)],
  },
  { format: 'configMapKey', good: ['a', '.a', '_', 'a..b', 'A-1'], bad: ['', '.', '..', '..a', 'a b', 'a/b'] },
  { format: 'envVarName', good: ['A', '_a', '-x', 'a.b'], bad: ['', '1a', '.', '..', '..a', 'a b', 'a='] },
  { format: 'portName', good: ['http', 'a1', '1a'], bad: ['', '1', 'a--b', '-a', 'a-', 'A', 'a'.repeat(16)] },
  { format: 'percent', good: ['0%', '100%'], bad: ['', '%', '5', '-5%', '5.5%'] },
  { format: 'httpHeaderName', good: ['X-A', 'a'], bad: ['', 'a b', 'a:'] },
  { format: 'conditionReason', good: ['A', 'A_b,c:d'], bad: ['', '1', 'A:', 'A,', '_A'] },
];

test('each format takes what it should and says why it refuses the rest', (t) => {
  for (const { format, good, bad } of FORMATS) {
    for (const value of good) t.deepEqual(textProblems(format, value), [], `${format} ${JSON.stringify(value)}`);
    for (const value of bad)
      t.true((textProblems(format, value)[0] ?? '').length > 10, `${format} ${JSON.stringify(value)}`);
  }
});

test('a qualified name is a name, or a DNS subdomain, a slash and a name', (t) => {
  const good = ['a', 'A.b_c-1', 'example.com/a', 'a/B', `${'p'.repeat(253)}/${'n'.repeat(63)}`, 'n'.repeat(63)];
  const bad = ['', '/', 'a/', '/a', 'a/b/c', 'A/b', '-a', 'a/-b', 'n'.repeat(64), `${'p'.repeat(254)}/a`, 'a b', 'é'];
  for (const name of good) t.deepEqual(qualifiedNameProblems(name), [], name);
  for (const name of bad) t.true(qualifiedNameProblems(name).length > 0, name);
});

test('formats answer quickly to texts made to mislead them', (t) => {
  const long = [
    'a'.repeat(200_000),
    'a.'.repeat(100_000),
    '-'.repeat(200_000),
    `${'a-'.repeat(120)}!`,
    `${'a.'.repeat(120)}!`,
  ];
  for (const text of long) {
    t.true(qualifiedNameProblems(text).length > 0);
    t.true(textProblems('dns1123Subdomain', text).length > 0);
    t.true(textProblems('conditionReason', text).length > 0);
  }
});

test('names have the format of their kind, and prefixes of names may end in a dash', (t) => {
  const cases: readonly (readonly [NameFormat, name: string, good: boolean, goodPrefix: boolean])[] = [
    ['dns1123Subdomain', 'a-', false, true],
    ['dns1123Subdomain', 'a.b-', false, true],
    ['dns1123Subdomain', '-', false, false],
    ['dns1035Label', '1-', false, false],
    ['dns1123Label', 'a.b', false, false],
    ['pathSegment', 'system:a', true, true],
    ['pathSegment', '..', false, true],
    ['pathSegment', 'a/b', false, false],
    ['pathSegment', 'a%b', false, false],
  ];
  for (const [format, name, good, goodPrefix] of cases) {
    t.is(nameProblems(format, name).length === 0, good, `${format} ${name}`);
    t.is(nameProblems(format, name, true).length === 0, goodPrefix, `${format} prefix ${name}`);
  }
});

const deployment = sampleType();
const node = sampleType({ group: '', plural: 'nodes', namespaced: false });
const dialect = DIALECTS.orch;
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' };

/** Reason and path of each error, as one text. */
function told(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ reason, path }) => `${reason.replace('FieldValue', '')} ${path}`);
}

interface MetaCase {
  readonly does: string;
  readonly metadata: ObjectMeta | JsonObject;
  readonly type?: typeof deployment;
  readonly errors: readonly string[];
}

const META: readonly MetaCase[] = [
  { does: 'a plain object', metadata: {}, errors: [] },
  {
    does: 'everything in order',
    metadata: {
      generateName: 'web-',
      labels: { 'example.com/a': 'b', c: '' },
      annotations: { 'Example.com/A': 'any text\n' },
      finalizers: ['example.com/x', 'orphan', 'foo.io/y'],
      ownerReferences: [{ ...owner, controller: true }, owner],
      managedFields: [{ operation: 'Apply', fieldsType: 'FieldsV1', manager: 'm' }],
    },
    errors: [],
  },
  { does: 'no name', metadata: { name: '' }, errors: ['Required metadata.name'] },
  { does: 'a bad name', metadata: { name: 'A' }, errors: ['Invalid metadata.name'] },
  {
    does: 'a name that is no path segment',
    metadata: { name: 'a/b' },
    errors: ['Invalid metadata.name'],
  },
  { does: 'a bad generateName', metadata: { generateName: 'A-' }, errors: ['Invalid metadata.generateName'] },
  { does: 'no namespace', metadata: { namespace: '' }, errors: ['Required metadata.namespace'] },
  { does: 'a bad namespace', metadata: { namespace: 'a.b' }, errors: ['Invalid metadata.namespace'] },
  { does: 'a namespace where there is none', metadata: {}, type: node, errors: ['Forbidden metadata.namespace'] },
  { does: 'a negative generation', metadata: { generation: -1 }, errors: ['Invalid metadata.generation'] },
  {
    does: 'bad labels',
    metadata: { labels: { 'a b': 'x', c: '-', d: 'v'.repeat(64) } },
    errors: ['Invalid metadata.labels', 'Invalid metadata.labels', 'Invalid metadata.labels'],
  },
  { does: 'a label that is no text', metadata: { labels: { a: 1 } }, errors: ['Invalid metadata.labels'] },
  { does: 'labels that are no map', metadata: { labels: [] }, errors: ['Invalid metadata.labels'] },
  { does: 'a bad annotation key', metadata: { annotations: { 'a b': 'x' } }, errors: ['Invalid metadata.annotations'] },
  {
    does: 'annotations that are too long',
    metadata: { annotations: { a: 'x'.repeat(262_144) } },
    errors: ['TooLong metadata.annotations'],
  },
  {
    does: 'annotations that are too long in bytes',
    metadata: { annotations: { a: 'é'.repeat(131_072) } },
    errors: ['TooLong metadata.annotations'],
  },
  { does: 'annotations that just fit', metadata: { annotations: { a: 'x'.repeat(262_143) } }, errors: [] },
  {
    does: 'an empty owner',
    metadata: { ownerReferences: [{}] },
    errors: ['apiVersion', 'kind', 'name', 'uid'].map((member) => `Invalid metadata.ownerReferences.${member}`),
  },
  {
    does: 'an owner without version',
    metadata: { ownerReferences: [{ ...owner, apiVersion: 'apps/' }] },
    errors: ['Invalid metadata.ownerReferences.apiVersion'],
  },
  {
    does: 'an event as owner',
    metadata: { ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] },
    errors: ['Invalid metadata.ownerReferences'],
  },
  {
    does: 'two controllers',
    metadata: {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, controller: true },
      ],
    },
    errors: ['Invalid metadata.ownerReferences'],
  },
  {
    does: 'a bad finalizer',
    metadata: { finalizers: ['a b'] },
    errors: ['Invalid metadata.finalizers', 'Invalid metadata.finalizers[0]'],
  },
  {
    does: 'two finalizers that exclude each other',
    metadata: { finalizers: ['orphan', 'foregroundDeletion'] },
    errors: ['Invalid metadata.finalizers'],
  },
  {
    does: 'a finalizer without prefix in the core group',
    metadata: { namespace: '', finalizers: [dialect.brand, 'orphan', 'mine'] },
    type: node,
    errors: ['Invalid metadata.finalizers[2]'],
  },
  {
    does: 'bad managed fields',
    metadata: { managedFields: [{ operation: 'Guess', fieldsType: 'F2', manager: 'm'.repeat(129) }] },
    errors: [
      'Invalid metadata.managedFields[0].operation',
      'Invalid metadata.managedFields[0].fieldsType',
      'TooLong metadata.managedFields[0].manager',
    ],
  },
];

for (const { does, metadata, type = deployment, errors } of META) {
  test(`metadata with ${does} has ${errors.length === 0 ? 'no errors' : 'its errors told by field'}`, (t) => {
    const whole = frozen({ name: 'web', namespace: 'default', ...metadata }) as ObjectMeta;
    const found = validateObjectMeta(whole, type, dialect);
    t.deepEqual(told(found), errors);
    if (errors.length === 0) t.is(found, NO_FIELD_ERRORS);
  });
}

const stored: ObjectMeta = frozen({
  name: 'web',
  namespace: 'default',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { 'left over': 'from older rules' },
});

interface UpdateCase {
  readonly does: string;
  readonly next: JsonObject;
  readonly before?: JsonObject;
  readonly errors: readonly string[];
}

const dying = { deletionTimestamp: '2026-11-20T00:00:00Z', finalizers: ['a.b/c', 'a.b/d'] };

const UPDATES: readonly UpdateCase[] = [
  { does: 'changes nothing', next: {}, errors: [] },
  { does: 'changes labels to good ones', next: { labels: { a: 'b' } }, errors: [] },
  { does: 'changes labels to bad ones', next: { labels: { a: '-' } }, errors: ['Invalid metadata.labels'] },
  { does: 'has no resourceVersion', next: { resourceVersion: '' }, errors: ['Invalid metadata.resourceVersion'] },
  { does: 'shrinks the generation', next: { generation: 1 }, errors: ['Invalid metadata.generation'] },
  {
    does: 'changes what is immutable',
    next: { name: 'x', uid: 'u-2', deletionTimestamp: '2026-01-01T00:00:00Z' },
    errors: ['Invalid metadata.name', 'Invalid metadata.uid', 'Invalid metadata.deletionTimestamp'],
  },
  { does: 'removes a finalizer while deleting', before: dying, next: { finalizers: ['a.b/d'] }, errors: [] },
  {
    does: 'adds a finalizer while deleting',
    before: dying,
    next: { finalizers: ['a.b/c', 'a.b/new'] },
    errors: ['Forbidden metadata.finalizers'],
  },
];

for (const { does, next, before = {}, errors } of UPDATES) {
  test(`an update that ${does} has ${errors.length === 0 ? 'no errors' : 'its errors told by field'}`, (t) => {
    const old = frozen({ ...stored, ...before }) as ObjectMeta;
    const found = validateObjectMetaUpdate(frozen({ ...old, ...next }), old, deployment, dialect);
    t.deepEqual(told(found), errors);
  });
}

test('options of writes allow a dry run and a short printable field manager', (t) => {
  const cases: readonly (readonly [options.WriteOptions, errors: readonly string[]])[] = [
    [{}, []],
    [{ dryRun: ['All'], fieldManager: 'kit ü' }, []],
    [{ dryRun: [''] }, []],
    [{ dryRun: ['all'] }, ['NotSupported dryRun']],
    [{ fieldManager: 'a\tb' }, ['Invalid fieldManager']],
    [{ fieldManager: 'ü'.repeat(65) }, ['TooLong fieldManager']],
  ];
  for (const [given, errors] of cases) t.deepEqual(told(options.validateWriteOptions(given)), errors);
  const [unprintable] = options.validateWriteOptions({ fieldManager: 'ü\u200b' });
  t.is(unprintable?.message, 'Invalid value: "ü\u200b": invalid character U+200B (at position 2)');
  t.true(options.isDryRun({ dryRun: ['All'] }));
  t.false(options.isDryRun({ dryRun: [''] }));
  t.false(options.isDryRun({}));
});

test('an apply needs a field manager and alone may be forced', (t) => {
  t.deepEqual(told(options.validatePatchOptions({ fieldManager: 'm', force: true }, true)), []);
  t.deepEqual(told(options.validatePatchOptions({}, true)), ['Required fieldManager']);
  t.deepEqual(told(options.validatePatchOptions({ force: false }, false)), ['Forbidden force']);
  const both = options.validatePatchOptions({ dryRun: ['x'] }, true);
  t.deepEqual(told(both), ['Required fieldManager', 'NotSupported dryRun']);
  t.deepEqual(told(options.validatePatchOptions({}, false)), []);
});

test('a delete is told how to treat dependents in one way only', (t) => {
  const cases: readonly (readonly [options.DeleteOptions, errors: readonly string[]])[] = [
    [{}, []],
    [{ propagationPolicy: 'Orphan', gracePeriodSeconds: -1 }, []],
    [{ orphanDependents: true, dryRun: ['All'] }, []],
    [{ propagationPolicy: 'Orphan', orphanDependents: false }, ['Invalid propagationPolicy']],
    [{ propagationPolicy: 'orphan' }, ['NotSupported propagationPolicy']],
    [{ dryRun: ['None'] }, ['NotSupported dryRun']],
  ];
  for (const [given, errors] of cases) t.deepEqual(told(options.validateDeleteOptions(given)), errors);
});

test('bad options are answered as an invalid object of the meta group without a name', (t) => {
  t.notThrows(() => options.requireValidOptions('DeleteOptions', dialect.metaGroup, []));
  const errors = options.validateWriteOptions({ dryRun: ['x'] });
  const error = t.throws(() => options.requireValidOptions('CreateOptions', dialect.metaGroup, errors), {
    instanceOf: StatusError,
  });
  t.is(error?.status.code, 422);
  t.is(
    error?.message,
    `CreateOptions.${dialect.metaGroup} "" is invalid: dryRun: Unsupported value: []string{"x"}: supported values: "All"`,
  );
});

test('LabelSelector objects are checked part by part', (t) => {
  const cases: readonly (readonly [selector: unknown, errors: readonly string[]])[] = [
    [undefined, []],
    [{}, []],
    [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['x'] }] }, []],
    [{ matchLabels: null, matchExpressions: null }, []],
    ['x', ['Invalid s']],
    [{ matchLabels: { '-': 'b' } }, ['Invalid s.matchLabels']],
    [{ matchExpressions: {} }, ['Invalid s.matchExpressions']],
    [{ matchExpressions: ['x'] }, ['Invalid s.matchExpressions[0]']],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, ['Required s.matchExpressions[0].values']],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      ['Forbidden s.matchExpressions[0].values'],
    ],
    [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }, ['Invalid s.matchExpressions[0].operator']],
    [
      { matchExpressions: [{ operator: 'Exists' }] },
      ['Invalid s.matchExpressions[0].key', 'Invalid s.matchExpressions[0].key'],
    ],
    // No label has such a value: that is for those to say who go by the selector.
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] }, []],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: 'x' }] }, ['Invalid s.matchExpressions[0].values']],
  ];
  for (const [selector, errors] of cases)
    t.deepEqual(told(validateLabelSelector(selector, 's')), errors, JSON.stringify(selector));
});

test('finalizers have a domain, or are standard ones, wherever 1.21 looks', (t) => {
  const refused = (changes: Parameters<typeof sampleType>[0]) =>
    validateObjectMeta({ name: 'a', namespace: 'b', finalizers: ['mine'] }, sampleType(changes), dialect).length > 0;
  t.true(refused({}));
  const group = dialect.groupDomain;
  for (const storageKey of ['core/pods', `rbac.authorization.${group}/roles`, 'policy/podsecuritypolicies'])
    t.true(refused({ storageKey }), storageKey);
  for (const storageKey of [
    'core/events',
    `coordination.${group}/leases`,
    'policy/poddisruptionbudgets',
    'x.io/things',
  ])
    t.false(refused({ storageKey }), storageKey);
});
