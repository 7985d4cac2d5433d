import test from 'ava';
import { Auth, type AuthOptions } from '../../../actors/auth/auth.ts';
import { tokenDigest } from '../../../actors/auth/authenticators/token-file.ts';
import {
  type Authorizer,
  AuthorizerChain,
  NO_RULES,
  type Verdict,
} from '../../../actors/auth/authorizers/authorizer.ts';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { NO_METRICS } from '../controllers/fake-context.ts';

const ALICE: User = { name: 'alice', uid: '1', groups: ['dev', 'ops'], extra: {} };
const BOB: User = { name: 'bob', uid: '', groups: [], extra: {} };
const ADMIN: User = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };
const ANONYMOUS: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };

/** Nothing else of it is used without tokens of service accounts and without modes that follow the store. */
const CONTEXT = { metrics: NO_METRICS, clock: { monotonicMs: () => 0 } } as unknown as ActorContext;

const ACCESS: AccessAttributes = {
  verb: 'get',
  isResource: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'p',
  path: '/api/v1/namespaces/default/pods/p',
};

function auth(options: Partial<AuthOptions> = {}): Auth {
  const tokens = [
    { digest: tokenDigest('alices-token'), user: ALICE },
    { digest: tokenDigest('tøken+/='), user: BOB },
    { digest: tokenDigest('with blanks in it'), user: BOB },
    { digest: tokenDigest(''), user: ADMIN },
  ];
  return new Auth(CONTEXT, {
    tokens,
    anonymous: true,
    modes: ['AlwaysAllow'],
    dialect: DIALECTS.orch,
    methods: {},
    serviceAccounts: undefined,
    ...options,
  });
}

function authenticate(asked: Auth, authorization: string): User | null {
  let answer: { user: User | null } | undefined;
  asked.onMessage(
    { type: 'admit', authorization, access: ACCESS },
    {
      isAwaited: true,
      send: (value) => {
        answer = value as { user: User | null };
      },
      fail: () => {},
    },
  );
  if (answer === undefined) throw new Error('there was no answer');
  return answer.user;
}

function authorize(asked: Auth, user: User, access = ACCESS): { allowed: boolean; reason: string } {
  let answer: { allowed: boolean; reason: string } | undefined;
  asked.onMessage(
    { type: 'authorize', user, access },
    {
      isAwaited: true,
      send: (value) => {
        answer = value as { allowed: boolean; reason: string };
      },
      fail: () => {},
    },
  );
  if (answer === undefined) throw new Error('there was no answer');
  return answer;
}

function rulesOf(asked: Auth, user: User): object | undefined {
  let answer: object | undefined;
  const send = (value: unknown): void => {
    answer = value as object;
  };
  asked.onMessage({ type: 'rules', user, namespace: 'default' }, { isAwaited: true, send, fail: () => {} });
  return answer;
}

/** An Authorization header, and whom it stands for: with anonymous requests allowed, and without. */
const HEADERS: readonly (readonly [header: string, name: string | null, withoutAnonymous: string | null])[] = [
  ['Bearer alices-token', 'alice', 'alice'],
  ['bearer alices-token', 'alice', 'alice'],
  ['BEARER alices-token', 'alice', 'alice'],
  ['Bearer tøken+/=', 'bob', 'bob'],
  // Credentials that nobody accepts are not anonymous.
  ['Bearer unknown', null, null],
  ['Bearer alices-token2', null, null],
  ['Bearer Alices-Token', null, null],
  [`Bearer ${tokenDigest('alices-token')}`, null, null],
  [`Bearer ${'x'.repeat(100_000)}`, null, null],
  ['Bearer __proto__', null, null],
  // No credentials that anyone looks at.
  ['', 'system:anonymous', null],
  ['Bearer', 'system:anonymous', null],
  ['Bearer ', 'system:anonymous', null],
  ['Bearer    ', 'system:anonymous', null],
  // A token is what stands between two blanks.
  ['Bearer  alices-token', 'system:anonymous', null],
  ['Bearer alices-token more', 'alice', 'alice'],
  [' Bearer alices-token ', 'alice', 'alice'],
  ['Basic YWxpY2U6eA==', 'system:anonymous', null],
  ['Bearertoken alices-token', 'system:anonymous', null],
  ['alices-token', 'system:anonymous', null],
];

test('a bearer token stands for its user; what is no token is anonymous, or refused', (t) => {
  const open = auth();
  const closed = auth({ anonymous: false });
  for (const [header, name, withoutAnonymous] of HEADERS) {
    const shown = header.slice(0, 40);
    t.is(authenticate(open, header)?.name ?? null, name, shown);
    t.is(authenticate(closed, header)?.name ?? null, withoutAnonymous, shown);
  }
});

test('everyone with a token is in the group of the authenticated, once', (t) => {
  t.deepEqual(authenticate(auth(), 'Bearer alices-token'), {
    ...ALICE,
    groups: ['dev', 'ops', 'system:authenticated'],
  });
  const groups = ['system:authenticated', 'x'];
  const tokens = [{ digest: tokenDigest('t'), user: { ...BOB, groups } }];
  t.deepEqual(authenticate(auth({ tokens }), 'Bearer t')?.groups, groups);
  t.deepEqual(authenticate(auth(), ''), ANONYMOUS);
});

