// Auditing on running servers: what is recorded of which request, where it goes, and what comes of backends that are slow, full or
// away. The log is a real file, the webhook a real service.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import ava, { type ExecutionContext } from 'ava';
import { connectionFile, httpsService, jsonOf } from '../server/credentials.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { patchOf, webhookService } from '../server/webhook-service.ts';
import { eventually } from './objects.ts';

// One after the other: each has a server, and reads a log again and again.
const test = ava.serial;

interface AuditedRequest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly level: string;
  readonly stage: string;
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username?: string; readonly groups?: readonly string[] };
  readonly impersonatedUser?: { readonly username?: string };
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  readonly requestObject?: { readonly data?: object };
  readonly responseObject?: { readonly kind?: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const MAPS = '/api/v1/namespaces/default/configmaps';

interface Audited {
  readonly server: ServerProcess;
  readonly folder: string;
  readonly log: string;
  text(): string;
  events(): AuditedRequest[];
  /** Waits for an event. */
  found(is: (event: AuditedRequest) => boolean): Promise<AuditedRequest>;
}

function newFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-audit-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What components of the server write, which most tests do not look at. */
const NOT_COMPONENTS = [
  { level: 'None', users: ['system:apiserver', 'system:orch-controller-manager', 'system:orch-scheduler'] },
  { level: 'None', userGroups: ['system:serviceaccounts:orch-system'] },
];

/** A server that records what clients ask for. `rules`: of the policy, as JSON. */
const audited: typeof recording = (t, rules, ...more) => recording(t, [...NOT_COMPONENTS, ...rules], ...more);

/** `rules`: of the policy, as JSON. */
async function recording(
  t: ExecutionContext,
  rules: readonly object[],
  args: readonly string[] = [],
  folder = newFolder(t),
): Promise<Audited> {
  const log = join(folder, 'logs', 'audit.log');
  const policy = join(folder, 'policy.json');
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules }));
  const own = args.some((arg) => /^--audit-(?:log-path|webhook-config-file)=/.test(arg))
    ? []
    : ['--audit-log-path', log];
  const server = await startServer(t, { args: ['--audit-policy-file', policy, ...own, ...args] });
  const text = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  const events = (): AuditedRequest[] =>
    text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditedRequest);
  const found = async (is: (event: AuditedRequest) => boolean): Promise<AuditedRequest> => {
    const all = await eventually(
      async () => events(),
      (seen) => seen.some(is),
    );
    return all.find(is)!;
  };
  return { server, folder, log, text, events, found };
}

const complete =
  (verb: string, uri: string) =>
  ({ stage, verb: seen, requestURI }: AuditedRequest): boolean =>
    stage === 'ResponseComplete' && seen === verb && requestURI.startsWith(uri);

async function errorsOf({ client }: ServerProcess, plugin: string): Promise<number> {
  return new MetricsText((await client.get('/metrics')).text).sum('apiserver_audit_error_total', { plugin });
}

