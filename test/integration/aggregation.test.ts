// Groups that another server answers for: a second orch, with a type of its own, behind an APIService of the first.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { connectProxy } from '../server/connect-proxy.ts';
import { apiService, apiServicePath, available, federation, OUTSIDE, register } from '../server/extension-server.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { stopProcess } from '../server/stopped-process.ts';
import { GROUP, object, path, TABLE } from './custom-definitions.ts';
import { eventually } from './objects.ts';

const COUNTED = 'aggregator_unavailable_apiservice_total';
const test = OUTSIDE === undefined ? ava.skip : ava;

test('objects of an extension server are read, written and watched through the first, and lie in its own store', async (t) => {
  const at = await federation(t);
  const { front, direct } = at;
  t.is((await front.client.get(path())).status, 404);
  t.like(await register(at), { status: 'True', reason: 'Passed', message: 'all checks passed' });
  const made = await front.client.request('POST', path(), { body: object('one', { cron: '1' }) });
  t.is(made.status, 201, made.text);
  t.deepEqual((await direct.get(`${path()}/one`)).json, made.json);
  const watch = await front.client.watch(`${path()}?watch=true&resourceVersion=${made.json.metadata.resourceVersion}`);
  const patch = { body: { spec: { replicas: 3 } }, headers: { 'content-type': 'application/merge-patch+json' } };
  t.is((await front.client.request('PATCH', `${path()}/one`, patch)).status, 200);
  t.like(await watch.next(), { type: 'MODIFIED', object: { metadata: { name: 'one' } } });
  const table = await front.client.get(path(), { headers: { accept: TABLE } });
  t.is(table.json.kind, 'Table');
  const refused = await front.client.request('POST', path(), { body: object('two', { cron: 'x' }) });
  t.is(refused.status, 422);
  t.is((await front.client.request('DELETE', `${path()}/one`)).status, 200);
  t.like(await watch.next(), { type: 'DELETED' });
  watch.close();
  t.is((await direct.get(`${path()}/one`)).status, 404);
});

test('objects whose owners an extension server has are collected where it says that there is no such owner', async (t) => {
  const at = await federation(t);
  await register(at);
  const { client } = at.front;
  const owner = (await client.request('POST', path(), { body: object('one', { cron: '1' }) })).json;
  const maps = '/api/v1/namespaces/default/configmaps';
  const owned = (name: string, uid: string) => {
    const ownerReferences = [{ apiVersion: `${GROUP}/v1`, kind: 'CronTab', name: 'one', uid }];
    return client.request('POST', maps, { body: { metadata: { name, ownerReferences } } });
  };
  t.is((await owned('of-one', owner.metadata.uid!)).status, 201);
  t.is((await owned('of-one-before', 'another-uid')).status, 201);
  await eventually(
    () => client.get(`${maps}/of-one-before`),
    ({ status }) => status === 404,
  );
  t.is((await client.get(`${maps}/of-one`)).status, 200);
});

