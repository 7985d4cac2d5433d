import { X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import test from 'ava';
import { isOrchError } from '../../../../runtime/errors.ts';
import type { KeyPair } from '../../../../transport/http.ts';
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';
import { selfSignedPair } from '../../../../transport/tls/self-signed-pair.ts';
import { testAuthority } from '../../../server/test-authority.ts';

/** The pair as it is in its files. */
async function selfSignedKeyPair(directory: string, names: readonly string[] = []): Promise<KeyPair> {
  const { certFile, keyFile } = await selfSignedPair(directory, names);
  return { certPem: await readFile(certFile, 'utf8'), keyPem: await readFile(keyFile, 'utf8') };
}

const DAY_MS = 24 * 3600 * 1000;

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'material-'));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('a self-signed pair is made with a private key file and found again', (t) =>
  inDirectory(async (directory) => {
    const nested = join(directory, 'a', 'b');
    const made = await selfSignedKeyPair(nested);
    t.is((await stat(join(nested, 'apiserver.key'))).mode & 0o777, 0o600);
    t.is(await readFile(join(nested, 'apiserver.crt'), 'utf8'), made.certPem);
    t.deepEqual(await selfSignedKeyPair(nested), made);
  }));

test('names beyond ASCII are in the certificate as clients ask for them, or not at all', (t) =>
  inDirectory(async (directory) => {
    const names = ['b\u00fccher.example', 'a b\u00fc', 'api.example.com'];
    const made = await selfSignedKeyPair(directory, names);
    const certificate = new X509Certificate(made.certPem);
    for (const name of ['xn--bcher-kva.example', 'api.example.com']) t.is(certificate.checkHost(name), name);
    // Go's clients take a certificate with any other byte for malformed.
    t.regex(certificate.subjectAltName ?? '', /^[ -~]+$/);
    t.deepEqual(await selfSignedKeyPair(directory, names), made);
  }));

test('the certificate is an authority, for ten years, for this host under all its names', (t) =>
  inDirectory(async (directory) => {
    const { certPem } = await selfSignedKeyPair(directory, ['10.1.2.3', 'fd00::1:2', 'api.example.com', 'localhost']);
    const certificate = new X509Certificate(certPem);
    t.true(certificate.ca);
    t.true(certificate.verify(certificate.publicKey));
    t.true(certificate.checkIssued(certificate));
    t.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    for (const name of ['localhost', hostname(), 'api.example.com']) t.is(certificate.checkHost(name), name);
    for (const address of ['127.0.0.1', '::1', '10.1.2.3', 'fd00::1:2']) t.is(certificate.checkIP(address), address);
    t.is(certificate.checkHost('other.example.com'), undefined);
    t.is(certificate.subjectAltName?.match(/DNS:localhost/g)?.length, 1);
    const years = (Date.parse(certificate.validTo) - Date.now()) / (365.25 * DAY_MS);
    t.true(years > 9.9 && years < 10.1);
    t.true(Date.parse(certificate.validFrom) < Date.now());
  }));

const STALE: readonly (readonly [title: string, spoil: (directory: string) => Promise<void>])[] = [
  ['the names have changed', async (directory) => void (await selfSignedKeyPair(directory, ['old.example.com']))],
  [
    'the key is another',
    async (directory) => {
      await selfSignedKeyPair(directory);
      const other = await makeSelfSigned({
        commonName: 'x',
        names: ['x'],
        notBefore: new Date(),
        notAfter: new Date(),
      });
      await writeFile(join(directory, 'apiserver.key'), other.keyPem);
    },
  ],
  [
    'the certificate is damaged',
    async (directory) => {
      await selfSignedKeyPair(directory);
      await writeFile(join(directory, 'apiserver.crt'), 'nonsense');
    },
  ],
  ['the certificate is about to expire', (directory) => keepPair(directory, Date.now() - DAY_MS, Date.now() + DAY_MS)],
  [
    'the certificate is not valid yet',
    (directory) => keepPair(directory, Date.now() + DAY_MS, Date.now() + 1000 * DAY_MS),
  ],
];

