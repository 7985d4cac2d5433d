// What is taken of the answer of a webhook that converts objects, and in whose words it is refused.
import test from 'ava';
import { accepted, convertedObjects } from '../../../actors/admission/conversion/conversion-review.ts';

const GROUP = 'apiextensions.orch.io';
const V1 = { apiVersion: `${GROUP}/v1`, kind: 'ConversionReview' };
const DONE = { uid: 'u', result: { status: 'Success' }, convertedObjects: [1, 2] };

/** Answers in v1, and what is wrong with them. */
const UNUSABLE: readonly (readonly [answer: unknown, problem: string])[] = [
  [[], 'the answer is no object'],
  [
    { ...V1, kind: 'Review', response: DONE },
    `expected webhook response of ${GROUP}/v1, Kind=ConversionReview, got ${GROUP}/v1, Kind=Review`,
  ],
  [
    { ...V1, apiVersion: `${GROUP}/v1beta1`, response: DONE },
    `expected webhook response of ${GROUP}/v1, Kind=ConversionReview, got ${GROUP}/v1beta1, Kind=ConversionReview`,
  ],
  [V1, 'no response provided'],
  [{ ...V1, response: { ...DONE, uid: 'other' } }, 'expected response.uid="u", got "other"'],
  [{ ...V1, response: { ...DONE, result: { status: 'Failure', message: 'I will not' } } }, 'I will not'],
  [{ ...V1, response: { ...DONE, result: {} } }, "response.result.status was '', not 'Success'"],
];

test('an answer is to the very question and says that it is done; the older version is asked for less', (t) => {
  t.deepEqual(convertedObjects({ ...V1, response: DONE }, GROUP, 'v1', 'u'), [1, 2]);
  t.deepEqual(convertedObjects({ ...V1, response: { ...DONE, convertedObjects: null } }, GROUP, 'v1', 'u'), []);
  for (const [answer, problem] of UNUSABLE)
    t.throws(() => convertedObjects(answer, GROUP, 'v1', 'u'), { message: problem });
  const old = { kind: 'Any', response: { ...DONE, uid: 'other' } };
  t.deepEqual(convertedObjects(old, GROUP, 'v1beta1', 'u'), [1, 2]);
  const failed = { response: { ...DONE, result: { status: 'Failure' } } };
  t.throws(() => convertedObjects(failed, GROUP, 'v1beta1', 'u'), {
    message: /^response\.result\.status was 'Failure'/,
  });
});

const BEFORE = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'n', namespace: 's', uid: 'id', labels: { a: 'b' }, finalizers: ['x.y/z'], resourceVersion: '7' },
  spec: { old: true },
};
const AFTER = {
  apiVersion: 'example.com/v2',
  kind: 'Thing',
  metadata: { name: 'n', namespace: 's', uid: 'id' },
  spec: { now: true },
};

/** What a webhook made of the object, and what is wrong with it: of one object, and of one among others. */
const REFUSED: readonly (readonly [changes: object, alone: string, among: string])[] = [
  [
    { apiVersion: 'example.com/v3' },
    'object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)',
    'converted object at index 1: invalid groupVersion (expected example.com/v2, received example.com/v3)',
  ],
  [
    { kind: 'Other' },
    'object at index 0: invalid kind (expected Thing, received Other)',
    'converted object at index 1: invalid kind (expected Thing, received Other)',
  ],
  [
    { metadata: { ...AFTER.metadata, name: 'm' } },
    'object: must have the same name: n != m',
    'converted object at index 1: must have the same name: n != m',
  ],
  [
    { metadata: { ...AFTER.metadata, namespace: undefined } },
    'object: must have the same namespace: s != ',
    'converted object at index 1: must have the same namespace: s != ',
  ],
  [
    { metadata: { ...AFTER.metadata, uid: 'other' } },
    'object: must have the same UID: id != other',
    'converted object at index 1: must have the same UID: id != other',
  ],
];

test('a converted object is the one that was sent, in the version that was wanted', (t) => {
  for (const [changes, alone, among] of REFUSED) {
    const converted = { ...AFTER, ...changes };
    t.throws(() => accepted(BEFORE, converted, 'example.com/v2', 'object'), { message: `returned invalid ${alone}` });
    t.throws(() => accepted(BEFORE, converted, 'example.com/v2', 'object at index 1'), {
      message: `returned invalid ${among}`,
    });
  }
  const labelled = { ...AFTER, metadata: { ...AFTER.metadata, labels: { 'a b': 'c' } } };
  t.throws(() => accepted(BEFORE, labelled, 'example.com/v2', 'object'), {
    message: /^returned invalid metadata: metadata\.labels: Invalid value: "a b"/,
  });
  t.throws(() => accepted(BEFORE, labelled, 'example.com/v2', 'object at index 1'), {
    message: /^returned invalid metadata in object at index 1: metadata\.labels: /,
  });
  t.throws(() => accepted(BEFORE, 'text', 'example.com/v2', 'object'), { message: /received \)$/ });
});

test('of the metadata of a converted object its labels and annotations count, and nothing else', (t) => {
  const metadata = { ...AFTER.metadata, annotations: { c: 'd' }, finalizers: [], resourceVersion: '9', generation: 5 };
  t.deepEqual(accepted(BEFORE, { ...AFTER, metadata }, 'example.com/v2', 'object') as object, {
    ...AFTER,
    metadata: {
      name: 'n',
      namespace: 's',
      uid: 'id',
      finalizers: ['x.y/z'],
      resourceVersion: '7',
      annotations: { c: 'd' },
    },
  });
});