test('requests are recorded in the log as far as the policy says', async (t) => {
  const maps = [{ group: '', resources: ['configmaps'] }];
  const at = await audited(t, [
    { level: 'None', nonResourceURLs: ['/healthz*', '/metrics'] },
    { level: 'RequestResponse', verbs: ['create', 'patch'], resources: maps, omitStages: ['RequestReceived'] },
    { level: 'Request', verbs: ['update', 'delete'], resources: maps },
    { level: 'Metadata' },
  ]);
  const { client } = at.server;
  t.is(statSync(at.log).mode & 0o777, 0o600);
  const body = { metadata: { name: 'noted' }, data: { a: 'first' } };
  const made = await client.request('POST', MAPS, {
    body,
    headers: { 'Audit-ID': 'my-own-id', 'User-Agent': 'a-test' },
  });
  t.is(made.status, 201);
  t.is(made.headers['audit-id'], 'my-own-id');
  const create = await at.found(complete('create', MAPS));
  t.like(create, {
    kind: 'Event',
    apiVersion: 'audit.orch.io/v1',
    level: 'RequestResponse',
    auditID: 'my-own-id',
    user: { username: 'orch-admin', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'a-test',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'noted', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: body,
    annotations: { 'authorization.orch.io/decision': 'allow', 'authorization.orch.io/reason': '' },
  });
  t.like(create.responseObject, { kind: 'ConfigMap', data: { a: 'first' } });
  t.regex(String(create.requestReceivedTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  t.is(at.events().filter(({ auditID }) => auditID === 'my-own-id').length, 1, 'the first stage is left out');

  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: noted\ndata:\n  a: second\n';
  await client.request('PUT', `${MAPS}/noted`, { body: yaml, headers: { 'Content-Type': 'application/yaml' } });
  const update = await at.found(complete('update', MAPS));
  t.like(update.requestObject, { data: { a: 'second' } }, 'whatever the body is written in');
  t.is(update.responseObject, undefined);
  t.is(at.events().filter(({ auditID }) => auditID === update.auditID).length, 2);

  await client.get(`${MAPS}/noted?pretty=1`);
  const get = await at.found(complete('get', `${MAPS}/noted?pretty=1`));
  t.is(get.level, 'Metadata');
  t.is(get.requestObject, undefined);
  t.is(get.responseObject, undefined);

  t.is((await client.get(`${MAPS}/missing`)).status, 404);
  const missing = await at.found(complete('get', `${MAPS}/missing`));
  t.like(missing.responseStatus, { status: 'Failure', reason: 'NotFound', code: 404 });

  await client.get('/healthz');
  await client.get('/version');
  await at.found(complete('get', '/version'));
  t.false(at.text().includes('/healthz'));
});

test('refused, impersonating and long requests are recorded at their stages', async (t) => {
  const at = await audited(t, [{ level: 'Metadata' }], ['--anonymous-auth=false']);
  const { client } = at.server;
  t.is((await client.get('/api', { token: 'no-such-token' })).status, 401);
  const refused = await at.found(({ responseStatus }) => responseStatus?.code === 401);
  t.like(refused, { stage: 'ResponseStarted', user: {}, responseStatus: { reason: 'Unauthorized' } });
  t.is(at.events().filter(({ auditID }) => auditID === refused.auditID).length, 1);

  const headers = { 'Impersonate-User': 'ann' };
  t.is((await client.get('/api/v1/nodes', { headers })).status, 403);
  const other = await at.found(complete('list', '/api/v1/nodes'));
  t.like(other, {
    user: { username: 'orch-admin' },
    impersonatedUser: { username: 'ann', groups: ['system:authenticated'] },
    responseStatus: { reason: 'Forbidden', code: 403 },
  });
  t.is(other.annotations?.['authorization.orch.io/decision'], 'forbid');

  const ofNobody = { 'Impersonate-Group': 'ops' };
  t.is((await client.get('/version', { token: 'no-such-token', headers: ofNobody })).status, 401);
  t.is((await client.get('/version', { headers: ofNobody })).status, 500);
  const failed = await at.found(complete('get', '/version'));
  t.like(failed, { user: { username: 'orch-admin' }, impersonatedUser: undefined, responseStatus: { code: 500 } });
  t.is(failed.annotations, undefined, 'nothing was decided');

  const watch = await client.watch(`${MAPS}?watch=1`);
  await client.request('POST', MAPS, { body: { metadata: { name: 'seen' } } });
  await watch.next();
  await at.found(({ verb, stage }) => verb === 'watch' && stage === 'ResponseStarted');
  t.false(at.events().some(({ verb, stage }) => verb === 'watch' && stage === 'ResponseComplete'));
  watch.close();
  await at.found(({ verb, stage }) => verb === 'watch' && stage === 'ResponseComplete');
});

test('what secrets and tokens hold is in no event that the policy has without bodies', async (t) => {
  const at = await audited(t, [{ level: 'Metadata' }]);
  const { client } = at.server;
  const secret = 'a-secret-of-its-own-77f1';
  const body = { metadata: { name: 'kept' }, stringData: { key: secret } };
  t.is((await client.request('POST', '/api/v1/namespaces/default/secrets', { body })).status, 201);
  await client.get('/api/v1/namespaces/default/secrets/kept');
  await client.request('POST', '/apis/authentication.orch.io/v1/tokenreviews', { body: { spec: { token: secret } } });
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await client.request('POST', accounts, { body: { metadata: { name: 'robot' } } });
  const issued = await client.request('POST', `${accounts}/robot/token`, { body: { spec: {} } });
  const { token } = issued.json.status as { token: string };
  await client.get('/version', { token });
  await client.get('/version', { token: `${secret}-wrong` });
  await at.found(({ responseStatus, requestURI }) => requestURI === '/version' && responseStatus?.code === 401);
  for (const hidden of [secret, Buffer.from(secret).toString('base64'), token, at.server.token])
    t.false(at.text().includes(hidden));
  t.true(at.events().some(({ objectRef }) => objectRef?.resource === 'secrets' && objectRef.name === 'kept'));
});

test('requests with a token that is kept in a secret are recorded as such, whoever they run as', async (t) => {
  const at = await audited(t, [{ level: 'Metadata', nonResourceURLs: ['/version'] }]);
  const { client } = at.server;
  const secrets = await eventually(
    async () => (await client.get('/api/v1/namespaces/default/secrets')).json.items ?? [],
    (all) => all.length > 0,
  );
  const token = Buffer.from((secrets[0]!.data as { token: string }).token, 'base64').toString();
  t.is((await client.get('/version', { token })).status, 200);
  const key = 'authentication.orch.io/legacy-token';
  const event = await at.found(complete('get', '/version'));
  t.is(event.annotations?.[key], 'system:serviceaccount:default:default');
  t.is(event.annotations?.['authorization.orch.io/decision'], 'allow');
  await client.get('/version?other=1');
  t.is((await at.found(complete('get', '/version?other'))).annotations?.[key], undefined);
});

test('a request whose timeout makes no sense is recorded, though nobody was asked who sent it', async (t) => {
  const at = await audited(t, [{ level: 'Metadata', users: ['orch-admin'] }, { level: 'Metadata' }]);
  t.is((await at.server.client.get(`${MAPS}?timeout=soon`)).status, 400);
  const event = await at.found(({ requestURI }) => requestURI === `${MAPS}?timeout=soon`);
  t.like(event, {
    stage: 'ResponseStarted',
    verb: 'list',
    user: {},
    responseStatus: { code: 400, reason: 'BadRequest' },
  });
  t.is(at.events().filter(({ requestURI }) => requestURI.endsWith('timeout=soon')).length, 1);
});

test('what was sent is in no event of a request that was refused before it was looked at', async (t) => {
  const at = await audited(t, [{ level: 'Request' }]);
  const { client } = at.server;
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sent' }, data: { a: 'b' } };
  const refused = [
    ['PUT', 'update', MAPS, 405],
    ['POST', 'create', `${MAPS}?dryRun=Some`, 422],
    ['PUT', 'update', `${MAPS}/other?dryRun=Some`, 422],
  ] as const;
  for (const [method, verb, path, code] of refused) {
    t.is((await client.request(method, path, { body })).status, code);
    const event = await at.found(complete(verb, path));
    t.is(event.requestObject, undefined, path);
    t.not(event.objectRef?.name, 'sent', path);
    t.is(event.responseStatus?.code, code);
  }
  t.is((await client.request('POST', `${MAPS}?dryRun=All`, { body })).status, 201);
  const taken = await at.found(complete('create', `${MAPS}?dryRun=All`));
  t.is(taken.objectRef?.name, 'sent');
  t.deepEqual(taken.requestObject?.data, { a: 'b' });
});

test('an answer that is no object of the API is not recorded', async (t) => {
  const at = await audited(t, [{ level: 'RequestResponse' }]);
  const { client } = at.server;
  for (const path of ['/version', '/openapi/v2', '/nothing.test/v1', '/api?x=1'])
    await client.get(path, { headers: { Accept: 'application/json' } });
  t.like((await at.found(complete('get', '/api?x'))).responseObject, { kind: 'APIVersions' });
  for (const path of ['/version', '/openapi/v2', '/nothing.test/v1'])
    t.is((await at.found(complete('get', path))).responseObject, undefined, path);
});

test('the log is in an older version, or lines of text, where that is asked for', async (t) => {
  const rules = [{ level: 'Metadata', resources: [{ group: 'apps' }] }];
  const old = await audited(t, rules, ['--audit-log-version=audit.orch.io/v1alpha1']);
  await old.server.client.get('/apis/apps/v1/deployments');
  const event = await old.found(complete('list', '/apis/apps/v1/deployments'));
  t.is(event.apiVersion, 'audit.orch.io/v1alpha1');
  t.deepEqual(event.objectRef, { resource: 'deployments', apiVersion: 'apps/v1' });
  t.regex(String(event.timestamp), /Z$/);

  const text = await audited(t, rules, ['--audit-log-format=legacy']);
  await text.server.client.get('/apis/apps/v1/deployments');
  const lines = await eventually(
    async () => text.text().split('\n'),
    (all) => all.length > 2,
  );
  t.regex(
    lines[1]!,
    /^\S+Z AUDIT: id="[0-9a-f-]{36}" stage="ResponseComplete" ip="127\.0\.0\.1" method="list" user="orch-admin" groups="\\"system:masters\\",\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" namespace="<none>" uri="\/apis\/apps\/v1\/deployments" response="200"$/,
  );
});

test('a full log is put aside and compressed, and as many are kept as is said', async (t) => {
  const rules = [{ level: 'Request', verbs: ['create'], omitStages: ['RequestReceived'] }];
  const at = await audited(t, rules, [
    ...['--audit-log-maxsize=1', '--audit-log-maxbackup=1', '--audit-log-maxage=7', '--audit-log-compress'],
  ]);
  const data = { a: 'x'.repeat(400_000) };
  for (let i = 0; i < 9; i++)
    await at.server.client.request('POST', MAPS, { body: { metadata: { name: `large-${i}` }, data } });
  const files = await eventually(
    async () => readdirSync(join(at.folder, 'logs')).filter((name) => name !== 'audit.log'),
    (names) => names.length === 1 && names[0]!.endsWith('.log.gz'),
  );
  const lines = gunzipSync(readFileSync(join(at.folder, 'logs', files[0]!))).toString('utf8');
  t.is(lines.split('\n').length - 1, 2, 'two of them are a megabyte');
  t.regex(files[0]!, /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log\.gz$/);
});

test('large events lose their bodies, and those that are still too large are dropped', async (t) => {
  const at = await audited(
    t,
    [{ level: 'Request', verbs: ['create'], omitStages: ['RequestReceived'] }],
    [
      ...['--audit-log-truncate-enabled', '--audit-log-truncate-max-event-size=2000'],
      '--audit-log-truncate-max-batch-size=4000',
    ],
  );
  const { client } = at.server;
  const make = (name: string, length: number, query = ''): Promise<unknown> =>
    client.request('POST', `${MAPS}${query}`, { body: { metadata: { name }, data: { a: 'x'.repeat(length) } } });
  await make('small', 10);
  await make('large', 3000);
  await make('hopeless', 10, `?fieldManager=${'m'.repeat(100)}&no=${'x'.repeat(3000)}`);
  const small = await at.found(({ objectRef }) => objectRef?.name === 'small');
  t.truthy(small.requestObject);
  const large = await at.found(({ objectRef }) => objectRef?.name === 'large');
  t.is(large.requestObject, undefined);
  t.is(large.annotations?.['audit.orch.io/truncated'], 'true');
  await eventually(
    () => errorsOf(at.server, 'truncate'),
    (count) => count === 1,
  );
  t.false(at.events().some(({ objectRef }) => objectRef?.name === 'hopeless'));
});

test('a request whose event must be in the log fails where that is full, and otherwise goes on', async (t) => {
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }];
  const strict = await audited(t, rules, ['--audit-log-path=/dev/full', '--audit-log-mode=blocking-strict']);
  const refused = await strict.server.client.request('POST', MAPS, { body: { metadata: { name: 'never' } } });
  t.is(refused.status, 500);
  t.regex(refused.text, /failed to store audit event/);
  t.is((await strict.server.client.get(`/api/v1/namespaces/default`)).status, 200);
  const { text } = await strict.server.client.get('/metrics');
  t.is(new MetricsText(text).sum('apiserver_audit_requests_rejected_total'), 1);

  const lenient = await audited(t, rules, ['--audit-log-path=/dev/full']);
  t.is((await lenient.server.client.get(MAPS)).status, 200);
  await eventually(
    () => errorsOf(lenient.server, 'log'),
    (count) => count === 2,
  );
});

test('a log in batches drops what does not fit into its buffer, and counts it', async (t) => {
  const at = await audited(
    t,
    [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }],
    [
      ...['--audit-log-mode=batch', '--audit-log-batch-max-size=2', '--audit-log-batch-buffer-size=4'],
      ...['--audit-log-batch-throttle-enable', '--audit-log-batch-throttle-qps=0.001'],
      ...['--audit-log-batch-throttle-burst=1', '--audit-log-batch-max-wait=1h'],
    ],
  );
  for (let i = 0; i < 5; i++) await at.server.client.get(`${MAPS}/none-${i}`);
  // Two went at once, four wait.
  await eventually(
    () => errorsOf(at.server, 'buffered'),
    (count) => count === 4,
  );
  await eventually(
    async () => at.events().length,
    (count) => count === 2,
  );
  await at.server.stop();
  t.is(at.events().length, 6, 'at the end the rest is written');
});

