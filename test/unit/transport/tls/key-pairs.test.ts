// What is said of a certificate and a key that cannot be used together.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import { pairProblem } from '../../../../transport/tls/certificates.ts';
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';

test('a key with a passphrase is refused as one, where OpenSSL says that it was interrupted', async (t) => {
  const [notBefore, notAfter] = [new Date('2026-01-01'), new Date('2036-01-01')];
  const { certPem, keyPem } = await makeSelfSigned({ commonName: 'pair', names: ['localhost'], notBefore, notAfter });
  t.is(pairProblem({ certPem, keyPem }), undefined);
  const key = createPrivateKey(keyPem);
  const secret = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
  for (const type of ['pkcs8', 'sec1'] as const) {
    const encrypted = key.export({ ...secret, type }).toString();
    t.regex(pairProblem({ certPem, keyPem: encrypted }) ?? '', /^the key is encrypted/, type);
  }
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  t.regex(
    pairProblem({ certPem, keyPem: other.export({ type: 'pkcs8', format: 'pem' }).toString() }) ?? '',
    /does not belong/,
  );
});

test('of a pair with an unreadable half the half is named in words, where OpenSSL has a code', async (t) => {
  const [notBefore, notAfter] = [new Date('2026-01-01'), new Date('2036-01-01')];
  const { certPem, keyPem } = await makeSelfSigned({ commonName: 'pair', names: ['localhost'], notBefore, notAfter });
  t.is(pairProblem({ certPem: 'nothing', keyPem }), 'the certificate is no certificate in PEM');
  t.is(pairProblem({ certPem: keyPem, keyPem: certPem }), 'the certificate is no certificate in PEM');
  t.is(pairProblem({ certPem, keyPem: 'nothing' }), 'the key is no private key in PEM');
  t.is(pairProblem({ certPem, keyPem: certPem }), 'the key is no private key in PEM');
});
