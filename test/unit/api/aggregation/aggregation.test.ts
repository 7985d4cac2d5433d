// What follows from APIServices: the order of groups, what an extension server is told of users, and one document of several.
import test from 'ava';
import type { ApiService } from '../../../../api/aggregation/api-service.ts';
import { endpointsProblem, serviceProblem, statusWith } from '../../../../api/aggregation/availability.ts';
import { identityHeaders, withoutIdentity } from '../../../../api/aggregation/identity-headers.ts';
import { withRemoteGroups } from '../../../../api/aggregation/priorities.ts';
import { RemoteGroups } from '../../../../api/aggregation/remote-groups.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partsAt } from '../../../../api/json/object-fields.ts';
import { encodeDocument } from '../../../../api/openapi/gnostic.ts';
import { withRemoteDocuments } from '../../../../api/openapi/merge.ts';
import type { SwaggerDocument } from '../../../../api/openapi/swagger.ts';
import { openApi3Documents } from '../../../../api/openapi/version3.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const DIALECT = DIALECTS.kubernetes;
const GROUPS = createRegistry(DIALECT).groups();
const SERVICE = { namespace: 'ns', name: 'metrics', port: 443 };

const stored = (
  group: string,
  version: string,
  priorities: readonly [number, number],
  service: object | null = SERVICE,
) => ({
  metadata: { name: `${version}.${group}` },
  spec: { group, version, groupPriorityMinimum: priorities[0], versionPriority: priorities[1], service },
});

function remotesOf(...objects: ReturnType<typeof stored>[]): readonly ApiService[] {
  const remotes = new RemoteGroups(DIALECT);
  for (const object of objects) remotes.put(object);
  return remotes.ordering();
}

test('priorities put the built-in groups where discovery has them', (t) => {
  const far = remotesOf(stored('z.test', 'v1', [1, 1]));
  const names = withRemoteGroups(DIALECT, GROUPS, far);
  t.deepEqual(names.slice(0, -1), GROUPS);
  t.deepEqual(names.at(-1), { name: 'z.test', versions: ['v1'], preferredVersion: 'v1' });
  t.is(withRemoteGroups(DIALECT, GROUPS, []), GROUPS);
});

test('groups are ordered by priority, then by name, and versions of a group by theirs, then by what they are called', (t) => {
  const remotes = remotesOf(
    stored('b.test', 'v1beta1', [17150, 10]),
    stored('b.test', 'v2', [17150, 10]),
    stored('b.test', 'v1', [17150, 20]),
    stored('apps', 'v9', [100, 20]),
  );
  const groups = withRemoteGroups(DIALECT, GROUPS, remotes);
  const at = groups.findIndex(({ name }) => name === 'b.test');
  t.deepEqual(groups[at], { name: 'b.test', versions: ['v1', 'v2', 'v1beta1'], preferredVersion: 'v1' });
  t.is(groups[at + 1]?.name, 'extensions');
  t.deepEqual(groups.find(({ name }) => name === 'apps')?.versions, ['v9', 'v1']);
});

test('groups of this server stand where their APIServices say, too', (t) => {
  const remotes = new RemoteGroups(DIALECT);
  for (const [version, priority] of [
    ['v1', 15],
    ['v2beta1', 9],
    ['v2beta2', 1],
  ] as const)
    remotes.put(stored('autoscaling', version, [17500, priority], null));
  t.deepEqual(withRemoteGroups(DIALECT, GROUPS, remotes.ordering()), GROUPS, 'as usual');
  const usual = remotes.edition;
  remotes.put(stored('autoscaling', 'v2beta2', [17500, 99], null));
  remotes.put(stored('storage.k8s.io', 'v1', [19_000, 15], null));
  remotes.put(stored('apps', 'v9', [19_500, 15], null));
  t.not(remotes.edition, usual);
  t.true(remotes.isEmpty, 'nobody else answers for them');
  const groups = withRemoteGroups(DIALECT, GROUPS, remotes.ordering());
  t.like(
    groups.find(({ name }) => name === 'autoscaling'),
    { versions: ['v2beta2', 'v1', 'v2beta1'], preferredVersion: 'v2beta2' },
  );
  t.deepEqual(groups.find(({ name }) => name === 'apps')?.versions, ['v1'], 'what is not served is not shown');
  const first = groups.findIndex(({ name }) => name === 'storage.k8s.io');
  t.true(first < groups.findIndex(({ name }) => name === 'apps'));
  const changed = remotes.edition;
  remotes.put(stored('autoscaling', 'v2beta2', [17500, 1], null));
  remotes.remove('v1.storage.k8s.io');
  remotes.remove('v9.apps');
  t.not(remotes.edition, changed);
  t.deepEqual(withRemoteGroups(DIALECT, GROUPS, remotes.ordering()), GROUPS, 'as usual again');
  remotes.put(stored('apps', 'v1', [1, 1], null));
  remotes.reset();
  t.deepEqual(remotes.ordering(), []);
});