test('a batch that is not full is written after a while', async (t) => {
  const at = await audited(
    t,
    [{ level: 'Metadata', nonResourceURLs: ['/version'] }],
    [...['--audit-log-mode=batch', '--audit-log-batch-max-size=100', '--audit-log-batch-max-wait=100ms']],
  );
  await at.server.client.get('/version');
  await at.found(complete('get', '/version'));
  t.is(at.events().length, 2);
});

interface EventList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly AuditedRequest[];
}

test('a webhook is sent lists of events, and again where it fails', async (t) => {
  const folder = newFolder(t);
  const lists: EventList[] = [];
  // Each list fails the first time: lists on their way at once would take turns at failing otherwise.
  const tried = new Set<string>();
  const asked = new Set<string | undefined>();
  const url = await httpsService(t, folder, 'audit', (request, response) => {
    asked.add(request.url);
    void jsonOf<EventList>(request).then((list) => {
      const name = JSON.stringify(list.items.map(({ auditID, stage }) => [auditID, stage]));
      if (!tried.has(name)) {
        tried.add(name);
        response.writeHead(500).end();
      } else {
        lists.push(list);
        // Nobody reads it.
        response.end('taken');
      }
    });
  });
  const webhook = `--audit-webhook-config-file=${connectionFile(folder, 'audit', url, 'for-the-service')}`;
  const at = await audited(
    t,
    [{ level: 'Request', resources: [{ group: '', resources: ['configmaps'] }] }],
    [
      ...[webhook, '--audit-webhook-batch-max-size=3', '--audit-webhook-batch-max-wait=50ms'],
      ...['--audit-webhook-initial-backoff=10ms', '--audit-webhook-version=audit.orch.io/v1beta1'],
      ...['--audit-webhook-batch-throttle-qps=100', '--audit-webhook-truncate-enabled'],
      ...['--audit-webhook-truncate-max-event-size=2000', '--audit-webhook-truncate-max-batch-size=2500'],
    ],
    folder,
  );
  const ids = Array.from({ length: 10 }, (_, index) => `id-${index}`);
  for (const id of ids)
    await at.server.client.request('POST', MAPS, {
      body: { metadata: { name: id }, data: { a: 'x'.repeat(id === 'id-9' ? 5000 : 10) } },
      headers: { 'Audit-ID': id },
    });
  const seen = (): AuditedRequest[] => lists.flatMap(({ items }) => items);
  await eventually(
    async () => seen().length,
    (count) => count >= 20,
  );
  for (const id of ids)
    t.deepEqual(
      seen()
        .filter(({ auditID }) => auditID === id)
        .map(({ stage }) => stage)
        .sort(),
      ['RequestReceived', 'ResponseComplete'],
      'each event once',
    );
  t.deepEqual([...asked], ['/?timeout=30s'], 'told how long it is waited for');
  t.true(lists.every(({ kind, items }) => kind === 'EventList' && items.length <= 3));
  t.true(lists.every(({ apiVersion }) => apiVersion === 'audit.orch.io/v1beta1'));
  const cut = seen().find(({ auditID, stage }) => auditID === 'id-9' && stage === 'ResponseComplete')!;
  t.is(cut.annotations?.['audit.orch.io/truncated'], 'true');
  t.is(await errorsOf(at.server, 'webhook'), 0);
  const metrics = new MetricsText((await at.server.client.get('/metrics')).text);
  const calls = (code: string): number =>
    metrics.sum('rest_client_requests_total', { code, host: new URL(url).host, method: 'POST' });
  t.true(calls('200') >= 7, 'lists of three');
  t.is(calls('200'), calls('500'));
});

