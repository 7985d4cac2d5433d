// The Status object: codes, reasons, message forms and details of every refusal, and the joining of field errors.
import test from 'ava';
import * as failures from '../../../api/status/failures.ts';
import * as field from '../../../api/status/field-error.ts';
import { EMPTY_SELECTOR_SHOWN, NO_LABELS_SHOWN } from '../../../api/status/shown-value.ts';
import {
  httpCode,
  isStatusError,
  retryAfterSeconds,
  type Status,
  type StatusDetails,
  StatusError,
} from '../../../api/status/status.ts';
import { created, deleted } from '../../../api/status/successes.ts';

const pods = { group: '', plural: 'pods' };
const deployments = { group: 'apps', plural: 'deployments' };

interface Case {
  readonly status: Status;
  readonly code: number;
  readonly reason: string | undefined;
  readonly message: string;
  readonly details: StatusDetails | undefined;
}

function row(status: Status, code: number, reason: string | undefined, message: string, details?: StatusDetails): Case {
  return { status, code, reason, message, details };
}

const aboutPod = { name: 'web', kind: 'pods' };
const aboutDeployment = { name: 'web', group: 'apps', kind: 'deployments' };

const CASES: readonly Case[] = [
  row(failures.badRequest('no'), 400, 'BadRequest', 'no'),
  row(failures.unauthorized(), 401, 'Unauthorized', 'Unauthorized'),
  row(failures.forbidden(pods, 'web', 'quota'), 403, 'Forbidden', 'pods "web" is forbidden: quota', aboutPod),
  row(failures.forbidden(deployments, '', 'no'), 403, 'Forbidden', 'deployments.apps is forbidden: no', {
    group: 'apps',
    kind: 'deployments',
  }),
  row(
    failures.forbiddenPath('User "a" cannot get path "/x"'),
    403,
    'Forbidden',
    'forbidden: User "a" cannot get path "/x"',
    {},
  ),
  row(failures.notFound(deployments, 'web'), 404, 'NotFound', 'deployments.apps "web" not found', aboutDeployment),
  row(
    failures.notFound({ group: 'autoscaling', plural: 'deployments/scale' }, 'web'),
    404,
    'NotFound',
    'deployments/scale.autoscaling "web" not found',
    { name: 'web', group: 'autoscaling', kind: 'deployments/scale' },
  ),
  row(failures.resourceNotFound(), 404, 'NotFound', 'the server could not find the requested resource', {}),
  row(
    failures.methodNotAllowed(),
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  ),
  row(failures.notAcceptable(), 406, 'NotAcceptable', '406: Not Acceptable', {}),
  row(
    failures.notAcceptable(['a/b', 'c/d']),
    406,
    'NotAcceptable',
    'only the following media types are accepted: a/b, c/d',
  ),
  row(failures.alreadyExists(pods, 'web'), 409, 'AlreadyExists', 'pods "web" already exists', aboutPod),
  row(
    failures.conflict(deployments, 'web', 'why'),
    409,
    'Conflict',
    'Operation cannot be fulfilled on deployments.apps "web": why',
    aboutDeployment,
  ),
  row(failures.expired(5, 90), 410, 'Expired', 'too old resource version: 5 (90)'),
  row(failures.expiredList(), 410, 'Expired', 'The resourceVersion for the provided list is too old.'),
  row(failures.tooLarge(), 413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'),
  row(
    failures.unsupportedMediaType(['a/b', 'c/d']),
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: a/b, c/d',
  ),
  row(failures.unsupportedPatchType(), 415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
  row(
    failures.patchNotApplicable(),
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  ),
  row(
    failures.missingResourceVersion({ group: 'policy', plural: 'poddisruptionbudgets' }, 'web'),
    422,
    'Invalid',
    'poddisruptionbudgets.policy "web" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
    {
      name: 'web',
      group: 'policy',
      kind: 'poddisruptionbudgets',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: 0x0: must be specified for an update',
          field: 'metadata.resourceVersion',
        },
      ],
    },
  ),
  row(failures.internalError('boom'), 500, 'InternalError', 'Internal error occurred: boom', {
    causes: [{ message: 'boom' }],
  }),
  row(failures.unnamedError('odd'), 500, undefined, 'odd'),
  row(
    failures.serverTimeout('POST', pods, 0),
    500,
    'ServerTimeout',
    'POST of pods could not be completed now, try again',
    {
      name: 'POST',
      kind: 'pods',
    },
  ),
  row(failures.serviceUnavailable('starting'), 503, 'ServiceUnavailable', 'starting'),
  row(failures.storeNotRead(), 503, 'ServiceUnavailable', 'the server has not read the store yet, try again', {
    retryAfterSeconds: 1,
  }),
  row(failures.restarting(true), 503, 'ServiceUnavailable', 'a part of the server is restarting, try again'),
  row(failures.restarting(false), 503, 'ServiceUnavailable', 'a part of the server is restarting, try again', {
    retryAfterSeconds: 1,
  }),
  row(failures.timeout('too slow'), 504, 'Timeout', 'Timeout: too slow', {}),
  row(
    failures.tooLargeResourceVersion(100, 50),
    504,
    'Timeout',
    'Timeout: Too large resource version: 100, current: 50',
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  ),
];

