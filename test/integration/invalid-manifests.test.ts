// Bad manifests at a real server: written as a user would, in YAML, each is answered with a 422 that names all its causes
// and no others. And the rules that a server holds requests to, not objects alone.
import { readdirSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { stringify } from 'yaml';
import { deepEqual } from '../../api/json/deep-equal.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { splitApiVersion } from '../../api/resources/resource-table.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { Answer, ApiObject } from '../server/https-client.ts';
import { sharedServer } from '../server/server-process.ts';
import {
  bareChanged,
  byTitle,
  type Causes,
  type Changes,
  changed,
  expectedErrors,
  invalidCases,
} from '../unit/api/validation/cases.ts';
import { complete, documents } from '../unit/api/validation/objects.ts';
import { type RowRequest, rowCases, type ServerRow, serverRows } from '../unit/api/validation/row-cases.ts';
import { PERMISSIVE_ARGS } from './permissive-server.ts';

const DIALECT = DIALECTS.orch;
const SERVED = createRegistry(DIALECT, {});

/** Those of fields that cases are about: fields of gates that are off are dropped, not refused. */
const GATES = [
  'AnyVolumeDataSource',
  'EphemeralContainers',
  'HPAContainerMetrics',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'TopologyAwareHints',
];

const server = sharedServer(test, {
  args: [...PERMISSIVE_ARGS, '--feature-gates', GATES.map((gate) => `${gate}=true`).join()],
});

/** Runs all of the default admission plugins. */
const admitting = sharedServer(test);

/** The valid manifests as they are written, by title. */
const manifests = byTitle(
  readdirSync('test/fixtures/valid').flatMap((file) =>
    documents(readFileSync(`test/fixtures/valid/${file}`, 'utf8'), DIALECT).map((written) => ({
      ...complete(written as JsonObject, DIALECT),
      object: written as JsonObject,
    })),
  ),
);

/** Where a server changes a manifest on the way in, so that it is not refused, or not for that alone. */
const PREPARED: readonly RegExp[] = [
  // Given a selector and labels.
  /^batch\/v1 Job shop\/import/,
  // Only what older versions wrote is kept of it.
  /^discovery\.\S+\/v1 EndpointSlice .*deprecatedTopology/,
  // Given the default account.
  /^v1 Pod .*: a token is of no service account/,
  // Families follow from addresses.
  /^v1 Service .*: a service has one address of a family/,
];

/** Kinds that refusals name by the group in which they were first. */
const NAMED_BY: Readonly<Record<string, string>> = {
  Event: '',
  Ingress: 'extensions',
  NetworkPolicy: 'extensions',
  PodSecurityPolicy: 'extensions',
};

interface Bad {
  readonly of: string;
  readonly because: string;
  readonly set: Changes;
  readonly causes: Causes;
}

const CASES: readonly Bad[] = [
  ...invalidCases(DIALECT).filter((one) => !('update' in one || 'gates' in one || 'raw' in one)),
  ...rowCases(DIALECT)
    .filter((one) => one.of !== 'metadata' && one.update === undefined && !one.gates && !one.raw && one.bad)
    .map(({ id, of, bad, causes }) => ({ of, because: id, set: bad!, causes })),
].filter(({ of, because, causes }) => {
  const title = `${of}: ${because} (${Object.keys(causes).join()})`;
  return !PREPARED.some((one) => one.test(title)) && collectionOf(of) !== undefined;
});

/** A changed manifest, as short as it was written, or with its defaults where the change is of one of them. */
function manifestOf(title: string, set: Changes): ApiObject {
  const short = bareChanged(manifests(title).object, set);
  const whole = changed(complete(manifests(title).object, DIALECT).object, set, DIALECT);
  return (deepEqual(complete(short, DIALECT).object, whole) ? short : whole) as unknown as ApiObject;
}

/** Where a manifest is sent. Undefined: objects of its kind are not created by manifests. */
function collectionOf(title: string): string | undefined {
  const { object } = manifests(title);
  const { group, version } = splitApiVersion(String(object.apiVersion));
  const type = SERVED.known().find(
    (one) => one.group === group && one.version === version && one.kind === object.kind && one.persisted,
  );
  if (type === undefined) return undefined;
  const { namespace = '' } = object.metadata as { namespace?: string };
  const root = group === '' ? '/api/v1' : `/apis/${type.apiVersion}`;
  return namespace === '' ? `${root}/${type.plural}` : `${root}/namespaces/${namespace}/${type.plural}`;
}

test.serial.before('the namespace that manifests name', async () => {
  await server().client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'shop' } } });
});