test('a webhook that cannot be reached fails requests where it must not, and its buffer has an end', async (t) => {
  const folder = newFolder(t);
  const url = await httpsService(t, folder, 'audit', (_request, response) => void response.writeHead(500).end());
  const webhook = `--audit-webhook-config-file=${connectionFile(folder, 'audit', url, 'for-the-service')}`;
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }];
  const strict = await audited(
    t,
    rules,
    [webhook, '--audit-webhook-mode=blocking-strict', '--audit-webhook-initial-backoff=1ms'],
    folder,
  );
  t.is((await strict.server.client.get(MAPS)).status, 500);
  t.true((await errorsOf(strict.server, 'webhook')) >= 1);

  const slow = await audited(
    t,
    rules,
    [
      ...[webhook, '--audit-webhook-batch-buffer-size=2', '--audit-webhook-batch-max-size=1'],
      ...['--audit-webhook-batch-throttle-enable', '--audit-webhook-batch-throttle-qps=0.001'],
      '--audit-webhook-batch-throttle-burst=1',
    ],
    folder,
  );
  for (let i = 0; i < 3; i++) t.is((await slow.server.client.get(MAPS)).status, 200);
  await eventually(
    () => errorsOf(slow.server, 'buffered'),
    (count) => count === 3,
  );
});