test('every refusal has its code, reason, message form and details', (t) => {
  for (const { status, code, reason, message, details } of CASES) {
    t.is(status.kind, 'Status');
    t.is(status.apiVersion, 'v1');
    t.deepEqual(status.metadata, {});
    t.is(status.status, 'Failure');
    t.is(httpCode(status), code, message);
    t.is(status.reason, reason as Status['reason'], message);
    t.is(status.message, message);
    t.deepEqual(status.details, details, message);
  }
});

test('a Status is written with its members in the usual order and without empty ones', (t) => {
  t.is(
    JSON.stringify(failures.notFound(pods, 'web')),
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \\"web\\" not found",' +
      '"reason":"NotFound","details":{"name":"web","kind":"pods"},"code":404}',
  );
  t.is(
    JSON.stringify(failures.unnamedError('odd')),
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"odd","code":500}',
  );
});

test('an expired continue token answers with a token for an inconsistent continuation when there is one', (t) => {
  t.deepEqual(failures.expiredContinue('').metadata, {});
  t.deepEqual(failures.expiredContinue('abc').metadata, { continue: 'abc' });
  t.is(failures.expiredContinue('abc').reason, 'Expired');
  // There are clients that look for this text.
  const tooOld = 'The provided continue parameter is too old to display a consistent list result.';
  const anew = 'You can start a new list without the continue parameter';
  t.is(failures.expiredContinue('').message, `${tooOld} ${anew}.`);
  t.true(
    failures
      .expiredContinue('abc')
      .message?.startsWith(`${tooOld} ${anew}, or use the continue token in this response`),
  );
});

test('a create in a namespace being deleted is forbidden with a cause that names the namespace', (t) => {
  const status = failures.namespaceTerminating(pods, 'web', 'old');
  t.is(status.code, 403);
  t.like(status.details?.causes?.[0], { reason: 'NamespaceTerminating', field: 'metadata.namespace' });
});

test('an apply conflict names each manager once with its fields, and each field as a cause', (t) => {
  const one = failures.applyConflict([{ manager: 'a', apiVersion: 'v1', field: '.spec.replicas' }]);
  t.is(one.message, 'Apply failed with 1 conflict: conflict with "a" using v1: .spec.replicas');
  t.deepEqual(one.details, {
    causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "a" using v1', field: '.spec.replicas' }],
  });
  const several = failures.applyConflict([
    { manager: 'a', apiVersion: '', field: '.x' },
    { manager: 'b', apiVersion: '', field: '.y' },
    { manager: 'a', apiVersion: '', field: '.z' },
  ]);
  t.is(several.message, 'Apply failed with 3 conflicts: conflicts with "a":\n- .x\n- .z\nconflicts with "b":\n- .y');
});

test('Retry-After is set only when there is something to wait for', (t) => {
  t.is(retryAfterSeconds(failures.disruptionBudgetExceeded('x', 10)), 10);
  t.is(retryAfterSeconds(failures.disruptionBudgetExceeded('x', 0)), undefined);
  t.is(retryAfterSeconds(failures.badRequest('x')), undefined);
});

test('successes say what was deleted, or that something was created', (t) => {
  t.is(
    JSON.stringify(deleted(deployments, 'web', 'u-1')),
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"web","group":"apps","kind":"deployments","uid":"u-1"}}',
  );
  t.is(httpCode(deleted(pods, 'web', '')), 200);
  t.is(JSON.stringify(created()), '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}');
});

test('a StatusError carries its Status and is recognised by reason', (t) => {
  const error = new StatusError(failures.unnamedError('odd'));
  t.is(error.message, 'odd');
  t.true(isStatusError(error));
  t.true(isStatusError(error, ''));
  t.false(isStatusError(error, 'Conflict'));
  t.false(isStatusError(new Error('odd')));
});