test('objects of an extension server go with what owned them, and after what they own themselves', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-collected-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'audit.log');
  const policy = join(folder, 'policy.json');
  const rules = [{ level: 'Metadata', verbs: ['delete', 'patch'], resources: [{ group: GROUP }] }, { level: 'None' }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules }));
  // What the extension would collect by itself says nothing of the first.
  const idle = ['--controllers=*,-garbagecollector'];
  const at = await federation(t, { args: ['--audit-policy-file', policy, '--audit-log-path', log] }, idle);
  const { client } = at.front;
  const maps = '/api/v1/namespaces/default/configmaps';
  const map = (await client.request('POST', maps, { body: { metadata: { name: 'owner' } } })).json;
  const make = async (name: string, owner?: { readonly kind: string; readonly name: string; readonly uid: string }) => {
    const apiVersion = owner?.kind === 'ConfigMap' ? 'v1' : `${GROUP}/v1`;
    const { metadata, ...rest } = object(name, { cron: '1' }) as { metadata: object };
    const ownerReferences = owner === undefined ? [] : [{ apiVersion, ...owner, blockOwnerDeletion: true }];
    const made = await at.direct.request('POST', path(), {
      body: { ...rest, metadata: { ...metadata, ownerReferences } },
    });
    t.is(made.status, 201, made.text);
    return made.json.metadata.uid!;
  };
  const isGone = (name: string) =>
    eventually(
      () => at.direct.get(`${path()}/${name}`),
      ({ status }) => status === 404,
    );
  await make('of-owner', { kind: 'ConfigMap', name: 'owner', uid: map.metadata.uid! });
  await make('of-nobody', { kind: 'ConfigMap', name: 'owner', uid: 'another' });
  const uid = await make('parent');
  await make('child', { kind: 'CronTab', name: 'parent', uid });
  await register(at);
  await isGone('of-nobody');
  t.is((await at.direct.get(`${path()}/of-owner`)).status, 200);
  t.is((await client.request('DELETE', `${maps}/owner`)).status, 200);
  await isGone('of-owner');
  t.is((await client.request('DELETE', `${path()}/parent?propagationPolicy=Foreground`)).status, 200);
  await isGone('child');
  await isGone('parent');
  const collector = 'system:serviceaccount:orch-system:generic-garbage-collector';
  const told = async (): Promise<readonly string[]> => {
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    const events = lines.map((line) => JSON.parse(line));
    const ours = events.filter(({ user, stage }) => user.username === collector && stage === 'ResponseComplete');
    const names = ours.map(({ verb, requestURI }) => `${verb} ${requestURI.slice(path().length + 1)}`);
    return [...new Set(names)].sort();
  };
  const expected = ['delete child', 'delete of-nobody', 'delete of-owner', 'patch parent'];
  t.deepEqual(await eventually(told, ({ length }) => length >= expected.length), expected);
});

test('what is deleted there of a namespace on its way out is recorded as its controller would ask for it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-swept-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'audit.log');
  const policy = join(folder, 'policy.json');
  const rules = [{ level: 'Request', verbs: ['deletecollection'], resources: [{ group: GROUP }] }, { level: 'None' }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules }));
  const at = await federation(t, { args: ['--audit-policy-file', policy, '--audit-log-path', log] });
  await register(at);
  const { client } = at.front;
  const namespace = { metadata: { name: 'swept' } };
  t.is((await client.request('POST', '/api/v1/namespaces', { body: namespace })).status, 201);
  t.is((await client.request('DELETE', '/api/v1/namespaces/swept')).status, 200);
  const completed = await eventually(
    async () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []),
    (lines) => lines.some((line) => line.includes('ResponseComplete')),
  );
  const event = completed.map((line) => JSON.parse(line)).find(({ stage }) => stage === 'ResponseComplete');
  t.like(event, {
    verb: 'deletecollection',
    requestURI: `/apis/${GROUP}/v1/namespaces/swept/crontabs`,
    user: { username: 'system:serviceaccount:orch-system:namespace-controller' },
    objectRef: { resource: 'crontabs', namespace: 'swept', apiGroup: GROUP, apiVersion: 'v1' },
    responseStatus: { code: 200 },
    requestObject: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
  });
  t.regex(event.userAgent, /^orch-controller-manager\/.*\/system:serviceaccount:orch-system:namespace-controller$/);
});

test('a quota is told of what an extension server has', async (t) => {
  const at = await federation(t);
  const { client } = at.front;
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  for (const name of ['one', 'two'])
    t.is((await at.direct.request('POST', path(), { body: object(name, { cron: '1' }) })).status, 201);
  await register(at);
  const hard = { [`count/crontabs.${GROUP}`]: '1' };
  t.is((await client.request('POST', quotas, { body: { metadata: { name: 'q' }, spec: { hard } } })).status, 201);
  const { json } = await eventually(
    () => client.get(`${quotas}/q`),
    (answer) => Object.keys((answer.json.status as { used?: object }).used ?? {}).length > 0,
  );
  t.deepEqual(json.status, { hard, used: { [`count/crontabs.${GROUP}`]: '2' } });
});