test('who waits for a webhook is answered when it has the event, which it is sent again where it fails', async (t) => {
  const folder = newFolder(t);
  const stages: string[] = [];
  let letGo: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const url = await httpsService(t, folder, 'audit', (request, response) => {
    void jsonOf<EventList>(request).then(async ({ items }) => {
      stages.push(...items.map(({ stage }) => stage));
      // The first event fails twice; the last of the answer takes until the test has looked.
      if (items.some(({ stage }) => stage === 'ResponseComplete')) await gate;
      response.writeHead(stages.length <= 2 ? 500 : 200).end();
    });
  });
  const webhook = `--audit-webhook-config-file=${connectionFile(folder, 'audit', url, 'for-the-service')}`;
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }];
  const blocking = ['--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=1ms'];
  const { server } = await audited(t, rules, [webhook, ...blocking], folder);
  let isAnswered = false;
  const answer = server.client.get(MAPS).then((got) => {
    isAnswered = true;
    return got;
  });
  await eventually(
    async () => stages,
    (seen) => seen.includes('ResponseComplete'),
  );
  t.false(isAnswered);
  letGo();
  t.is((await answer).status, 200);
  t.deepEqual(stages, ['RequestReceived', 'RequestReceived', 'RequestReceived', 'ResponseComplete']);
  t.is(await errorsOf(server, 'webhook'), 0);
});

