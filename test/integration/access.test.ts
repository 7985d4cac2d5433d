// Who may do what on a server as `orch up` starts it: roles and bindings, acting as somebody else, node agents, and those
// whom nobody knows. The answers are those that clients compare.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Answer } from '../server/https-client.ts';
import { type ServerProcess, sharedServer, startServer } from '../server/server-process.ts';
import { accountIn, eventually } from './objects.ts';

const server = sharedServer(test, { args: ['--enable-admission-plugins', 'NamespaceLifecycle'] });
const RBAC = '/apis/rbac.authorization.orch.io/v1';

interface Person {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, string>>;
}

/** A request of the administrator that runs as somebody else. */
function as(
  at: ServerProcess,
  { name, groups = [], extra = {} }: Person,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = {
    'Impersonate-User': name,
    ...(groups.length === 0 ? {} : { 'Impersonate-Group': groups[0]! }),
    ...Object.fromEntries(Object.entries(extra).map(([key, value]) => [`Impersonate-Extra-${key}`, value])),
  };
  return at.client.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

async function made(at: ServerProcess, path: string, body: object): Promise<void> {
  const { status, text } = await at.client.request('POST', path, { body });
  if (status !== 201) throw new Error(text);
}

/** Grants count as soon as the thread that decides has heard of them. */
async function until(t: ExecutionContext, code: number, ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status === code) return answer;
    if (t.passed === false) throw new Error(answer.text);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function namespace(at: ServerProcess, name: string): Promise<string> {
  await made(at, '/api/v1/namespaces', { metadata: { name } });
  return `/api/v1/namespaces/${name}`;
}

test('a role counts in its namespace from when it is bound until it is not', async (t) => {
  const at = server();
  const home = await namespace(at, 'role-home');
  const ann = { name: 'ann' };
  const list = (): Promise<Answer> => as(at, ann, 'GET', `${home}/configmaps`);
  const refused = await list();
  t.is(refused.status, 403);
  t.is(
    refused.json.message,
    'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "role-home"',
  );
  await made(at, `${RBAC}/namespaces/role-home/roles`, {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }],
  });
  await made(at, `${RBAC}/namespaces/role-home/rolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'ann' }],
  });
  await until(t, 200, list);
  t.is((await as(at, ann, 'GET', `${home}/secrets`)).status, 403);
  t.is((await as(at, ann, 'GET', '/api/v1/configmaps')).status, 403);
  t.is((await as(at, { name: 'bob' }, 'GET', `${home}/configmaps`)).status, 403);
  await at.client.request('DELETE', `${RBAC}/namespaces/role-home/roles/reader`);
  const gone = await until(t, 403, list);
  t.regex(gone.json.message ?? '', /: RBAC: role\.rbac\.authorization\.orch\.io "reader" not found$/);
});

test('a service account may do what its roles say and no more', async (t) => {
  const at = server();
  const home = await namespace(at, 'account-home');
  await made(at, `${home}/serviceaccounts`, { metadata: { name: 'robot' } });
  const answer = await at.client.request('POST', `${home}/serviceaccounts/robot/token`, { body: { spec: {} } });
  const { token } = answer.json.status as { token: string };
  t.is((await at.client.get(`${home}/pods`, { token })).status, 403);
  await made(at, `${RBAC}/namespaces/account-home/rolebindings`, {
    metadata: { name: 'robots' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'account-home' }],
  });
  await until(t, 200, () => at.client.get(`${home}/pods`, { token }));
  t.is((await at.client.get(`${home}/secrets`, { token })).status, 403);
  t.is((await at.client.request('POST', `${home}/pods`, { token, body: { metadata: { name: 'p' } } })).status, 403);
  t.is((await at.client.get('/api', { token })).status, 200);
});

test('whom nobody knows sees health and the version', async (t) => {
  const at = server();
  const code = async (path: string): Promise<number> => (await at.client.get(path, { token: '' })).status;
  for (const path of ['/healthz', '/livez', '/readyz', '/version', '/version/']) t.is(await code(path), 200, path);
  for (const path of ['/api', '/apis', '/metrics', '/api/v1/pods', '/openapi/v2']) t.is(await code(path), 403, path);
  t.is((await at.client.get('/healthz', { token: 'no-such-token' })).status, 401);
});

const AS: readonly (readonly [name: string, message: string])[] = [
  [
    'jane',
    'users "jane" is forbidden: User "WHO" cannot impersonate resource "users" in API group "" at the cluster scope',
  ],
  [
    'system:serviceaccount:default:robot',
    'serviceaccounts "robot" is forbidden: User "WHO" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"',
  ],
];

test('who may not act as somebody is told as whom', async (t) => {
  const at = server();
  const home = await namespace(at, 'actors-home');
  await made(at, `${home}/serviceaccounts`, { metadata: { name: 'actor' } });
  const { json } = await at.client.request('POST', `${home}/serviceaccounts/actor/token`, { body: { spec: {} } });
  const { token } = json.status as { token: string };
  for (const [name, message] of AS) {
    const answer = await at.client.get('/api', { token, headers: { 'Impersonate-User': name } });
    t.is(answer.status, 403);
    t.is(answer.headers['x-content-type-options'], 'nosniff');
    t.is(answer.json.message, message.replace('WHO', 'system:serviceaccount:actors-home:actor'));
  }
});

test('a request that runs as somebody else has their groups and extra fields', async (t) => {
  const at = server();
  const review = await as(
    at,
    { name: 'jane', groups: ['system:masters'] },
    'GET',
    '/api/v1/namespaces/default/secrets',
  );
  t.is(review.status, 200);
  const rules = await as(at, { name: 'jane' }, 'POST', '/apis/authorization.orch.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'default' },
  });
  t.is(rules.status, 201, rules.text);
  t.true(rules.text.includes('selfsubjectaccessreviews'), 'every authenticated user may ask what it may do');
  t.is((await as(at, { name: 'system:anonymous' }, 'GET', '/api')).status, 403);
  t.is((await as(at, { name: 'jane' }, 'GET', '/api')).status, 200);
});

test('groups of nobody are an error in plain text, and so is an empty name', async (t) => {
  const at = server();
  const answer = await at.client.get('/api', { headers: { 'Impersonate-Group': 'ops' } });
  t.is(answer.status, 500);
  t.regex(answer.headers['content-type'] ?? '', /^text\/plain/);
  t.is((await at.client.get('/api', { headers: { 'Impersonate-User': '' } })).status, 500);
  // Its bytes are blanks to the listener's binary where char is signed.
  const cyrillic = Buffer.from('дан', 'utf8').toString('latin1');
  const secrets = '/api/v1/namespaces/default/secrets';
  const outcome = (await at.client.get(secrets, { headers: { 'Impersonate-User': cyrillic } })).status;
  t.true(outcome === 500 || outcome === 403, String(outcome));
});

test('a node agent reads the secrets of the pods on its node alone', async (t) => {
  const at = server();
  const home = await namespace(at, 'node-home');
  await accountIn(at.client, 'node-home');
  for (const name of ['mine', 'other']) await made(at, `${home}/secrets`, { metadata: { name } });
  await made(at, `${home}/pods`, {
    metadata: { name: 'web' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'mine' } }] }],
    },
  });
  const agent = { name: 'system:node:n1', groups: ['system:nodes'] };
  await until(t, 200, () => as(at, agent, 'GET', `${home}/secrets/mine`));
  const refused = await as(at, agent, 'GET', `${home}/secrets/other`);
  t.is(refused.status, 403);
  t.regex(refused.json.message ?? '', /: no relationship found between node 'n1' and this object$/);
  t.is((await as(at, { ...agent, name: 'system:node:n2' }, 'GET', `${home}/secrets/mine`)).status, 403);
});

test('the roles that every cluster has are there, and the sums of roles are summed up', async (t) => {
  const at = server();
  const { json } = await at.client.get(`${RBAC}/clusterroles`);
  const names = (json.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  for (const name of ['admin', 'edit', 'view', 'cluster-admin', 'system:node', 'system:discovery'])
    t.true(names.includes(name));
  // A controller sums them up.
  const edit = await eventually(
    () => at.client.get(`${RBAC}/clusterroles/edit`),
    ({ json: role }) => ((role as { rules?: unknown[] }).rules ?? []).length > 5,
  );
  t.is(edit.status, 200);
});

test('a list of what one may do is whole although a role is missing, which it says, and that of a node is not', async (t) => {
  const at = server();
  await made(at, `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'to-nothing' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'not-there' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'vera' }],
  });
  const path = '/apis/authorization.orch.io/v1/selfsubjectrulesreviews';
  const body = { spec: { namespace: 'default' } };
  let status: { incomplete?: boolean; evaluationError?: string } = {};
  while (status.evaluationError === undefined)
    status = (await as(at, { name: 'vera' }, 'POST', path, body)).json.status as typeof status;
  t.is(status.incomplete, false);
  t.is(status.evaluationError, 'clusterrole.rbac.authorization.orch.io "not-there" not found');
  const node = { name: 'system:node:n9', groups: ['system:nodes'] };
  t.like((await as(at, node, 'POST', path, body)).json.status as object, {
    incomplete: true,
    evaluationError: 'node authorizer does not support user rule resolution',
  });
});

