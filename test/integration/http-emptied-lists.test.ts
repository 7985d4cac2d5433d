// Who owns a list that is written also where there is nothing in it: whoever gives it empty.
import test from 'ava';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';

const undo: (() => void | Promise<void>)[] = [];
let client: HttpsClient;

test.before(async () => {
  const server = await startServer({ teardown: (step) => undo.push(step) }, { args: ['--api-dialect', 'kubernetes'] });
  client = server.client;
});

test.after.always(async () => {
  for (const step of undo) await step();
});

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const HEAD = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' };
const role = (name: string, rules?: unknown): object => ({ ...HEAD, metadata: { name }, rules });

/** `manager Operation` of those that own the rules, and who else is there. */
function ownersIn({ json }: Answer): readonly string[] {
  const { managedFields = [] } = json.metadata as { managedFields?: readonly Record<string, unknown>[] };
  return managedFields.map(({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${JSON.stringify(fieldsV1)}`);
}

const post = (path: string, body: object): Promise<Answer> => client.request('POST', path, { body });
const put = (path: string, body: object): Promise<Answer> => client.request('PUT', path, { body });

function patch(path: string, type: string, body: object): Promise<Answer> {
  return client.request('PATCH', path, { body, headers: { 'content-type': `application/${type}` } });
}

test('who makes an object with a list that is empty owns it, and who changes another field of it is told as well', async (t) => {
  const made = await post(`${ROLES}?fieldManager=maker`, role('made', []));
  t.is(made.status, 201);
  t.deepEqual(ownersIn(made), ['maker Update {"f:rules":{}}']);
  t.is((made.json as unknown as { rules: unknown }).rules, null);
  const labelled = await patch(`${ROLES}/made?fieldManager=other`, 'merge-patch+json', {
    metadata: { labels: { a: 'b' } },
  });
  t.deepEqual(ownersIn(labelled), [
    'maker Update {"f:rules":{}}',
    'other Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}',
  ]);
  const dry = await post(`${ROLES}?fieldManager=maker&dryRun=All`, role('dry', []));
  t.deepEqual(ownersIn(dry), ['maker Update {"f:rules":{}}']);
  t.deepEqual(ownersIn(await post(`${ROLES}?fieldManager=maker`, role('without'))), []);
});

test('who sends it empty in an update or a patch takes it over, once', async (t) => {
  await post(`${ROLES}?fieldManager=maker`, role('taken', []));
  const path = `${ROLES}/taken`;
  const ways: readonly (readonly [string, (manager: string) => Promise<Answer>])[] = [
    ['put', (manager) => put(`${path}?fieldManager=${manager}`, role('taken', []))],
    ['merge', (manager) => patch(`${path}?fieldManager=${manager}`, 'merge-patch+json', { rules: [] })],
    ['strategic', (manager) => patch(`${path}?fieldManager=${manager}`, 'strategic-merge-patch+json', { rules: [] })],
    [
      'json',
      (manager) =>
        patch(`${path}?fieldManager=${manager}`, 'json-patch+json', [{ op: 'add', path: '/rules', value: [] }]),
    ],
  ];
  for (const [manager, write] of ways) {
    const first = await write(manager);
    t.is(first.status, 200);
    t.deepEqual(ownersIn(first), [`${manager} Update {"f:rules":{}}`]);
    t.deepEqual((await write(manager)).json, first.json);
  }
  t.deepEqual(ownersIn(await put(`${path}?fieldManager=none`, role('taken', null))), ['json Update {"f:rules":{}}']);
});

test('an apply that repeats it changes nothing, and two appliers share it', async (t) => {
  const path = `${ROLES}/applied`;
  const apply = (manager: string): Promise<Answer> =>
    patch(`${path}?fieldManager=${manager}`, 'apply-patch+yaml', role('applied', []));
  const first = await apply('one');
  t.is(first.status, 201);
  t.deepEqual((await apply('one')).json, first.json);
  t.deepEqual(ownersIn(await apply('two')), ['one Apply {"f:rules":{}}', 'two Apply {"f:rules":{}}']);
});