test('who waits for a webhook that says nothing is answered when the time of the request is over', async (t) => {
  const folder = newFolder(t);
  let silentFrom = 'ResponseComplete';
  const silent: (() => void)[] = [];
  const url = await httpsService(t, folder, 'audit', (request, response) => {
    void jsonOf<EventList>(request).then(({ items }) => {
      const take = (): void => void response.writeHead(200).end();
      if (items.some(({ stage }) => stage === silentFrom)) silent.push(take);
      else take();
    });
  });
  const webhook = `--audit-webhook-config-file=${connectionFile(folder, 'audit', url, 'for-the-service')}`;
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }];
  const { server } = await audited(
    t,
    rules,
    [webhook, '--audit-webhook-mode=blocking', '--request-timeout=1h'],
    folder,
  );
  const inTime = `${MAPS}?timeout=500ms`;
  t.is((await server.client.get(inTime)).status, 200, 'what was done in time is answered so');
  silentFrom = 'RequestReceived';
  t.is((await server.client.get(inTime)).status, 504);
  t.is((await server.client.request('POST', inTime, { body: { metadata: { name: 'late' } } })).status, 504);
  for (const take of silent) take();
});

test('what webhooks say of a write for its event is in the event, whether they allow it or not', async (t) => {
  const annotations = (allowed: boolean) => () => ({ allowed, auditAnnotations: { why: allowed ? 'fine' : 'bad' } });
  const hooks = await webhookService(t, { allow: annotations(true), deny: annotations(false) });
  const at = await audited(t, [{ level: 'Metadata', verbs: ['create'], omitStages: ['RequestReceived'] }]);
  const { client } = at.server;
  const webhooks = ['allow', 'deny'].map((path) => ({
    name: `${path}.example.org`,
    clientConfig: { url: `${hooks.url}/${path}`, caBundle: hooks.caBundle },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: path } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
  }));
  const configurations = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';
  t.is((await client.request('POST', configurations, { body: { metadata: { name: 'v' }, webhooks } })).status, 201);
  for (const [name, code, said] of [
    ['allow', 201, 'fine'],
    ['deny', 400, 'bad'],
  ] as const) {
    const made = await client.request('POST', MAPS, { body: { metadata: { name, labels: { case: name } } } });
    t.is(made.status, code);
    const event = await at.found(({ objectRef }) => objectRef?.name === name);
    t.is(event.annotations?.[`${name}.example.org/why`], said);
  }
});

