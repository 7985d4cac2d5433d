// The mode Webhook on real servers, in both versions of its reviews: what the service is asked, and what its answers and its
// silences come to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { connectionFile, httpsService, jsonOf, sendJson } from '../server/credentials.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly group?: readonly string[];
    readonly resourceAttributes?: Readonly<Record<string, string>>;
    readonly nonResourceAttributes?: Readonly<Record<string, string>>;
  };
}

interface World {
  readonly server: ServerProcess;
  readonly asked: Review[];
  readonly url: string;
}

/** What the service says, by the user it is asked about; of anybody else it has no opinion. */
const STATUSES: Readonly<Record<string, object>> = {
  friend: { allowed: true },
  foe: { allowed: false, denied: true, reason: 'no foes' },
  both: { allowed: true, denied: true, reason: 'both' },
  stranger: { allowed: false, reason: 'who is this' },
};

/** What a client is told where nobody could decide, by the user. `URL` is the service's. */
const FAILURES: readonly (readonly [user: string, problem: string])[] = [
  ['both', 'webhook subject access review returned both allow and deny response'],
  ['nonsense', 'Post "URL": the service answered what is no JSON'],
  ['refused', 'the server rejected our request for an unknown reason'],
  ['other-version', 'the service answered another kind or version of a review'],
];