test('nobody grants what they do not hold, by a role or by a binding', async (t) => {
  const at = server();
  const home = await namespace(at, 'grant-home');
  const roles = `${RBAC}/namespaces/grant-home/roles`;
  const bindings = `${RBAC}/namespaces/grant-home/rolebindings`;
  const group = 'rbac.authorization.orch.io';
  const boss = { name: 'boss' };
  const bound = (name: string, role: string, who = 'boss', kind = 'ClusterRole'): object => ({
    metadata: { name },
    roleRef: { apiGroup: group, kind, name: role },
    subjects: [{ kind: 'User', apiGroup: group, name: who }],
  });
  await made(at, bindings, bound('bosses', 'admin'));
  await until(t, 200, () => as(at, boss, 'GET', `${home}/configmaps`));
  const reader = {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }],
  };
  // What an admin holds is summed up by a controller.
  await until(t, 201, () => as(at, boss, 'POST', roles, reader));
  await until(t, 201, () => as(at, boss, 'POST', bindings, bound('readers', 'reader', 'ann', 'Role')));
  await until(t, 201, () => as(at, boss, 'POST', bindings, bound('viewers', 'view', 'ann')));

  const nodes = {
    metadata: { name: 'nodes' },
    rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] }],
  };
  const role = await as(at, boss, 'POST', roles, nodes);
  t.is(role.status, 403);
  t.is(
    role.json.message,
    `roles.${group} "nodes" is forbidden: user "boss" (groups=["system:authenticated"]) is attempting to grant RBAC ` +
      'permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}',
  );
  const wider = { ...reader, rules: [...reader.rules, ...nodes.rules] };
  t.is((await as(at, boss, 'PUT', `${roles}/reader`, wider)).status, 403, 'nor by an update');
  const all = await as(at, boss, 'POST', bindings, bound('all', 'cluster-admin', 'ann'));
  t.is(all.status, 403);
  t.regex(all.json.message ?? '', /\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/);
  const missing = await as(at, boss, 'POST', bindings, bound('none', 'no-such-role', 'ann'));
  t.is(missing.status, 404);
  t.is(missing.json.message, `clusterroles.${group} "no-such-role" not found`);

  await made(at, roles, {
    metadata: { name: 'binder' },
    rules: [{ verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['cluster-admin'] }],
  });
  await made(at, bindings, bound('binders', 'binder', 'boss', 'Role'));
  await until(t, 201, () => as(at, boss, 'POST', bindings, bound('all', 'cluster-admin', 'ann')));
});