test('a patch that a webhook makes is in the events that record requests, whatever becomes of the write, and in no others', async (t) => {
  const patch = [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }];
  const hooks = await webhookService(t, {
    patch: () => patchOf(...patch),
    deny: ({ review: { request } }) => ({ allowed: request.name !== 'denied' }),
    // Reviews of objects that are deleted together name none.
    leave: ({ review: { request } }) => ({
      allowed: true,
      auditAnnotations: {
        [`left-${String((request.oldObject as { metadata: { name: string } }).metadata.name)}`]: 'yes',
      },
    }),
  });
  const at = await audited(t, [
    { level: 'Request', verbs: ['create'], namespaces: ['default'], omitStages: ['RequestReceived'] },
    { level: 'Metadata', verbs: ['create', 'deletecollection'], omitStages: ['RequestReceived'] },
  ]);
  const { client } = at.server;
  const hook = (path: string, operations: readonly string[]) => ({
    name: `${path}.example.org`,
    clientConfig: { url: `${hooks.url}/${path}`, caBundle: hooks.caBundle },
    rules: [{ operations, apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    objectSelector: { matchLabels: { case: 'audit' } },
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
  });
  const group = '/apis/admissionregistration.orch.io/v1';
  const configure = (kind: string, webhooks: readonly object[]) =>
    client.request('POST', `${group}/${kind}`, { body: { metadata: { name: 'v' }, webhooks } });
  t.is((await configure('mutatingwebhookconfigurations', [hook('patch', ['CREATE'])])).status, 201);
  const validating = [hook('deny', ['CREATE']), hook('leave', ['DELETE'])];
  t.is((await configure('validatingwebhookconfigurations', validating)).status, 201);
  t.is((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'other' } } })).status, 201);
  const make = (namespace: string, name: string) =>
    client.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      body: { metadata: { name, labels: { case: 'audit' } } },
    });
  const key = (what: string): string => `${what}.webhook.admission.orch.io/round_0_index_0`;
  const about = { configuration: 'v', webhook: 'patch.example.org' };
  for (const [namespace, name, status] of [
    ['default', 'allowed', 201],
    ['default', 'denied', 400],
    ['other', 'allowed', 201],
    ['other', 'second', 201],
  ] as const) {
    t.is((await make(namespace, name)).status, status);
    const { annotations = {} } = await at.found(
      ({ objectRef }) => objectRef?.name === name && objectRef.namespace === namespace,
    );
    t.deepEqual(JSON.parse(annotations[key('mutation')]!), { ...about, mutated: true });
    const said = annotations[key('patch')];
    if (namespace === 'default') t.deepEqual(JSON.parse(said!), { ...about, patch, patchType: 'JSONPatch' });
    else t.is(said, undefined);
  }
  t.is((await client.request('DELETE', '/api/v1/namespaces/other/configmaps')).status, 200);
  const { annotations = {} } = await at.found(({ verb }) => verb === 'deletecollection');
  t.is(annotations['leave.example.org/left-allowed'], 'yes');
  t.is(annotations['leave.example.org/left-second'], 'yes');
});