test('an extension server hears who asks from the first alone', async (t) => {
  const at = await federation(t);
  const { front } = at;
  await register(at);
  const pretending = { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters', 'X-Remote-Extra-scopes': 'all' };
  const { client } = front;
  const admitted = await client.get(path(), { headers: { 'Impersonate-User': 'jane', ...pretending } });
  t.is(admitted.status, 403, 'jane has no right at the first');
  const rules = [{ apiGroups: [GROUP], resources: ['*'], verbs: ['*'] }];
  const rbac = '/apis/rbac.authorization.orch.io/v1';
  await client.request('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'crons' }, rules } });
  const subjects = [{ kind: 'User', name: 'jane' }];
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'crons' };
  await client.request('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name: 'c' }, subjects, roleRef } });
  const asJane = { 'Impersonate-User': 'jane', ...pretending };
  const review = {
    spec: { resourceAttributes: { group: GROUP, resource: 'crontabs', verb: 'list', namespace: 'default' } },
  };
  await eventually(
    () =>
      client.request('POST', '/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
        body: review,
        headers: { 'Impersonate-User': 'jane' },
      }),
    ({ json }) => (json.status as { allowed?: boolean }).allowed === true,
  );
  const passed = await client.get(path(), { headers: asJane });
  t.is(passed.status, 403, 'and none at the second, which hears her name');
  t.regex(passed.json.message ?? '', /User "jane" cannot list resource "crontabs"/);
  // Whoever comes without the certificate of the first is not believed.
  const straight = await at.direct.get(path(), { token: '', headers: pretending });
  t.is(straight.status, 403);
  t.regex(straight.json.message ?? '', /User "system:anonymous"/);
});

test('groups of extension servers stand among the others by their priorities', async (t) => {
  const at = await federation(t);
  await register(at, { groupPriorityMinimum: 17150 });
  const { json } = await at.front.client.get('/apis');
  const names = (json as unknown as { groups: { name: string }[] }).groups.map(({ name }) => name);
  t.is(names[0], 'apiregistration.orch.io');
  t.is(names[names.indexOf(GROUP) + 1], 'extensions');
  t.like((await at.front.client.get(`/apis/${GROUP}`)).json, {
    kind: 'APIGroup',
    preferredVersion: { groupVersion: `${GROUP}/v1`, version: 'v1' },
  });
  const list = await at.front.client.get(`/apis/${GROUP}/v1`);
  t.true((list.json as unknown as { resources: { name: string }[] }).resources.some(({ name }) => name === 'crontabs'));
  await at.front.client.request('DELETE', apiServicePath());
  await eventually(
    () => at.front.client.get(`/apis/${GROUP}`),
    ({ status }) => status === 404,
  );
  t.is((await at.front.client.get(path())).status, 404);
});

test('a server that is gone, or whose certificate is wrong, is said to be, and is served again when it is back', async (t) => {
  const at = await federation(t);
  const { front, extension } = at;
  const wrong = await register(at, { caBundle: Buffer.from(front.caPem).toString('base64') }, 'FailedDiscoveryCheck');
  t.is(wrong.status, 'False');
  const name = `v1.${GROUP}`;
  const metrics = async () => new MetricsText((await front.client.get('/metrics')).text);
  const told = (value: number) =>
    eventually(metrics, (now) => now.sum('aggregator_unavailable_apiservice', { name }) === value);
  await told(1);
  t.true((await metrics()).sum(COUNTED, { name, reason: 'FailedDiscoveryCheck' }) >= 1);
  t.regex(wrong.message, /^failing or missing response from https:\/\/[\d.]+:\d+\/apis\/stable\.example\.com\/v1: /);
  const refused = await front.client.get(path());
  t.is(refused.status, 503);
  t.is(refused.json.reason, 'ServiceUnavailable');
  t.is(
    refused.json.message,
    `service default/extension:${extension.port}, which answers for v1.${GROUP}: it is not available`,
  );
  const patch = (spec: object) =>
    front.client.request('PATCH', apiServicePath(), {
      body: { spec },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  t.is((await patch({ caBundle: null, insecureSkipTLSVerify: true })).status, 200);
  await available(front.client, 'Passed');
  await told(0);
  t.is((await front.client.get(path())).status, 200);
  t.is((await patch((apiService(at) as { spec: object }).spec && { insecureSkipTLSVerify: false })).status, 200);
  await available(front.client, 'FailedDiscoveryCheck');
  t.is((await patch({ caBundle: (apiService(at) as { spec: { caBundle: string } }).spec.caBundle })).status, 200);
  await available(front.client, 'Passed');
  await extension.kill9();
  const gone = await eventually(
    () => front.client.get(path()),
    ({ status }) => status === 503,
  );
  t.regex(gone.json.message ?? '', /^service default\/extension:\d+, which answers for /);
  await front.client.request('DELETE', '/api/v1/namespaces/default/endpoints/extension');
  t.like(await available(front.client, 'EndpointsNotFound'), { status: 'False' });
  await front.client.request('DELETE', '/api/v1/namespaces/default/services/extension');
  t.is((await available(front.client, 'ServiceNotFound')).message, 'service/extension in "default" is not present');
  await told(1);
  t.true((await metrics()).sum(COUNTED, { name, reason: 'ServiceNotFound' }) >= 1);
  t.is((await front.client.request('DELETE', apiServicePath())).status, 200);
  await told(0);
});

test('documents describe the groups of extension servers too, and are made anew only when those change', async (t) => {
  const at = await federation(t);
  const { front } = at;
  const first = await front.client.get('/openapi/v2');
  await register(at);
  const collection = `/apis/${GROUP}/v1/namespaces/{namespace}/crontabs`;
  // Beside a busy machine the extension's own document takes longer to make than anybody waits for it.
  const { headers, json } = await eventually(
    () => front.client.get('/openapi/v2'),
    (answer) => collection in (answer.json as unknown as { paths: object }).paths,
  );
  const { definitions } = json as unknown as { definitions: Record<string, object> };
  t.true('com.example.stable.v1.CronTab' in definitions);
  t.not(headers.etag, first.headers.etag);
  const again = await front.client.get('/openapi/v2', { headers: { 'if-none-match': headers.etag! } });
  t.is(again.status, 304);
  const third = await front.client.get(`/openapi/v3/apis/${GROUP}/v1`);
  t.true(collection in (third.json as unknown as { paths: object }).paths);
  const metrics = new MetricsText((await front.client.get('/metrics')).text);
  const made = 'aggregator_openapi_v2_regeneration_count';
  t.is(metrics.sum(made, { apiservice: '*', reason: 'startup' }), 1);
  t.is(metrics.sum(made, { reason: 'add' }), 1);
  t.true(metrics.sum('aggregator_openapi_v2_regeneration_duration', { reason: 'add' }) > 0);
});

test('a server that hangs costs its own requests their time, and no others', async (t) => {
  const at = await federation(t, { args: ['--request-timeout=8s'] });
  const { front, extension } = at;
  await register(at);
  t.is((await front.client.get(path())).status, 200);
  await stopProcess(t, extension.pid);
  const hanging = front.client.get(path());
  t.is((await front.client.get('/api/v1/namespaces/default/configmaps')).status, 200);
  const late = await hanging;
  t.is(late.status, 504, late.text);
  t.is(late.json.reason, 'Timeout');
});

test('members of the cluster are reached through the proxy of the egress file, and nowhere without it', async (t) => {
  const proxy = await connectProxy(t);
  const directory = mkdtempSync(join(tmpdir(), 'orch-egress-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'egress.yaml');
  const transport = { tcp: { url: `http://127.0.0.1:${proxy.port}` } };
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.orch.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } },
        { name: 'controlplane', connection: { proxyProtocol: 'Direct' } },
      ],
    }),
  );
  const at = await federation(t, { args: [`--egress-selector-config-file=${file}`] });
  await register(at);
  t.is((await at.front.client.get(path())).status, 200);
  t.deepEqual([...new Set(proxy.asked)], [`${OUTSIDE}:${at.extension.port}`]);
  const { text } = await at.front.client.get('/metrics');
  t.regex(
    text,
    /^apiserver_egress_dialer_dial_duration_seconds_count\{protocol="http_connect",transport="tcp"\} [1-9]/m,
  );
  t.regex(text, /^apiserver_kube_aggregator_x509_missing_san_total 0$/m);
});
