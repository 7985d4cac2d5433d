// Certificates that the cluster signs: requested, approved by hand or by access rules, and used to be let in.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { certificateRequest, type RequestPair } from '../server/certificate-request.ts';
import { HttpsClient } from '../server/https-client.ts';
import { newServer, type Scope, type ServerProcess } from '../server/server-process.ts';
import { testAuthority } from '../server/test-authority.ts';
import { eventually } from './objects.ts';

const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests';
const RBAC = '/apis/rbac.authorization.orch.io/v1';
const CLIENT = 'orch.io/orch-apiserver-client';

const authorityFile = ({ dataDirectory }: ServerProcess): string => join(dataDirectory, 'pki', 'cluster-ca.crt');

/** A server that lets in whoever shows a certificate of the cluster's own authority. */
async function started(scope: Scope): Promise<ServerProcess> {
  const server = await newServer(scope);
  const failure = await server.start(['--client-ca-file', authorityFile(server)]);
  if (failure !== undefined) throw new Error(failure.stderr);
  return server;
}

const let200 = ({ status, text }: { status: number; text: string }): void => {
  if (status > 299) throw new Error(text);
};

async function requested(
  server: ServerProcess,
  name: string,
  pair: RequestPair,
  spec: object,
  headers = {},
): Promise<void> {
  const request = Buffer.from(pair.requestPem).toString('base64');
  const usages = ['digital signature', 'key encipherment', 'client auth'];
  const body = { metadata: { name }, spec: { request, usages, ...spec } };
  let200(await server.client.request('POST', REQUESTS, { body, headers }));
}

async function decide({ client }: ServerProcess, name: string, type: 'Approved' | 'Denied'): Promise<void> {
  const { json } = await client.get(`${REQUESTS}/${name}`);
  const status = { conditions: [{ type, status: 'True', reason: 'ByHand', message: 'known' }] };
  let200(await client.request('PUT', `${REQUESTS}/${name}/approval`, { body: { ...json, status } }));
}

interface Status {
  readonly certificate?: string;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
}

const statusOf = async ({ client }: ServerProcess, name: string): Promise<Status> =>
  ((await client.get(`${REQUESTS}/${name}`)).json.status ?? {}) as Status;

/** Waits for it. */
async function certificateOf(server: ServerProcess, name: string): Promise<string> {
  const { certificate = '' } = await eventually(
    () => statusOf(server, name),
    ({ certificate }) => certificate !== undefined,
  );
  return Buffer.from(certificate, 'base64').toString();
}

function clientWith(scope: Scope, server: ServerProcess, cert: string, key: string): HttpsClient {
  const client = new HttpsClient(server.url, server.caPem, '', { cert, key });
  scope.teardown(() => client.close());
  return client;
}

test('a user whose request is approved is let in with the certificate, with the groups in it, and after a restart', async (t) => {
  const server = await started(t);
  const pair = certificateRequest('/O=dev/O=ops/CN=jane');
  await requested(server, 'jane', pair, { signerName: CLIENT });
  t.is((await statusOf(server, 'jane')).certificate, undefined);
  await decide(server, 'jane', 'Approved');
  const certificate = await certificateOf(server, 'jane');
  const jane = clientWith(t, server, certificate, pair.keyPem);
  const refused = await jane.get('/api/v1/namespaces/default/pods');
  t.is(refused.status, 403);
  t.regex(refused.text, /User \\"jane\\" cannot list/);
  const binding = {
    metadata: { name: 'ops' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'Group', name: 'ops' }],
  };
  let200(await server.client.request('POST', `${RBAC}/clusterrolebindings`, { body: binding }));
  const isAllowed = ({ status }: { status: number }): boolean => status === 200;
  await eventually(() => jane.get('/api/v1/namespaces/default/pods'), isAllowed);
  await server.stop();
  await server.restart(['--client-ca-file', authorityFile(server)]);
  await eventually(() => jane.get('/api/v1/namespaces/default/pods'), isAllowed);
  t.is(statSync(join(server.dataDirectory, 'pki', 'cluster-ca.key')).mode & 0o777, 0o600);
});

