// The text of the review that a webhook is sent, and what is made of plain and of odd answers to it.
import test from 'ava';
import type { Hook } from '../../../actors/admission/hooks/hook.ts';
import {
  answerOf,
  denialOf,
  reviewForm,
  reviewText,
  type Told,
} from '../../../actors/admission/plugins/webhooks/review.ts';
import { EncodedTexts } from '../../../api/codec/encoded-texts.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { askedAttributes } from './asked-attributes.ts';

const dialect = DIALECTS.kubernetes;
const schema = schemaOf(dialect);
const type = createRegistry(dialect).byPath('', 'v1', 'configmaps')!;
const form = reviewForm(schema, 'v1');
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'n' } };

/** The request of a review of a write, read. */
function requestOf(asked: object, old?: typeof object): Record<string, unknown> {
  const attributes = askedAttributes(dialect, object, { namespace: 'n', ...asked }, old);
  const texts = new EncodedTexts();
  const told = {
    attributes,
    type,
    object,
    old,
    texts,
    isForSeveral: true,
    requestText: undefined,
    managedFieldsText: '',
  };
  return (JSON.parse(reviewText(told as unknown as Told, form, 'the-uid')) as { request: Record<string, unknown> })
    .request;
}

test('a review of a create says what is written, by whom and how', (t) => {
  t.deepEqual(requestOf({}), {
    uid: 'the-uid',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'm',
    namespace: 'n',
    operation: 'CREATE',
    userInfo: { username: 'u' },
    object,
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
});

test('a review of an update in a dry run says so, and who manages it, whatever is in the name', (t) => {
  const fieldManager = 'a "manager" \\ of\tmine';
  const asked = { operation: 'update', name: 'm', dryRun: true, parameters: { fieldManager } };
  const { operation, dryRun, options, oldObject } = requestOf(asked, object);
  t.deepEqual([operation, dryRun, oldObject], ['UPDATE', true, object]);
  t.deepEqual(options, { dryRun: ['All'], fieldManager, kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' });
});

test('a review of a deletion has its options, and one of a subresource names it twice', (t) => {
  const deletion = { gracePeriodSeconds: 5 };
  const deleted = requestOf({ operation: 'delete', name: 'm', deletion }, object);
  t.deepEqual(deleted.options, { gracePeriodSeconds: 5, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' });
  const { subResource, requestSubResource } = requestOf({ operation: 'update', subresource: 'status' }, object);
  t.deepEqual([subResource, requestSubResource], ['status', 'status']);
  t.is(requestOf({ operation: 'connect' }).options, null);
});

test('a review of one of many that are deleted together names none, as the request does', (t) => {
  const { name, oldObject } = requestOf({ operation: 'delete', name: '' }, object);
  t.deepEqual([name, oldObject], [undefined, object]);
  t.is(requestOf({ operation: 'delete', name: 'm' }, object).name, 'm');
});

const answered = (response: object, others: object = {}) =>
  answerOf({ kind: 'AdmissionReview', apiVersion: form.apiVersion, response, ...others }, form, 'the-uid', true);
const YES = { uid: 'the-uid', allowed: true };

test('a plain yes, and a yes that says more, allow the write', (t) => {
  t.true(answered(YES).allowed);
  t.deepEqual(answered({ ...YES, warnings: ['w'] }).warnings, ['w']);
  t.true(answered(YES, { request: null }).allowed);
});

test('an answer to another question, of another kind or version, or with a word for a yes is none', (t) => {
  t.throws(() => answered({ ...YES, uid: 'other' }), { message: /expected response.uid="the-uid"/ });
  t.throws(() => answered(YES, { kind: 'Review' }), { message: /Kind=Review/ });
  t.throws(() => answered(YES, { apiVersion: 'admission.k8s.io/v1beta1' }), { message: /v1beta1/ });
  t.throws(() => answered({ ...YES, allowed: 'true' }), { message: /cannot be read/ });
  t.false(answered({ ...YES, allowed: false }).allowed);
});

test('an answer in the older version may leave out what it is, and is none where it says that it is something else', (t) => {
  const old = reviewForm(schema, 'v1beta1');
  const given = (said: object): ReturnType<typeof answerOf> =>
    answerOf({ response: YES, ...said }, old, 'the-uid', true);
  for (const said of [{}, { kind: 'AdmissionReview' }, { apiVersion: old.apiVersion }, { kind: null, apiVersion: '' }])
    t.true(given(said).allowed, JSON.stringify(said));
  for (const said of [
    { kind: 'Review' },
    { apiVersion: form.apiVersion },
    { kind: 'AdmissionReview', apiVersion: 'v1' },
  ])
    t.throws(() => given(said), { message: /^expected webhook response of admission\.k8s\.io\/v1beta1, / });
});

const PATCH = Buffer.from('[]').toString('base64');
const TYPED = { patch: PATCH, patchType: 'JSONPatch' };

/** What is answered beside a yes where the object may be changed or not, and what is wrong with that in v1. */
const PATCHES: readonly (readonly [mayPatch: boolean, said: object, problem: string])[] = [
  [true, TYPED, ''],
  [true, {}, ''],
  [true, { patch: PATCH }, 'webhook returned response.patch but not response.patchType'],
  [true, { patchType: 'JSONPatch' }, 'webhook returned response.patchType but not response.patch'],
  [true, { patch: PATCH, patchType: '' }, 'webhook returned invalid response.patchType of ""'],
  [false, {}, ''],
  [false, TYPED, 'validating webhook may not return response.patch'],
  [false, { patch: PATCH }, 'validating webhook may not return response.patch'],
  [false, { patchType: 'JSONPatch' }, 'validating webhook may not return response.patchType'],
];

test('an answer has a patch and says of which type, and none where nothing may be changed; in the older version all is taken', (t) => {
  const old = reviewForm(schema, 'v1beta1');
  for (const [mayPatch, said, problem] of PATCHES) {
    const given = (of: typeof form): ReturnType<typeof answerOf> =>
      answerOf(
        { kind: 'AdmissionReview', apiVersion: of.apiVersion, response: { ...YES, ...said } },
        of,
        'the-uid',
        mayPatch,
      );
    const shown = JSON.stringify([mayPatch, said]);
    if (problem === '') t.true(given(form).allowed, shown);
    else t.throws(() => given(form), { message: problem }, shown);
    t.is(given(old).patch, mayPatch && 'patch' in said ? '[]' : '', shown);
  }
  t.throws(() => answerOf({ kind: 'AdmissionReview', apiVersion: form.apiVersion }, form, 'the-uid', true), {
    message: 'webhook response was absent',
  });
  t.throws(() => answerOf([], form, 'the-uid', true), { message: 'the answer is no object' });
});

const DENIED = 'admission webhook "h" denied the request';
const DENIALS: readonly (readonly [said: object | undefined, message: string, code: number, reason?: string])[] = [
  [undefined, `${DENIED} without explanation`, 400],
  [{ message: 'no', code: 403, reason: 'Forbidden' }, `${DENIED}: no`, 403, 'Forbidden'],
  [{ reason: 'Nope' }, `${DENIED}: Nope`, 400, 'Nope'],
  [{ message: 'no', code: 200, status: 'Success' }, `${DENIED}: no`, 400],
  [{ code: 399 }, `${DENIED} without explanation`, 400],
  [{ code: 599 }, `${DENIED} without explanation`, 599],
  [{ code: 600 }, `${DENIED} without explanation`, 400],
];

test('a denial is a failure with the code of one, whatever the webhook says', (t) => {
  const hook = { name: 'h' } as Hook;
  for (const [said, message, code, reason] of DENIALS)
    t.deepEqual(denialOf(hook, said as never) as object, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      code,
    });
  t.deepEqual(denialOf(hook, { details: { name: 'x' } } as never).details as object, { name: 'x' });
});