test('the last of two entries for one token counts', (t) => {
  const digest = tokenDigest('t');
  const tokens = [
    { digest, user: ALICE },
    { digest, user: BOB },
  ];
  t.is(authenticate(auth({ tokens }), 'Bearer t')?.name, 'bob');
});

test('the first mode with an opinion decides, and the superusers need none', (t) => {
  const deny = { allowed: false, denied: false, reason: 'Everything is forbidden.' };
  const allow = { allowed: true, denied: false, reason: '' };
  t.deepEqual(authorize(auth(), ALICE), allow);
  t.deepEqual(authorize(auth({ modes: ['AlwaysDeny'] }), ALICE), deny);
  t.deepEqual(authorize(auth({ modes: ['AlwaysDeny', 'AlwaysAllow'] }), ALICE), allow);
  t.deepEqual(authorize(auth({ modes: ['AlwaysAllow', 'AlwaysDeny'] }), ALICE), allow);
  t.deepEqual(authorize(auth({ modes: ['AlwaysDeny'] }), ANONYMOUS), deny);
  t.deepEqual(authorize(auth({ modes: [] }), ALICE), { allowed: false, denied: false, reason: '' });
  t.deepEqual(authorize(auth({ modes: ['AlwaysDeny'] }), ADMIN), allow);
});

test('what a user may do is not listed before the roles are known: none would look like none at all', (t) => {
  const refused: unknown[] = [];
  const reply = { isAwaited: true, send: () => {}, fail: (error: unknown) => refused.push(error) };
  const asked = { type: 'rules', user: ADMIN, namespace: 'default' } as const;
  auth({ modes: ['AlwaysDeny'] }).onMessage(asked, reply);
  t.deepEqual(refused, []);
  auth({ modes: ['RBAC'] }).onMessage(asked, reply);
  t.true(isOrchError(refused[0], 'ActorDown'));
});

test('what superusers hold by roles is listed, as that of others', (t) => {
  t.like(rulesOf(auth({ modes: ['AlwaysDeny'] }), ADMIN), { resourceRules: [], nonResourceRules: [] });
  t.like(rulesOf(auth(), ADMIN), { resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] });
});

test('what authorizers failed on is told where nobody decides, and is nothing to whoever does', async (t) => {
  const authorizer = (verdict: Verdict, isLate = false): Authorizer => ({
    decide: () => (isLate ? Promise.resolve(verdict) : verdict),
    rules: () => NO_RULES,
  });
  const decide = (...chain: Authorizer[]): Verdict | Promise<Verdict> =>
    new AuthorizerChain(chain).decide(ALICE, ACCESS, { requireWhole: () => {} });
  const failed = authorizer({ decision: 'noOpinion', reason: 'a', errors: ['gone'] }, true);
  const unsure = authorizer({ decision: 'noOpinion', reason: 'b' });
  const broken = authorizer({ decision: 'noOpinion', reason: '', errors: ['broken'] });
  t.deepEqual(await decide(unsure, failed, unsure, broken), {
    decision: 'noOpinion',
    reason: 'b\na\nb',
    errors: ['gone', 'broken'],
  });
  for (const decision of ['allow', 'deny'] as const)
    t.deepEqual(await decide(failed, authorizer({ decision, reason: 'c' })), { decision, reason: 'c' });
});

test('an authorizer that denies after a while ends the chain as well', async (t) => {
  const authorizer = (decision: Verdict['decision'], isLate: boolean): Authorizer => ({
    decide: () => (isLate ? Promise.resolve({ decision, reason: decision }) : { decision, reason: decision }),
    rules: () => NO_RULES,
  });
  const decide = (...chain: Authorizer[]): Verdict | Promise<Verdict> =>
    new AuthorizerChain(chain).decide(ALICE, ACCESS, { requireWhole: () => {} });
  t.like(await decide(authorizer('deny', true), authorizer('allow', false)), { decision: 'deny' });
  t.like(await decide(authorizer('noOpinion', true), authorizer('deny', false), authorizer('allow', true)), {
    decision: 'deny',
  });
  t.like(await decide(authorizer('noOpinion', true), authorizer('allow', true)), { decision: 'allow' });
});

test('an authorizer that denies ends the chain, and the reasons of those without an opinion add up', (t) => {
  const authorizer = (decision: Verdict['decision'], reason = ''): Authorizer => ({
    decide: () => ({ decision, reason }),
    rules: () => ({
      resourceRules: [{ verbs: [reason], apiGroups: [], resources: [] }],
      nonResourceRules: [],
      isIncomplete: false,
      errors: [],
    }),
  });
  const decide = (...chain: Authorizer[]): Verdict | Promise<Verdict> =>
    new AuthorizerChain(chain).decide(ALICE, ACCESS, { requireWhole: () => {} });
  t.deepEqual(decide(authorizer('noOpinion', 'a'), authorizer('noOpinion'), authorizer('noOpinion', 'b')), {
    decision: 'noOpinion',
    reason: 'a\nb',
  });
  t.like(decide(authorizer('deny', 'no'), authorizer('allow')), { decision: 'deny' });
  t.like(decide(authorizer('noOpinion', 'a'), authorizer('allow')), { reason: '' });
  const rules = new AuthorizerChain([authorizer('allow', 'x'), authorizer('allow', 'y')]).rules(ALICE, 'default', {
    requireWhole: () => {},
  });
  t.deepEqual(
    rules.resourceRules.map(({ verbs }) => verbs[0]),
    ['x', 'y'],
  );
});