test("remote groups follow their objects, and the group of those objects is nobody else's", (t) => {
  const remotes = new RemoteGroups(DIALECT);
  t.true(remotes.isEmpty);
  remotes.put(stored('x.test', 'v1', [1, 1]));
  remotes.put(stored('apiregistration.k8s.io', 'v1', [1, 1]));
  t.is(remotes.at('x.test', 'v1')?.backend.service, 'metrics');
  t.is(remotes.at('apiregistration.k8s.io', 'v1'), undefined);
  const before = remotes.edition;
  remotes.put(stored('x.test', 'v1', [1, 1], null));
  t.is(remotes.at('x.test', 'v1'), undefined, 'it is local now');
  t.not(remotes.edition, before);
  t.true(remotes.isEmpty);
});

test('a user is told in headers whole, or not at all', (t) => {
  const user = { name: 'jürgen', uid: 'u', groups: ['a', 'b'], extra: { 'example.org/scopes%': ['x', 'y'] } };
  t.deepEqual(identityHeaders(user), [
    ['x-remote-user', 'jürgen'],
    ['x-remote-group', 'a'],
    ['x-remote-group', 'b'],
    ['x-remote-extra-example.org%2Fscopes%25', 'x'],
    ['x-remote-extra-example.org%2Fscopes%25', 'y'],
  ]);
  for (const name of ['', 'root\n', ' root', 'ro\0ot']) t.is(identityHeaders({ ...user, name }), undefined, name);
});

test('what a client says of who it is is left out', (t) => {
  const own = { names: ['x-who'], groups: ['x-which'], extraPrefixes: ['x-more-'] };
  const headers = [
    ['x-who', 'root'],
    ['x-which', 'system:masters'],
    ['x-more-scopes', 'all'],
    ['accept', 'application/json'],
  ] as const;
  t.deepEqual(withoutIdentity(headers, own), [['accept', 'application/json']]);
});

const BACKEND = { namespace: 'ns', service: 'metrics', port: 443 };
const service = { spec: { ports: [{ name: 'https', port: 443 }] } };
const endpoints = (name: string, addresses: readonly object[] = [{ ip: '10.0.0.1' }]) => ({
  subsets: [{ addresses, ports: [{ name, port: 6443 }] }],
});

test("what stands in the way of a server is said in 1.21's words", (t) => {
  const rows = [
    [serviceProblem(BACKEND, undefined), 'ServiceNotFound', 'service/metrics in "ns" is not present'],
    [
      serviceProblem(BACKEND, { spec: { ports: [{ port: 80 }] } }),
      'ServicePortError',
      'service/metrics in "ns" is not listening on port 443',
    ],
    [
      endpointsProblem(BACKEND, service, undefined),
      'EndpointsNotFound',
      'cannot find endpoints for service/metrics in "ns"',
    ],
    ...[endpoints('other'), endpoints('https', []), {}].map(
      (found) =>
        [
          endpointsProblem(BACKEND, service, found),
          'MissingEndpoints',
          'endpoints for service/metrics in "ns" have no addresses with port name "https"',
        ] as const,
    ),
  ] as const;
  for (const [finding, reason, message] of rows) t.deepEqual(finding, { status: 'False', reason, message });
  t.is(serviceProblem(BACKEND, service), undefined);
  t.is(endpointsProblem(BACKEND, service, endpoints('https')), undefined);
  t.is(serviceProblem(BACKEND, { spec: { type: 'ExternalName' } }), undefined);
});

