import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { isOfGoodPurpose as isGood } from '../../../../transport/tls/client-purpose.ts';
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';
import { testAuthority } from '../../../server/test-authority.ts';

test('a certificate that is refused for its purpose alone is good where it is for any, or for clients, and was signed by its issuer', async (t) => {
  const times = { notBefore: new Date(0), notAfter: new Date(1e12) };
  const made = async (purpose: 'serverAuth' | 'clientAuth' | 'authority') => {
    const { certPem } = await makeSelfSigned({ commonName: 'same', names: [], ...times, purpose });
    return new X509Certificate(certPem).raw;
  };
  const [server, client, any, stranger] = [
    await made('serverAuth'),
    await made('clientAuth'),
    await made('authority'),
    await made('authority'),
  ];
  const trusted = new Set([server, client, any, stranger].map((raw) => new X509Certificate(raw).fingerprint256));
  const isOfGoodPurpose = (error: unknown, chain: readonly Uint8Array[]) => isGood(error, chain, trusted);
  t.true(isOfGoodPurpose('INVALID_PURPOSE', [client, client]));
  t.true(isOfGoodPurpose('INVALID_PURPOSE', [any, any]));
  t.false(isOfGoodPurpose('INVALID_PURPOSE', [server, server]));
  t.false(isOfGoodPurpose('INVALID_PURPOSE', [client]));
  t.false(isGood('INVALID_PURPOSE', [client, client], new Set()), 'nobody who is trusted is in the chain');
  t.false(isOfGoodPurpose('INVALID_PURPOSE', [client, server]));
  // It has the name of the issuer, and not its key.
  t.false(isOfGoodPurpose('INVALID_PURPOSE', [any, stranger]));
  for (const error of ['CERT_HAS_EXPIRED', 'CERT_SIGNATURE_FAILURE', undefined, null])
    t.false(isOfGoodPurpose(error, [client, client]));
});

test('each certificate of a chain has to be signed by the one behind it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-purpose-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [authority, other] = [testAuthority(folder), testAuthority(folder, 'other')];
  const read = ({ certPem }: { readonly certPem: string }) => new X509Certificate(certPem);
  const trusted = new Set([authority, other].map((one) => read(one).fingerprint256));
  const isOfGoodPurpose = (...chain: readonly { readonly certPem: string }[]) =>
    isGood(
      'INVALID_PURPOSE',
      chain.map((one) => read(one).raw),
      trusted,
    );
  const client = authority.issue('client', [], 'codeSigning,anyExtendedKeyUsage');
  t.true(isOfGoodPurpose(client, authority));
  t.false(isOfGoodPurpose(client, other));
  t.false(isOfGoodPurpose(authority, client));
  t.false(isOfGoodPurpose(client, authority, other));
  t.false(isOfGoodPurpose(authority.issue('server', ['localhost']), authority));
});