test('field errors say what is wrong in the fixed words of their reason', (t) => {
  const cases: readonly (readonly [field.FieldError, reason: string, message: string])[] = [
    [field.required('a'), 'FieldValueRequired', 'Required value'],
    [field.required('a', 'say it'), 'FieldValueRequired', 'Required value: say it'],
    [field.invalid('a', 'x"y', 'bad'), 'FieldValueInvalid', 'Invalid value: "x\\"y": bad'],
    [field.invalid('a', 7), 'FieldValueInvalid', 'Invalid value: 7'],
    [field.invalid('a', true), 'FieldValueInvalid', 'Invalid value: true'],
    [field.invalid('a', null), 'FieldValueInvalid', 'Invalid value: "null"'],
    [field.invalid('a', undefined), 'FieldValueInvalid', 'Invalid value: "null"'],
    [field.invalid('a', {}), 'FieldValueInvalid', 'Invalid value: {}'],
    [field.invalid('a', { b: 'c', d: 'e' }), 'FieldValueInvalid', 'Invalid value: map[string]string{"b":"c", "d":"e"}'],
    [field.invalid('a', ['b', 'c']), 'FieldValueInvalid', 'Invalid value: []string{"b", "c"}'],
    [field.invalid('a', NO_LABELS_SHOWN), 'FieldValueInvalid', 'Invalid value: map[string]string(nil)'],
    [
      field.invalid('a', EMPTY_SELECTOR_SHOWN),
      'FieldValueInvalid',
      'Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}',
    ],
    [
      field.invalid('a', { matchLabels: { b: 'c' } }, 'field is immutable'),
      'FieldValueInvalid',
      'Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"b":"c"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable',
    ],
    [
      field.invalid('a', { matchExpressions: [{ key: 'b', operator: 'In', values: ['c'] }] }),
      'FieldValueInvalid',
      'Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"b", Operator:"In", Values:[]string{"c"}}}}',
    ],
    [field.invalid('a', { b: ['c', 1] }), 'FieldValueInvalid', 'Invalid value: {"b":["c",1]}'],
    [
      field.notSupported('a', 'x', ['y', 'z']),
      'FieldValueNotSupported',
      'Unsupported value: "x": supported values: "y", "z"',
    ],
    [field.forbidden('a', 'not here'), 'FieldValueForbidden', 'Forbidden: not here'],
    [field.duplicate('a', 'x'), 'FieldValueDuplicate', 'Duplicate value: "x"'],
    [field.notFound('a', 'x'), 'FieldValueNotFound', 'Not found: "x"'],
    [field.tooLong('a', 63), 'FieldValueTooLong', 'Too long: must have at most 63 bytes'],
    [field.tooMany('a', 5, 3), 'FieldValueTooMany', 'Too many: 5: must have at most 3 items'],
  ];
  for (const [error, reason, message] of cases) t.deepEqual(error, { path: 'a', reason, message } as field.FieldError);
});

test('one field error stands alone in the message, several stand in brackets, equal ones once', (t) => {
  const name = field.required('metadata.name');
  const replicas = field.invalid('spec.replicas', -1, 'must not be negative');
  const one = field.invalidFrom('Deployment', 'apps', 'web', [name]);
  t.is(one.message, 'Deployment.apps "web" is invalid: metadata.name: Required value');
  t.deepEqual(one.details, {
    name: 'web',
    group: 'apps',
    kind: 'Deployment',
    causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'metadata.name' }],
  });
  const several = field.invalidFrom('Pod', '', '', [name, replicas, name]);
  t.is(
    several.message,
    'Pod "" is invalid: [metadata.name: Required value, spec.replicas: Invalid value: -1: must not be negative]',
  );
  t.is(several.details?.causes?.length, 3);
});

test('an object with very many errors or very large values still gets a short answer', (t) => {
  const errors = Array.from({ length: 5000 }, (_, index) => field.required(`spec.items[${index}]`));
  const status = field.invalidFrom('Pod', '', 'web', errors);
  t.is(status.details?.causes?.length, 200);
  t.true(status.message?.endsWith('and 4800 more]'));
  let deep: unknown = 'x';
  for (let level = 0; level < 50_000; level++) deep = [deep];
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key-${index}`, 'v'.repeat(100)]));
  for (const value of [deep, wide, 'x'.repeat(1_000_000)]) t.true(field.invalid('a', value).message.length < 1100);
});

test('of a huge list no more is looked at than is shown', (t) => {
  let reads = 0;
  const list = new Proxy(new Array<string>(100_000).fill('an element'), {
    get: (target, name, receiver) => {
      reads++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  t.regex(field.invalid('a', list).message, /^Invalid value: \[\]string\{"an element", "an element"/);
  t.true(reads < 1000, `${reads} reads`);
});