test('a condition keeps its time as long as its status stays', (t) => {
  const finding = (status: 'True' | 'False', message: string) => ({ status, reason: 'R', message });
  const first = statusWith({}, finding('False', 'a'), 'one');
  t.is(statusWith(first, finding('False', 'a'), 'two'), first);
  t.like(statusWith(first, finding('False', 'b'), 'two'), {
    conditions: [{ message: 'b', lastTransitionTime: 'one' }],
  });
  t.like(statusWith(first, finding('True', 'b'), 'two'), {
    conditions: [{ status: 'True', lastTransitionTime: 'two' }],
  });
});

test('a condition that changes keeps its place among the others', (t) => {
  const finding = { status: 'True', reason: 'R', message: 'm' } as const;
  const [available, other] = [
    { type: 'Available', status: 'False' },
    { type: 'Other', status: 'True' },
  ];
  const types = (conditions: readonly object[]) =>
    partsAt(statusWith({ conditions }, finding, 'now'), 'conditions').map(({ type, status }) => [type, status]);
  t.deepEqual(types([available, other]), [
    ['Available', 'True'],
    ['Other', 'True'],
  ]);
  t.deepEqual(types([other]), [
    ['Other', 'True'],
    ['Available', 'True'],
  ]);
});

const reference = (name: string) => ({ schema: { $ref: `#/definitions/${name}` } });
const own = {
  swagger: '2.0',
  paths: { '/apis/a/v1/': { get: reference('Same') } },
  definitions: { Same: { type: 'object' }, Other: { type: 'string' } },
} as unknown as SwaggerDocument;
const theirs = (more: object = {}) =>
  JSON.stringify({
    paths: {
      '/apis/b/v1/things': { get: reference('Other') },
      '/apis/c/v1/things': { get: reference('Unused') },
      '/apis/a/v1/': { get: reference('Unused') },
    },
    definitions: {
      Same: { type: 'object' },
      Other: { properties: { same: { $ref: '#/definitions/Same' } } },
      Unused: {},
    },
    ...more,
  });

test('a name that a remote document has itself is not free for another of its definitions', (t) => {
  const definitions = { Other: { type: 'object' }, Other_v2: { type: 'integer' } };
  const both = { get: reference('Other'), put: reference('Other_v2') };
  const text = JSON.stringify({ paths: { '/apis/b/v1/things': both }, definitions });
  const merged = withRemoteDocuments(own, [{ roots: ['/apis/b/v1'], text }], () => {});
  t.like(merged.definitions as object, {
    Other: { type: 'string' },
    Other_v2: { type: 'integer' },
    Other_v3: { type: 'object' },
  });
  t.like(merged.paths['/apis/b/v1/things'] as object, { get: reference('Other_v3'), put: reference('Other_v2') });
});

test('of a remote document the paths it answers for are taken, with what they speak of, under names that are free', (t) => {
  const merged = withRemoteDocuments(own, [{ roots: ['/apis/b/v1'], text: theirs() }], () => {});
  t.deepEqual(Object.keys(merged.paths).sort(), ['/apis/a/v1/', '/apis/b/v1/things']);
  t.deepEqual(merged.paths['/apis/a/v1/'], own.paths['/apis/a/v1/']);
  t.deepEqual(merged.definitions as object, {
    Same: { type: 'object' },
    Other: { type: 'string' },
    Other_v2: { properties: { same: { $ref: '#/definitions/Same' } } },
  });
  t.deepEqual(merged.paths['/apis/b/v1/things'] as object, { get: reference('Other_v2') });
});