test('who may escalate a role by its name widens it, and does not make it', async (t) => {
  const at = server();
  await namespace(at, 'escalate-home');
  const roles = `${RBAC}/namespaces/escalate-home/roles`;
  const group = 'rbac.authorization.orch.io';
  const writer = { name: 'writer' };
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
  await made(at, roles, {
    metadata: { name: 'writers' },
    rules: [
      { verbs: ['create', 'update'], apiGroups: [group], resources: ['roles'] },
      { verbs: ['escalate'], apiGroups: [group], resources: ['roles'], resourceNames: ['wide', 'made'] },
    ],
  });
  await made(at, roles, { metadata: { name: 'wide' }, rules: [] });
  await made(at, `${RBAC}/namespaces/escalate-home/rolebindings`, {
    metadata: { name: 'writers' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'writers' },
    subjects: [{ kind: 'User', apiGroup: group, name: 'writer' }],
  });
  const { json: wide } = await as(at, { name: 'root', groups: ['system:masters'] }, 'GET', `${roles}/wide`);
  await until(t, 200, () => as(at, writer, 'PUT', `${roles}/wide`, { ...wide, rules }));
  const refused = await as(at, writer, 'POST', roles, { metadata: { name: 'made' }, rules });
  t.is(refused.status, 403);
  t.regex(refused.json.message ?? '', /is attempting to grant RBAC permissions not currently held/);
});

test('what a binding gives must be held where the mode RBAC is off, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-access-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, 'policy');
  const rule = { user: 'boss', namespace: '*', resource: 'rolebindings', apiGroup: 'rbac.authorization.orch.io' };
  const line = { apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec: rule };
  writeFileSync(policy, JSON.stringify(line));
  const at = await startServer(t, { args: ['--authorization-mode', 'ABAC', '--authorization-policy-file', policy] });
  await namespace(at, 'no-rbac');
  const [roles, bindings] = ['roles', 'rolebindings'].map((type) => `${RBAC}/namespaces/no-rbac/${type}`);
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }];
  await made(at, roles!, { metadata: { name: 'reader' }, rules });
  const bound = (name: string, role: string, who: string): object => ({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: role },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: who }],
  });
  const bind = (name: string, role: string): Promise<Answer> =>
    as(at, { name: 'boss' }, 'POST', bindings!, bound(name, role, 'ann'));
  const refused = await until(t, 403, () => bind('readers', 'reader'));
  t.regex(refused.json.message ?? '', /^rolebindings\.rbac\.authorization\.orch\.io "readers" is forbidden: /);
  t.regex(refused.json.message ?? '', /is attempting to grant RBAC permissions not currently held/);
  t.is((await bind('none', 'no-such-role')).status, 404);
  await made(at, bindings!, bound('bosses', 'reader', 'boss'));
  await until(t, 201, () => bind('readers', 'reader'));
});
