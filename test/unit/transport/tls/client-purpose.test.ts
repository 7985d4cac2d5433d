import { X509Certificate } from 'node:crypto';
import test from 'ava';
import { isOfGoodPurpose as isGood } from '../../../../transport/tls/client-purpose.ts';
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';

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
