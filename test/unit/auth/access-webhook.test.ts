// What a service that is asked about access says, and what it comes to when it says nothing.
import test from 'ava';
import type { Verdict } from '../../../actors/auth/authorizers/authorizer.ts';
import { WebhookAuthorizer } from '../../../actors/auth/authorizers/webhook.ts';
import type { WebhookEnvironment } from '../../../actors/outside/webhook-call.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { ServiceCallFailed, ServiceRefused } from '../../../transport/outgoing/service-client.ts';

const USER = { name: 'jane', uid: '', groups: [], extra: {} };
const ACCESS = {
  ...{ verb: 'get', isResource: true, group: '', version: 'v1', resource: 'pods', subresource: '' },
  ...{ namespace: '', name: '', path: '' },
};
const apiVersion = 'authorization.orch.io/v1';
const kind = 'SubjectAccessReview';

/** A service that answers so, each time it is asked. */
function service(answer: unknown): { readonly decide: () => Verdict | Promise<Verdict>; readonly asked: () => number } {
  const time = new VirtualTime();
  let asked = 0;
  const post = async (): Promise<unknown> => {
    asked++;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const environment: WebhookEnvironment = { clock: time, timers: time, random: { next: () => 0 } };
  const forMs = { allowedMs: 1000, refusedMs: 1000 };
  const authorizer = new WebhookAuthorizer({
    client: { url: 'https://judge/', post },
    environment,
    apiVersion,
    ...forMs,
  });
  return { decide: () => authorizer.decide(USER, ACCESS), asked: () => asked };
}

/** An answer, and what is told of it. */
const FAILURES: readonly (readonly [answer: unknown, error: string])[] = [
  [new ServiceRefused(400, 'no'), 'the server rejected our request for an unknown reason'],
  [new ServiceRefused(403, '{"kind":"Status","status":"Failure","message":"not you"}'), 'not you'],
  [new ServiceCallFailed('EOF', false), 'Post "https://judge/": EOF'],
  [[], 'the service answered another kind or version of a review'],
  [new Error('Bearer secret'), 'the service could not be asked'],
  [{ apiVersion: 'v9', kind, status: { allowed: true } }, 'the service answered another kind or version of a review'],
];

/** What is said of an answer with a member of another type. */
function unread(member: string, given: string, type: string): string {
  const why = `status.${member}: json: cannot unmarshal ${given} into Go value of type ${type}`;
  return `Post "https://judge/": the service answered a review that cannot be read: ${why}`;
}

test('a service is asked about who and what, in the words of its version, and not again while the answer is remembered', async (t) => {
  const time = new VirtualTime();
  const specs: unknown[] = [];
  const unanswered: unknown[] = [];
  const versioned = (version: string): WebhookAuthorizer => {
    const of = { apiVersion: `authorization.orch.io/${version}`, kind };
    const post = async (review: unknown): Promise<unknown> => {
      const { spec, status, metadata } = JSON.parse(String(review)) as Record<string, unknown>;
      specs.push(spec);
      unanswered.push({ status, metadata });
      return { ...of, status: { allowed: true } };
    };
    return new WebhookAuthorizer({
      client: { url: 'https://judge/', post },
      environment: { clock: time, timers: time, random: { next: () => 0 } },
      apiVersion: of.apiVersion,
      allowedMs: 1000,
      refusedMs: 1000,
    });
  };
  const jane = { name: 'jane', uid: 'u', groups: ['a', 'b'], extra: { scope: ['x'] } };
  const resource = { ...ACCESS, group: 'apps', subresource: 'scale', namespace: 'shop', name: 'web' };
  const path = { ...ACCESS, isResource: false, path: '/healthz' };
  const asked = { user: 'jane', uid: 'u', extra: { scope: ['x'] } };
  const resourceAttributes = {
    ...{ verb: 'get', group: 'apps', version: 'v1', resource: 'pods', subresource: 'scale' },
    ...{ namespace: 'shop', name: 'web' },
  };
  const current = versioned('v1');
  for (let times = 1; times <= 2; times++) {
    t.like(await current.decide(jane, resource), { decision: 'allow' });
    t.like(await current.decide(USER, path), { decision: 'allow' });
  }
  await versioned('v1beta1').decide(jane, path);
  t.deepEqual(specs, [
    { resourceAttributes, ...asked, groups: ['a', 'b'] },
    { nonResourceAttributes: { path: '/healthz', verb: 'get' }, user: 'jane' },
    { nonResourceAttributes: { path: '/healthz', verb: 'get' }, ...asked, group: ['a', 'b'] },
  ]);
  const members = { status: { allowed: false }, metadata: { creationTimestamp: null } };
  t.deepEqual(unanswered, [members, members, members], 'it has the place of its answer');
  t.like(current.rules(), { isIncomplete: true });
});

test('a question is remembered however many groups its user is in, and not one that is made to fill the memory', async (t) => {
  const time = new VirtualTime();
  let asked = 0;
  const post = async (): Promise<unknown> => {
    asked++;
    return { apiVersion, kind, status: { allowed: true } };
  };
  const authorizer = new WebhookAuthorizer({
    client: { url: 'https://judge/', post },
    environment: { clock: time, timers: time, random: { next: () => 0 } },
    apiVersion,
    allowedMs: 1000,
    refusedMs: 1000,
  });
  const timesAsked = async (groups: readonly string[], name: string): Promise<number> => {
    const before = asked;
    for (let times = 1; times <= 2; times++) await authorizer.decide({ ...USER, groups }, { ...ACCESS, name });
    return asked - before;
  };
  const many = Array.from({ length: 200 }, (_, index) => `group-${index}`);
  t.is(await timesAsked(many, 'a'), 1);
  t.is(await timesAsked(many.slice(1), 'a'), 1, 'others are another question');
  t.is(await timesAsked(many, 'b'), 1);
  t.is(await timesAsked([], 'x'.repeat(20_000)), 2);
});

test('a service that says what it says in another type has said nothing', async (t) => {
  for (const [status, error] of [
    [{ allowed: 'true' }, unread('allowed', 'string', 'bool')],
    [{ allowed: true, denied: 1 }, unread('denied', 'number', 'bool')],
    [{ allowed: true, reason: {} }, unread('reason', 'object', 'string')],
  ] as const) {
    const { decide, asked } = service({ apiVersion, kind, status });
    for (let times = 1; times <= 2; times++) {
      t.deepEqual(await decide(), { decision: 'noOpinion', reason: '', errors: [error] });
      t.is(asked(), times);
    }
  }
  const { decide } = service({ apiVersion, kind, status: { allowed: true, denied: null, reason: null } });
  t.deepEqual(await decide(), { decision: 'allow', reason: '' });
});

test('a service that cannot be asked has no opinion, says why, and is asked again', async (t) => {
  for (const [answer, error] of FAILURES) {
    const { decide, asked } = service(answer);
    for (let times = 1; times <= 2; times++) {
      t.deepEqual(await decide(), { decision: 'noOpinion', reason: '', errors: [error] });
      t.is(asked(), times, error);
    }
  }
});

test('a service that both allows and denies has failed, denies, and is asked again', async (t) => {
  const { decide, asked } = service({ apiVersion, kind, status: { allowed: true, denied: true, reason: 'both' } });
  const errors = ['webhook subject access review returned both allow and deny response'];
  for (let times = 1; times <= 2; times++) {
    t.deepEqual(await decide(), { decision: 'deny', reason: 'both', errors });
    t.is(asked(), times);
  }
});

test('what a service has decided is not asked for again', async (t) => {
  const { decide, asked } = service({ apiVersion, kind, status: { denied: true, reason: 'no' } });
  for (let times = 0; times < 2; times++) t.deepEqual(await decide(), { decision: 'deny', reason: 'no' });
  t.is(asked(), 1);
});

test('what a service allows is remembered as long as is said of that, what it refuses as long as of this, each of its user', async (t) => {
  const time = new VirtualTime();
  const asked: string[] = [];
  const authorizer = new WebhookAuthorizer({
    client: {
      url: 'https://judge/',
      post: async (json) => {
        const { spec } = JSON.parse(json) as { spec: { user: string; uid?: string } };
        asked.push(`${spec.user}/${spec.uid ?? ''}`);
        return { apiVersion, kind, status: { allowed: spec.user === 'jane' } };
      },
    },
    environment: { clock: time, timers: time, random: { next: () => 0 } },
    apiVersion,
    allowedMs: 5000,
    refusedMs: 1000,
  });
  const users = [USER, { ...USER, uid: 'other' }, { ...USER, name: 'june' }];
  const all = async (): Promise<readonly string[]> => {
    asked.length = 0;
    for (const user of users) await authorizer.decide(user, ACCESS);
    return [...asked];
  };
  t.deepEqual(await all(), ['jane/', 'jane/other', 'june/']);
  await time.advance(999);
  t.deepEqual(await all(), []);
  await time.advance(2);
  t.deepEqual(await all(), ['june/']);
  await time.advance(4000);
  t.deepEqual(await all(), ['jane/', 'jane/other', 'june/']);
});

test('what is decided about a user of many groups is remembered, and what is asked about by a name without measure is not', async (t) => {
  const time = new VirtualTime();
  let asked = 0;
  const authorizer = new WebhookAuthorizer({
    client: {
      url: 'https://judge/',
      post: async () => {
        asked++;
        return { apiVersion, kind, status: { allowed: true } };
      },
    },
    environment: { clock: time, timers: time, random: { next: () => 0 } },
    apiVersion,
    allowedMs: 5000,
    refusedMs: 1000,
  });
  const groups = Array.from({ length: 400 }, (_, index) => `cn=group-${index},ou=groups,dc=example,dc=org`);
  const times = async (user: typeof USER, access: typeof ACCESS): Promise<number> => {
    asked = 0;
    for (let i = 0; i < 3; i++) t.is((await authorizer.decide(user, access)).decision, 'allow');
    return asked;
  };
  const member = { ...USER, groups } as unknown as typeof USER;
  t.is(await times(member, ACCESS), 1);
  t.is(await times({ ...member, name: 'june' }, ACCESS), 1);
  t.is(await times(member, { ...ACCESS, name: 'x'.repeat(9000) }), 1);
  t.is(await times(USER, { ...ACCESS, name: 'x'.repeat(20_000) }), 3);
});