test('there are enough bad manifests', (t) => {
  const kinds = new Set(CASES.map(({ of }) => of.split(' ').slice(0, 2).join(' ')));
  t.log(`${CASES.length} bad manifests of ${kinds.size} kinds and versions`);
  t.true(CASES.length >= 150);
});

interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

for (const { of, because, set, causes } of CASES) {
  test.serial(`a manifest of ${of} is refused: ${because} (${Object.keys(causes).join(', ')})`, async (t) => {
    const manifest = manifestOf(of, set);
    const answer = await server().client.request('POST', collectionOf(of)!, {
      body: stringify(manifest, { version: '1.1', aliasDuplicateObjects: false }),
      headers: { 'content-type': 'application/yaml' },
    });
    t.is(answer.status, 422, answer.text.slice(0, 300));
    const { kind, reason, message = '', details = {} } = answer.json;
    const given = (details.causes ?? []) as readonly Cause[];
    t.deepEqual(given.map(({ field, reason: why }) => `${field}: ${why}`).sort(), expectedErrors(causes));
    const group = NAMED_BY[String(manifest.kind)] ?? splitApiVersion(String(manifest.apiVersion)).group;
    t.like(
      { kind, reason, details },
      { kind: 'Status', reason: 'Invalid', details: { kind: manifest.kind, name: manifest.metadata.name } },
    );
    const what = `${manifest.kind}${group === '' ? '' : `.${group}`} "${manifest.metadata.name}" is invalid: `;
    // Equal causes are listed once in the message.
    const lines = [...new Set(given.map(({ field, message: detail }) => `${field}: ${detail}`))];
    t.is(message, what + (lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`));
  });
}

/** By whom, and to which server. */
type Sent = Pick<ServerRow, 'as' | 'admits'>;

function send(
  { send: line, body, type, accept }: RowRequest,
  { as: user = '', admits = false }: Sent,
): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ');
  const contentType = type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
  return (admits ? admitting() : server()).client.request(method, path, {
    ...(body === undefined ? {} : { body }),
    headers: {
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...(accept === undefined ? {} : { accept }),
      ...(user === '' ? {} : { 'impersonate-user': user }),
    },
  });
}

function check(t: ExecutionContext, { send: line, code, reason, causes, answer: members }: RowRequest, answer: Answer) {
  const said = `${line}: ${answer.status} ${answer.text.slice(0, 300)}`;
  if (code === undefined) t.true(answer.status >= 200 && answer.status < 300, said);
  else t.is(answer.status, code, said);
  if (reason !== undefined) t.is(answer.json.reason, reason, said);
  const fields = (answer.status === 422 ? (answer.json.details?.causes ?? []) : []).map(({ field }) => field);
  if (causes !== undefined) t.deepEqual([...new Set(fields)].sort(), causes.toSorted(), said);
  if (members !== undefined) t.like(answer.json, members, said);
}

for (const [id, { before = [], good, bad = [], ...sent }] of Object.entries(serverRows(DIALECT))) {
  test.serial(`${id}: a server takes what it should and nothing else`, async (t) => {
    for (const request of before) await send(request, { admits: sent.admits === true });
    for (const request of good) check(t, request, await send(request, sent));
    for (const request of bad) check(t, request, await send(request, sent));
  });
}