async function world(scope: Scope, version: string, more: readonly string[] = []): Promise<World> {
  const files = mkdtempSync(join(tmpdir(), 'orch-access-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  const asked: Review[] = [];
  const url = await httpsService(scope, files, 'access', (request, response) => {
    void jsonOf<Review>(request).then((review) => {
      asked.push(review);
      const { user = '' } = review.spec;
      if (user === 'nonsense') response.end('{');
      else if (user === 'refused') response.writeHead(400).end();
      else {
        const apiVersion = user === 'other-version' ? 'v9' : review.apiVersion;
        sendJson(response, { apiVersion, kind: review.kind, status: STATUSES[user] ?? {} });
      }
    });
  });
  const server = await startServer(scope, {
    args: [
      `--authorization-webhook-config-file=${connectionFile(files, 'access', url, 'for-the-service')}`,
      `--authorization-webhook-version=${version}`,
      ...(more.length === 0 ? ['--authorization-mode=Webhook'] : more),
    ],
  });
  return { server, asked, url };
}

function as(
  { server }: World,
  user: string,
  path = '/api/v1/namespaces/default/pods/p',
): ReturnType<typeof server.client.get> {
  return server.client.get(path, { headers: { 'Impersonate-User': user } });
}

for (const version of ['v1', 'v1beta1']) {
  test(`a service is asked in ${version} who may do what`, async (t) => {
    const at = await world(t, version);
    t.is((await as(at, 'friend')).status, 404, 'allowed, and there is no such pod');
    const groups = ['system:authenticated'];
    t.deepEqual(at.asked, [
      {
        apiVersion: `authorization.orch.io/${version}`,
        kind: 'SubjectAccessReview',
        metadata: { creationTimestamp: null },
        spec: {
          resourceAttributes: { verb: 'get', version: 'v1', resource: 'pods', namespace: 'default', name: 'p' },
          user: 'friend',
          ...(version === 'v1' ? { groups } : { group: groups }),
        },
        status: { allowed: false },
      },
    ] as unknown as Review[]);
    await as(at, 'friend', '/version');
    t.deepEqual(at.asked[1]?.spec.nonResourceAttributes, { path: '/version', verb: 'get' });
    const refused: readonly (readonly [user: string, reason: string])[] = [
      ['foe', ': no foes'],
      ['stranger', ': who is this'],
      ['nobody', ''],
    ];
    for (const [user, reason] of refused) {
      const { status, json } = await as(at, user);
      t.is(status, 403, user);
      t.is(
        json.message,
        `pods "p" is forbidden: User "${user}" cannot get resource "pods" in API group "" in the namespace "default"${reason}`,
      );
      t.is(json.kind, 'Status');
    }
    for (const [user, problem] of FAILURES) {
      const { status, text, headers } = await as(at, user, '/api/v1/pods?limit=1&watch=0');
      t.is(status, 500, user);
      t.is(
        text,
        `Internal Server Error: "/api/v1/pods?limit=1&amp;watch=0": ${problem.replace('URL', `${at.url}/?timeout=30s`)}\n`,
      );
      t.regex(headers['content-type'] ?? '', /^text\/plain/);
    }
    const questions = at.asked.length;
    for (const user of ['friend', 'foe', 'stranger', 'nobody']) await as(at, user);
    t.is(at.asked.length, questions, 'what it has answered is remembered');
    const metrics = new MetricsText((await at.server.client.get('/metrics')).text);
    const calls = { method: 'POST', host: new URL(at.url).host };
    t.is(metrics.sum('rest_client_requests_total', calls), questions);
    t.is(metrics.sum('rest_client_requests_total', { ...calls, code: '400' }), 1);
    t.is(metrics.sum('rest_client_request_duration_seconds_count', { verb: 'POST' }), questions);
    t.is((await at.server.client.get('/api/v1/pods')).status, 200, 'superusers are not asked about');
    t.is(at.asked.length, questions);
    for (const [user] of FAILURES) await as(at, user);
    t.is(at.asked.length, questions + FAILURES.length, 'what it has failed to answer is not');
  });
}

test('a service that denies ends the chain, one without an opinion does not, and nothing is kept where that is not wanted', async (t) => {
  const at = await world(t, 'v1', [
    '--authorization-mode=Webhook,AlwaysAllow',
    '--authorization-webhook-cache-authorized-ttl=0s',
    '--authorization-webhook-cache-unauthorized-ttl=0s',
  ]);
  for (const [user, status] of [
    ['friend', 404],
    ['foe', 403],
    ['both', 500],
    ['stranger', 404],
    ['nonsense', 404],
  ] as const)
    t.is((await as(at, user)).status, status, user);
  const questions = at.asked.length;
  await as(at, 'friend');
  await as(at, 'foe');
  t.is(at.asked.length, questions + 2);
  const body = (user: string): object => ({ spec: { user, resourceAttributes: { verb: 'get', resource: 'pods' } } });
  const review = async (user: string): Promise<unknown> => {
    const path = '/apis/authorization.orch.io/v1/subjectaccessreviews';
    return (await at.server.client.request('POST', path, { body: body(user) })).json.status;
  };
  t.deepEqual(await review('foe'), { allowed: false, denied: true, reason: 'no foes' });
  t.deepEqual(await review('stranger'), { allowed: true });
  t.deepEqual(await review('nonsense'), { allowed: true });
  t.deepEqual(await review('both'), {
    allowed: false,
    denied: true,
    reason: 'both',
    evaluationError: 'webhook subject access review returned both allow and deny response',
  });
});

test('a review of access says what a service could not be asked for', async (t) => {
  const at = await world(t, 'v1');
  const path = '/apis/authorization.orch.io/v1/subjectaccessreviews';
  const body = { spec: { user: 'refused', resourceAttributes: { verb: 'get', resource: 'pods' } } };
  const { status, json } = await at.server.client.request('POST', path, { body });
  t.is(status, 201);
  t.deepEqual(json.status, {
    allowed: false,
    evaluationError: 'the server rejected our request for an unknown reason',
  });
});

test('a list of what one may do says that a service may allow more', async (t) => {
  const at = await world(t, 'v1', ['--authorization-mode=RBAC,Webhook']);
  const rules = '/apis/authorization.orch.io/v1/selfsubjectrulesreviews';
  const headers = { 'Impersonate-User': 'nobody' };
  const { json } = await at.server.client.request('POST', rules, { headers, body: { spec: { namespace: 'x' } } });
  t.like(json.status as object, {
    incomplete: true,
    evaluationError: 'webhook authorizer does not support user rule resolution',
  });
});
