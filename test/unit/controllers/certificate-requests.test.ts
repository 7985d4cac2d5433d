// The controllers of certificate requests: which requests each signer signs and what the certificates say, which are approved
// without anybody's decision, and when they are deleted.
import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { CertificateApproving } from '../../../actors/controllers/certificates/certificate-approving.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { makeSelfSigned } from '../../../transport/tls/self-signed.ts';
import { certificateRequest } from '../../server/certificate-request.ts';
import { testAuthority } from '../../server/test-authority.ts';
import { DIALECT, type Fixture, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const REQUESTS = 'certificates.orch.io/certificatesigningrequests';
const DAY_MS = 24 * 3600 * 1000;
const SIGNERS = {
  client: 'orch.io/orch-apiserver-client',
  nodeClient: 'orch.io/orch-apiserver-client-orchlet',
  nodeServing: 'orch.io/orchlet-serving',
  legacy: 'orch.io/legacy-unknown',
} as const;

const NODE = '/O=system:nodes/CN=system:node:a';
const CLIENT = ['digital signature', 'key encipherment', 'client auth'];
const SERVING = ['digital signature', 'key encipherment', 'server auth'];

const authority = makeSelfSigned({
  commonName: 'the cluster',
  names: [],
  notBefore: new Date(-DAY_MS),
  notAfter: new Date('2100-01-01'),
  purpose: 'authority',
});

interface Requested {
  readonly subject?: string;
  readonly names?: string;
  readonly kind?: 'ec' | 'rsa' | 'ed25519';
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly username?: string;
}

const APPROVED = { type: 'Approved', status: 'True' };
const DENIED = { type: 'Denied', status: 'True' };

function put(f: Fixture, name: string, of: Requested, conditions: readonly object[] = [], more: object = {}): void {
  const { subject = NODE, names = '', kind = 'ec', signerName, usages, username = 'jane' } = of;
  const request = Buffer.from(certificateRequest(subject, names, kind).requestPem).toString('base64');
  const at = new Date(f.time.clock.nowMs()).toISOString();
  f.cluster.put(REQUESTS, {
    apiVersion: 'certificates.orch.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, creationTimestamp: at },
    spec: { request, signerName, usages: [...usages], username, uid: 'u', groups: ['devs'], extra: { scopes: ['a'] } },
    status: { conditions: conditions.map((condition) => ({ lastUpdateTime: at, ...condition })), ...more },
  } as Stored);
}

interface Status {
  readonly certificate?: string;
  readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
}

const statusOf = (f: Fixture, name: string): Status => (f.cluster.get(REQUESTS, '', name)?.status ?? {}) as Status;
const signed = (f: Fixture, name: string): X509Certificate | undefined => {
  const { certificate } = statusOf(f, name);
  return certificate === undefined ? undefined : new X509Certificate(Buffer.from(certificate, 'base64'));
};

const isGone = (f: Fixture, name: string): boolean => f.cluster.get(REQUESTS, '', name) === undefined;

async function signing(): Promise<Fixture> {
  return started({ signingAuthority: await authority });
}

/** What is wrong with each; empty: it is signed. */
const table: Readonly<Record<string, Requested & { readonly problem: string }>> = {
  'a user': { subject: '/O=dev/CN=jane', signerName: SIGNERS.client, usages: ['client auth'], problem: '' },
  'a user with an RSA key': { subject: '/CN=j', kind: 'rsa', signerName: SIGNERS.client, usages: CLIENT, problem: '' },
  'a user with an Ed25519 key': {
    subject: '/CN=j',
    kind: 'ed25519',
    signerName: SIGNERS.client,
    usages: CLIENT,
    problem: '',
  },
  'a user who would serve': {
    signerName: SIGNERS.client,
    usages: ['client auth', 'server auth'],
    problem: 'invalid usage for client certificate: server auth',
  },
  'a user who would not be a client': {
    signerName: SIGNERS.client,
    usages: ['digital signature'],
    problem: 'missing required usage for client certificate: client auth',
  },
  'a node': { signerName: SIGNERS.nodeClient, usages: CLIENT, problem: '' },
  'a node in another order of usages': { signerName: SIGNERS.nodeClient, usages: [...CLIENT].reverse(), problem: '' },
  'a node of no group': {
    subject: '/CN=system:node:a',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'subject organization is not system:nodes',
  },
  'a node of two groups': {
    subject: '/O=system:nodes/O=dev/CN=system:node:a',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'subject organization is not system:nodes',
  },
  'a node by another name': {
    subject: '/O=system:nodes/CN=a',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'subject common name does not begin with system:node: ',
  },
  'a node with a DNS name': {
    names: 'DNS:a',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'DNS subjectAltNames are not allowed',
  },
  'a node with a mail address': {
    names: 'email:a@b.test',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'Email subjectAltNames are not allowed',
  },
  'a node with an address': {
    names: 'IP:10.0.0.1',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'IP subjectAltNames are not allowed',
  },
  'a node with a URI': {
    names: 'URI:spiffe://a/b',
    signerName: SIGNERS.nodeClient,
    usages: CLIENT,
    problem: 'URI subjectAltNames are not allowed',
  },
  'a node that would serve, of the client signer': {
    signerName: SIGNERS.nodeClient,
    usages: SERVING,
    problem: 'usages did not match [client auth digital signature key encipherment]',
  },
  'a serving node': {
    names: 'DNS:a,IP:10.0.0.1,IP:fd00::1',
    signerName: SIGNERS.nodeServing,
    usages: SERVING,
    problem: '',
  },
  'a serving node without names': {
    signerName: SIGNERS.nodeServing,
    usages: SERVING,
    problem: 'DNS or IP subjectAltName is required',
  },
  'a serving node with a URI': {
    names: 'DNS:a,URI:spiffe://a/b',
    signerName: SIGNERS.nodeServing,
    usages: SERVING,
    problem: 'URI subjectAltNames are not allowed',
  },
  'a serving node with a mail address': {
    names: 'DNS:a,email:a@b.test',
    signerName: SIGNERS.nodeServing,
    usages: SERVING,
    problem: 'Email subjectAltNames are not allowed',
  },
  'a serving node that asks for more': {
    names: 'DNS:a',
    signerName: SIGNERS.nodeServing,
    usages: [...SERVING, 'client auth'],
    problem: 'usages did not match [digital signature key encipherment server auth]',
  },
  'a serving node by another name': {
    subject: '/O=system:nodes/CN=a',
    names: 'DNS:a',
    signerName: SIGNERS.nodeServing,
    usages: SERVING,
    problem: 'subject common name does not begin with system:node: ',
  },
  'somebody of the legacy signer': {
    subject: '/CN=anything',
    names: 'DNS:a',
    signerName: SIGNERS.legacy,
    usages: ['code signing', 'any', 'decipher only'],
    problem: '',
  },
};

for (const [who, { problem, ...of }] of Object.entries(table)) {
  test(`an approved request of ${who} ${problem === '' ? 'is signed' : 'fails'}`, async (t) => {
    const f = await signing();
    put(f, 'r', of, [APPROVED]);
    await f.time.settle();
    if (problem === '') {
      t.true(signed(f, 'r')?.verify(createPublicKey((await authority).certPem)), JSON.stringify(statusOf(f, 'r')));
      t.deepEqual(
        statusOf(f, 'r').conditions?.map(({ type }) => type),
        ['Approved'],
      );
      return;
    }
    t.is(signed(f, 'r'), undefined);
    t.like(statusOf(f, 'r').conditions?.at(-1), {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message: problem,
    });
  });
}

test('what is not approved, denied, failed, or for a signer of others, is not signed', async (t) => {
  const f = await signing();
  const of = { signerName: SIGNERS.client, usages: CLIENT };
  put(f, 'pending', of);
  put(f, 'denied', of, [DENIED]);
  put(f, 'failed', of, [APPROVED, { type: 'Failed', status: 'True' }]);
  put(f, 'other', { ...of, signerName: 'example.test/signer' }, [APPROVED]);
  await f.time.settle();
  for (const name of ['pending', 'denied', 'failed', 'other']) t.is(signed(f, name), undefined, name);
  t.is(f.writesOf('update certificatesigningrequests/status').length, 0);
});

test('without an authority nobody signs', async (t) => {
  const f = await started();
  put(f, 'r', { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
  await f.time.settle();
  t.is(signed(f, 'r'), undefined);
});

test('a certificate has the subject, the names and the usages that were asked for, for a year', async (t) => {
  const f = await signing();
  const names = 'DNS:a.test,IP:10.0.0.1';
  put(f, 'r', { names, signerName: SIGNERS.nodeServing, usages: SERVING }, [APPROVED]);
  await f.time.settle();
  const certificate = signed(f, 'r')!;
  t.is(certificate.subject, 'O=system:nodes\nCN=system:node:a');
  t.is(certificate.issuer, 'CN=the cluster');
  t.is(certificate.subjectAltName, 'DNS:a.test, IP Address:10.0.0.1');
  t.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  t.false(certificate.ca);
  const nowMs = f.time.clock.nowMs();
  t.true(Date.parse(certificate.validFrom) <= nowMs);
  t.true(Math.abs(Date.parse(certificate.validTo) - nowMs - 365 * DAY_MS) < 600_000);
});

test('no certificate outlives its authority, and no two have the same number', async (t) => {
  const notAfter = new Date(Date.UTC(2100, 0));
  const short = await makeSelfSigned({
    commonName: 'c',
    names: [],
    notBefore: new Date(-DAY_MS),
    notAfter,
    purpose: 'authority',
  });
  const f = await started({ signingAuthority: short });
  for (const name of ['a', 'b']) put(f, name, { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
  await f.time.settle();
  const [a, b] = [signed(f, 'a')!, signed(f, 'b')!];
  t.true(Date.parse(a.validTo) <= notAfter.getTime());
  t.not(a.serialNumber, b.serialNumber);
});

for (const keys of ['P-256', 'RSA-2048', 'Ed25519'] as const) {
  test(`what an authority of the operator’s with a key of ${keys} has signed is known for its own`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-signers-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const { certPem, keyPem } = testAuthority(folder, 'own', keys);
    const f = await started({ signingAuthority: { certPem, keyPem } });
    put(f, 'r', { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
    await f.time.settle();
    const signer = new X509Certificate(certPem);
    t.true(signed(f, 'r')?.verify(signer.publicKey), JSON.stringify(statusOf(f, 'r')));
    t.true(signed(f, 'r')?.checkIssued(signer));
  });
}

test('an authority whose files are replaced signs from then on, and one of no use, or half replaced, changes nothing', async (t) => {
  const before = await authority;
  const after = await makeSelfSigned({
    commonName: 'the next',
    names: [],
    notBefore: new Date(-DAY_MS),
    notAfter: new Date('2100-01-01'),
    purpose: 'authority',
  });
  const files = new Map([
    ['/pki/ca.crt', before.certPem],
    ['/pki/ca.key', before.keyPem],
  ]);
  const f = await started(
    { signingAuthority: { ...before, files: { certFile: '/pki/ca.crt', keyFile: '/pki/ca.key' } } },
    ({ context }) =>
      void Object.assign(context.disk, { readFile: async (path: string) => Buffer.from(files.get(path)!) }),
  );
  let requests = 0;
  const signerNow = async (): Promise<string | undefined> => {
    // More than two looks at the files.
    await f.time.advance(10_000);
    const name = `r-${++requests}`;
    put(f, name, { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
    await f.time.settle();
    return signed(f, name)?.issuer;
  };
  t.is(await signerNow(), 'CN=the cluster');
  files.set('/pki/ca.key', after.keyPem);
  t.is(await signerNow(), 'CN=the cluster');
  files.set('/pki/ca.crt', after.certPem.slice(0, 100));
  t.is(await signerNow(), 'CN=the cluster');
  files.set('/pki/ca.crt', after.certPem);
  t.is(await signerNow(), 'CN=the next');
  t.true(signed(f, `r-${requests}`)?.verify(createPublicKey(after.certPem)));
  files.clear();
  t.is(await signerNow(), 'CN=the next');
});

test('an authority that has expired signs nothing, and says so', async (t) => {
  const signingAuthority = await makeSelfSigned({
    commonName: 'ended',
    names: [],
    notBefore: new Date(-2 * DAY_MS),
    notAfter: new Date(-DAY_MS),
    purpose: 'authority',
  });
  const f = await started({ signingAuthority });
  put(f, 'late', { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
  await f.time.settle();
  t.regex(statusOf(f, 'late').conditions?.at(-1)?.message ?? '', /^the signer has expired: NotAfter=/);
  t.is(signed(f, 'late'), undefined);
});

/** Answers the questions about access; the others go to the server. */
function rights(f: Fixture, mayDo: (subresource: string) => boolean): unknown[] {
  const asked: unknown[] = [];
  f.cluster.fault = ({ target, payload }) => {
    if (target.resource !== 'subjectaccessreviews') return undefined;
    const { spec } = JSON.parse(Buffer.from(payload).toString()) as {
      spec: { resourceAttributes: { subresource: string } };
    };
    asked.push(spec);
    return { code: 201, body: { status: { allowed: mayDo(spec.resourceAttributes.subresource) } } };
  };
  return asked;
}

const AUTHORIZATION = { group: 'authorization.orch.io', version: 'v1' };
const nodeRequest = { signerName: SIGNERS.nodeClient, usages: CLIENT };

test('a node that asks for its own certificate is approved and signed when it may', async (t) => {
  const f = await signing();
  const asked = rights(f, (subresource) => subresource === 'selfnodeclient');
  put(f, 'r', { ...nodeRequest, username: 'system:node:a' });
  await f.time.settle();
  const { conditions } = statusOf(f, 'r');
  t.like(conditions?.[0], {
    type: 'Approved',
    reason: 'AutoApproved',
    message: 'Auto approving self orchlet client certificate after SubjectAccessReview.',
  });
  t.truthy(signed(f, 'r'));
  const writers = ['approval', 'status']
    .flatMap((part) => f.writesOf(`update certificatesigningrequests/${part}`))
    .map(({ request }) => request.user.name);
  t.deepEqual(writers, new Array(2).fill('system:serviceaccount:orch-system:certificate-controller'));
  t.deepEqual(asked, [
    {
      user: 'system:node:a',
      uid: 'u',
      groups: ['devs'],
      extra: { scopes: ['a'] },
      resourceAttributes: {
        group: 'certificates.orch.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
        subresource: 'selfnodeclient',
      },
    },
  ]);
});

test('somebody who may ask for any node is approved, and nobody else', async (t) => {
  const f = await signing();
  let isAllowed = false;
  const asked = rights(f, (subresource) => isAllowed && subresource === 'nodeclient');
  put(f, 'r', nodeRequest);
  await f.time.settle();
  t.is(statusOf(f, 'r').conditions?.length ?? 0, 0);
  t.is(asked.length, 1);
  isAllowed = true;
  await f.time.advance(61_000);
  t.is(
    statusOf(f, 'r').conditions?.[0]?.message,
    'Auto approving orchlet client certificate after SubjectAccessReview.',
  );
});

test('that somebody may have a certificate approves no request that was made anew under the same name by another', (t) => {
  const approving = new CertificateApproving({ add: () => {} }, DIALECT);
  const request = Buffer.from(certificateRequest(NODE, '', 'ec').requestPem).toString('base64');
  const make = (username: string): void => {
    const object = () => ({
      apiVersion: 'certificates.orch.io/v1',
      metadata: { name: 'r', uid: username },
      spec: { request, signerName: SIGNERS.nodeClient, usages: CLIENT, username },
    });
    approving.onEvent({ type: 'put', name: 'r', object } as unknown as FeedEvent);
  };
  const planned = () => {
    const [write] = approving.plan('r').writes;
    const { user } = (write!.body as { spec: { user?: string } }).spec;
    return { write: write!, asks: write!.target.resource === 'subjectaccessreviews' ? user : undefined };
  };
  const answer = { ok: true, code: 201, message: '', body: { status: { allowed: true } } };
  make('may');
  const first = planned();
  t.is(first.asks, 'may');
  t.like(first.write, {
    verb: 'create',
    target: { ...AUTHORIZATION, resource: 'subjectaccessreviews', subresource: '', namespace: '', name: '' },
    body: { apiVersion: `${AUTHORIZATION.group}/v1`, kind: 'SubjectAccessReview' },
  });
  make('may not');
  approving.onOutcome('r', first.write, answer);
  const second = planned();
  t.is(second.asks, 'may not');
  approving.onOutcome('r', second.write, answer);
  t.is(planned().write.target.subresource, 'approval');
});

test('what is no request of a node, or is decided, is nobody asked about', async (t) => {
  const f = await signing();
  const asked = rights(f, () => true);
  put(f, 'user', { subject: '/CN=jane', signerName: SIGNERS.client, usages: CLIENT });
  put(f, 'serving', { names: 'DNS:a', signerName: SIGNERS.nodeServing, usages: SERVING });
  put(f, 'odd', { ...nodeRequest, names: 'DNS:a' });
  put(f, 'denied', nodeRequest, [DENIED]);
  await f.time.settle();
  t.is(asked.length, 0);
  for (const name of ['user', 'serving', 'odd']) t.deepEqual(statusOf(f, name).conditions ?? [], []);
});

test('requests go an hour after they were settled, and a day after they were made when nobody decided', async (t) => {
  const f = await started();
  const certificate = Buffer.from((await authority).certPem).toString('base64');
  const of = { signerName: 'example.test/signer', usages: CLIENT };
  put(f, 'signed', of, [APPROVED], { certificate });
  put(f, 'denied', of, [DENIED]);
  put(f, 'failed', of, [{ type: 'Failed', status: 'True' }]);
  put(f, 'pending', of);
  put(f, 'approved', of, [APPROVED]);
  const left = (): string[] => ['signed', 'denied', 'failed', 'pending', 'approved'].filter((name) => !isGone(f, name));
  await f.time.advance(3_590_000);
  t.deepEqual(left(), ['signed', 'denied', 'failed', 'pending', 'approved']);
  await f.time.advance(20_000);
  t.deepEqual(left(), ['pending', 'approved']);
  await f.time.advance(DAY_MS);
  t.deepEqual(left(), ['approved']);
});

test('a request goes with its certificate', async (t) => {
  const f = await started();
  const short = await makeSelfSigned({
    commonName: 'c',
    names: [],
    notBefore: new Date(-DAY_MS),
    notAfter: new Date(f.time.clock.nowMs() + 60_000),
  });
  const of = { signerName: 'example.test/signer', usages: CLIENT };
  put(f, 'r', of, [APPROVED], { certificate: Buffer.from(short.certPem).toString('base64') });
  await f.time.settle();
  t.false(isGone(f, 'r'));
  await f.time.advance(62_000);
  t.true(isGone(f, 'r'));
});

test('a status that was written in between is seen before the request is signed', async (t) => {
  const f = await signing();
  f.cluster.fault = () => ({ code: 409, body: { message: 'changed' } }) as never;
  put(f, 'r', { signerName: SIGNERS.client, usages: CLIENT }, [APPROVED]);
  await f.time.settle();
  t.is(signed(f, 'r'), undefined);
  f.cluster.fault = () => undefined;
  await f.time.advance(60_000);
  t.truthy(signed(f, 'r'));
});