test('a definition that says the same as ours, and speaks of one that does not, leaves ours as it is', (t) => {
  const speaking = { properties: { other: { $ref: '#/definitions/Other' } } };
  const farther = { items: { $ref: '#/definitions/Speaking' } };
  const ours = { ...own, definitions: { ...own.definitions, Speaking: speaking, Farther: farther } } as SwaggerDocument;
  const definitions = { Other: { type: 'object' }, Speaking: speaking, Farther: farther };
  const text = JSON.stringify({ paths: { '/apis/b/v1/things': { get: reference('Farther') } }, definitions });
  const merged = withRemoteDocuments(ours, [{ roots: ['/apis/b/v1'], text }], () => {});
  t.like(merged.definitions as object, ours.definitions);
  t.deepEqual(merged.paths['/apis/b/v1/things'] as object, { get: reference('Farther_v2') });
  t.like(merged.definitions as object, {
    Farther_v2: { items: { $ref: '#/definitions/Speaking_v2' } },
    Speaking_v2: { properties: { other: { $ref: '#/definitions/Other_v2' } } },
    Other_v2: { type: 'object' },
  });
});

test('what a definition of a remote document is all of is there in 3.0, too', (t) => {
  const definitions = {
    Whole: { allOf: [{ $ref: '#/definitions/Part' }, { type: 'object' }] },
    Part: { type: 'object', description: 'A part.' },
  };
  const responses = { 200: { description: 'OK', ...reference('Whole') } };
  const text = JSON.stringify({ paths: { '/apis/b/v1/things': { get: { responses } } }, definitions });
  const merged = withRemoteDocuments(own, [{ roots: ['/apis/b/v1'], text }], () => {});
  t.deepEqual(openApi3Documents(merged).get('apis/b/v1')?.components.schemas as object, {
    Part: { type: 'object', description: 'A part.' },
    Whole: { allOf: [{ $ref: '#/components/schemas/Part' }, { type: 'object' }] },
  });
});

test('what a remote document says for all its paths, or only names in them, is said in each', (t) => {
  const limit = { name: 'limit', in: 'query', type: 'integer', format: 'int32', description: 'How many.' };
  const text = JSON.stringify({
    consumes: ['application/cbor'],
    parameters: { limit },
    responses: { other: { description: 'another', schema: { $ref: '#/definitions/Other' } } },
    paths: {
      '/apis/b/v1/things': {
        get: { operationId: 'list', responses: { 200: { $ref: '#/responses/other' } } },
        post: {
          produces: ['a/b'],
          parameters: [{ name: 'body', in: 'body', schema: { type: 'object' } }],
          responses: {},
        },
        put: { operationId: 'nothing' },
        parameters: [{ $ref: '#/parameters/limit' }],
      },
    },
    definitions: { Other: { type: 'string' } },
  });
  let version3: ReturnType<typeof openApi3Documents> = new Map();
  const merged = withRemoteDocuments(own, [{ roots: ['/apis/b/v1'], text }], (part) => {
    encodeDocument(part);
    version3 = openApi3Documents(part);
  });
  const things = merged.paths['/apis/b/v1/things'] as JsonObject;
  t.deepEqual(things.parameters, [limit]);
  t.like(things.get, {
    consumes: ['application/cbor'],
    responses: { 200: { description: 'another', schema: { $ref: '#/definitions/Other' } } },
  });
  t.like(things.post, { consumes: ['application/cbor'], produces: ['a/b'] });
  const { get, post, parameters } = version3.get('apis/b/v1')!.paths['/apis/b/v1/things']!;
  t.like(parameters?.[0], { name: 'limit', in: 'query', schema: { type: 'integer', format: 'int32' } });
  // Neither says what it answers with.
  t.deepEqual(Object.keys(get?.responses[200]?.content ?? {}), ['application/json']);
  t.deepEqual(Object.keys(post?.requestBody?.content ?? {}), ['application/cbor']);
});

test('a remote document that cannot be used is left out, and the others are not', (t) => {
  const good = { roots: ['/apis/b/v1'], text: theirs() };
  const deep = '['.repeat(200_000);
  for (const text of ['', '[]', '{"paths":', deep, '{"paths":{"/apis/b/v1/x":{}},"definitions":3}']) {
    const merged = withRemoteDocuments(own, [{ roots: ['/apis/b/v1'], text }, good], () => {});
    t.true('/apis/b/v1/things' in merged.paths);
  }
  const refused = withRemoteDocuments(own, [good], () => {
    throw new TypeError('it cannot be encoded');
  });
  t.is(refused, own);
});