async function keepPair(directory: string, fromMs: number, toMs: number): Promise<void> {
  const pair = await makeSelfSigned({
    commonName: 'x',
    names: ['localhost', '127.0.0.1', '::1', hostname()],
    notBefore: new Date(fromMs),
    notAfter: new Date(toMs),
  });
  await writeFile(join(directory, 'apiserver.crt'), pair.certPem);
  await writeFile(join(directory, 'apiserver.key'), pair.keyPem);
}

for (const [title, spoil] of STALE) {
  test(`a pair is made again when ${title}`, (t) =>
    inDirectory(async (directory) => {
      await spoil(directory);
      const before = await readFile(join(directory, 'apiserver.crt'), 'utf8');
      const made = await selfSignedKeyPair(directory);
      t.not(made.certPem, before);
      t.deepEqual(await selfSignedKeyPair(directory), made);
    }));
}

test('a kept pair with the names and enough time is used as it is', (t) =>
  inDirectory(async (directory) => {
    await keepPair(directory, Date.now() - DAY_MS, Date.now() + 100 * DAY_MS);
    const before = await readFile(join(directory, 'apiserver.crt'), 'utf8');
    t.is((await selfSignedKeyPair(directory)).certPem, before);
  }));

test('a client that trusts the certificate connects under each name, and under no other', (t) =>
  inDirectory(async (directory) => {
    const { certPem, keyPem } = await selfSignedKeyPair(directory);
    const server = createServer({ cert: certPem, key: keyPem }, (socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const handshake = (servername: string, ca?: string): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const trust = ca === undefined ? {} : { ca };
        const socket = connect({ host: '127.0.0.1', port, servername, ...trust }, () => resolve(socket.end()));
        socket.once('error', reject);
      });
    t.true((await handshake('localhost', certPem)).authorized);
    await t.throwsAsync(handshake('elsewhere', certPem), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    await t.throwsAsync(handshake('localhost'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    server.close();
  }));

test('a pair of another authority is left as it is', (t) =>
  inDirectory(async (directory) => {
    const pair = testAuthority(directory).issue('operator', ['elsewhere']);
    await writeFile(join(directory, 'apiserver.crt'), pair.certPem);
    await writeFile(join(directory, 'apiserver.key'), pair.keyPem);
    t.is((await selfSignedKeyPair(directory)).certPem, pair.certPem);
  }));

test('a pair that cannot be read is not replaced: it may be whole, and trusted', (t) =>
  inDirectory(async (directory) => {
    const { certFile, keyFile } = await selfSignedPair(directory);
    const key = await readFile(keyFile, 'utf8');
    await rm(certFile);
    // What nobody can read, root included.
    await symlink(certFile, certFile);
    const error = await t.throwsAsync(selfSignedPair(directory), { message: / cannot be read \(ELOOP\)$/ });
    t.true(isOrchError(error, 'BadConfiguration'));
    t.is(await readFile(keyFile, 'utf8'), key);
  }));

test('a kept key that others could read is closed to them', (t) =>
  inDirectory(async (directory) => {
    const { keyFile } = await selfSignedPair(directory);
    await chmod(keyFile, 0o644);
    await selfSignedPair(directory);
    t.is((await stat(keyFile)).mode & 0o777, 0o600);
  }));

test('a directory that cannot be written is the operator’s error', (t) =>
  inDirectory(async (directory) => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    t.true(isOrchError(await t.throwsAsync(selfSignedKeyPair(join(file, 'sub'))), 'BadConfiguration'));
  }));

test('times past 2049 are written in four digits', async (t) => {
  const notAfter = new Date('2055-06-07T08:09:10Z');
  const { certPem } = await makeSelfSigned({
    commonName: 'x',
    names: ['x'],
    notBefore: new Date('2049-12-31T23:59:59Z'),
    notAfter,
  });
  const certificate = new X509Certificate(certPem);
  t.is(Date.parse(certificate.validTo), notAfter.getTime());
  t.is(Date.parse(certificate.validFrom), Date.parse('2049-12-31T23:59:59Z'));
});