for (const placement of ['single', 'default', 'wide'])
  test(`what controllers and the scheduler write is recorded as of clients, under the placement ${placement}`, async (t) => {
    const rules = [
      { level: 'RequestResponse', omitStages: ['RequestReceived'], verbs: ['create', 'update', 'delete'] },
    ];
    const at = await recording(t, rules, ['--placement', placement]);
    const { client } = at.server;
    const post = async (path: string, body: object): Promise<void> => {
      t.is((await client.request('POST', path, { body })).status, 201);
    };
    await post('/api/v1/nodes', {
      metadata: { name: 'n' },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' }, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await post('/api/v1/namespaces', { metadata: { name: 'going' } });
    await at.found(complete('create', '/api/v1/namespaces/going/serviceaccounts'));
    const pods = '/api/v1/namespaces/going/pods';
    const tolerations = [{ operator: 'Exists' }];
    await post(pods, { metadata: { name: 'p' }, spec: { tolerations, containers: [{ name: 'c', image: 'i' }] } });
    t.like(await at.found(complete('create', `${pods}/p/binding`)), {
      user: { username: 'system:orch-scheduler', groups: ['system:authenticated'] },
      objectRef: { resource: 'pods', namespace: 'going', name: 'p', apiVersion: 'v1', subresource: 'binding' },
      responseStatus: { status: 'Success', code: 201 },
      requestObject: { kind: 'Binding', target: { kind: 'Node', name: 'n' } },
      responseObject: { kind: 'Status' },
      annotations: { 'authorization.orch.io/decision': 'allow', 'authorization.orch.io/reason': '' },
    });
    await client.request('DELETE', `${pods}/p?gracePeriodSeconds=0`);
    await client.request('DELETE', '/api/v1/namespaces/going');
    const finalized = await at.found(complete('update', '/api/v1/namespaces/going/finalize'));
    t.like(finalized, {
      user: { username: 'system:serviceaccount:orch-system:namespace-controller' },
      sourceIPs: ['127.0.0.1'],
      objectRef: {
        resource: 'namespaces',
        namespace: 'going',
        name: 'going',
        apiVersion: 'v1',
        subresource: 'finalize',
      },
      responseStatus: { code: 200 },
      requestObject: { kind: 'Namespace', spec: {} },
    });
    const account = await at.found(complete('create', '/api/v1/namespaces/going/serviceaccounts'));
    t.like(account.responseObject, { kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'going' } });
    t.true(at.events().some(({ user }) => user.username === 'system:apiserver'));
    const counted = new MetricsText((await client.get('/metrics')).text).sum('apiserver_audit_event_total');
    t.true(counted >= at.events().length, 'each is counted');
  });