test('what is denied or not decided is not signed, and the reason of a failure is in its condition', async (t) => {
  const server = await started(t);
  const pair = certificateRequest('/CN=jane');
  await requested(server, 'denied', pair, { signerName: CLIENT });
  await requested(server, 'pending', pair, { signerName: CLIENT });
  await requested(server, 'odd', pair, { signerName: CLIENT, usages: ['server auth'] });
  await requested(server, 'last', pair, { signerName: CLIENT });
  await decide(server, 'denied', 'Denied');
  await decide(server, 'odd', 'Approved');
  await decide(server, 'last', 'Approved');
  await certificateOf(server, 'last');
  const { conditions = [] } = await eventually(
    () => statusOf(server, 'odd'),
    ({ conditions: all = [] }) => all.some(({ type }) => type === 'Failed'),
  );
  t.is(conditions.at(-1)?.message, 'invalid usage for client certificate: server auth');
  for (const name of ['denied', 'pending', 'odd']) t.is((await statusOf(server, name)).certificate, undefined, name);
});

test('a node agent gets its certificate without anybody, where access rules say so, and is let in as the node', async (t) => {
  const server = await started(t);
  const pair = certificateRequest('/O=system:nodes/CN=system:node:a');
  const spec = { signerName: `${CLIENT}-orchlet` };
  const roles = ['selfnodeclient', 'nodeclient'].map(
    (right) => `system:certificates.orch.io:certificatesigningrequests:${right}`,
  );
  for (const [index, role] of roles.entries()) {
    const body = {
      metadata: { name: `agents-${index}` },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: role },
      subjects: [
        { apiGroup: 'rbac.authorization.orch.io', kind: 'Group', name: index === 0 ? 'system:nodes' : 'starters' },
      ],
    };
    let200(await server.client.request('POST', `${RBAC}/clusterrolebindings`, { body }));
  }
  const agent = { 'Impersonate-User': 'system:node:a', 'Impersonate-Group': 'system:nodes' };
  await requested(server, 'of-another', pair, spec, { ...agent, 'Impersonate-User': 'system:node:b' });
  await requested(server, 'renewed', pair, spec, agent);
  const certificate = await certificateOf(server, 'renewed');
  t.regex((await statusOf(server, 'renewed')).conditions?.[0]?.message ?? '', /^Auto approving self orchlet client/);
  const node = clientWith(t, server, certificate, pair.keyPem);
  t.is((await node.get('/api/v1/nodes')).status, 200);
  t.is((await node.get('/api/v1/namespaces/default/secrets/other')).status, 403);
  t.is((await statusOf(server, 'of-another')).certificate, undefined);
});

test('who is signed by an authority that took the place of the cluster’s while it served is let in, and stays so after a restart', async (t) => {
  const server = await started(t);
  const folder = mkdtempSync(join(tmpdir(), 'orch-certificates-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const own = testAuthority(folder, 'own', 'RSA-2048');
  const file = authorityFile(server);
  renameSync(own.keyFile, file.replace(/crt$/, 'key'));
  renameSync(own.certFile, file);
  const pair = certificateRequest('/CN=jane');
  let requests = 0;
  const signedBy = async (): Promise<{ readonly certificate: string; readonly issuer: string }> => {
    const name = `jane-${++requests}`;
    await requested(server, name, pair, { signerName: CLIENT });
    await decide(server, name, 'Approved');
    const certificate = await certificateOf(server, name);
    return { certificate, issuer: new X509Certificate(certificate).issuer };
  };
  const { certificate } = await eventually(signedBy, ({ issuer }) => issuer === 'CN=own');
  const isKnown = async (): Promise<boolean> => {
    const client = new HttpsClient(server.url, server.caPem, '', { cert: certificate, key: pair.keyPem });
    const { text } = await client.get('/api/v1/namespaces/default/pods');
    client.close();
    return /User \\"jane\\" cannot list/.test(text);
  };
  await eventually(isKnown, (known) => known);
  await server.stop();
  await server.restart(['--client-ca-file', file]);
  t.true(await isKnown());
});

test('an authority that cannot be used stops the start with a line, and is left as it is', async (t) => {
  const server = await started(t);
  await server.stop();
  const file = authorityFile(server);
  const kept = readFileSync(file);
  writeFileSync(file, 'no certificate');
  const failure = await server.start();
  t.is(failure?.code, 1);
  t.regex(failure?.stderr ?? '', /cluster-ca\.crt and .*cluster-ca\.key cannot be used/);
  t.is(readFileSync(file, 'utf8'), 'no certificate');
  writeFileSync(file, kept);
  t.true(existsSync(file));
  await server.restart();
});
