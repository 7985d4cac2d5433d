// The key of service accounts' tokens that a server keeps in its data folder, and the serving key that stands in for others.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkServiceAccountKeys, serviceAccountIssuer } from '../../../bin/server/service-accounts.ts';
import type { ServerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';

test('a start is refused whose own key of service accounts is broken, and leaves the file as it is', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-keys-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { options } = parseArguments('up', ['--data-dir', directory]) as { options: ServerOptions };
  const issuer = () => serviceAccountIssuer(options, directory, '127.0.0.1:6443');
  const made = (await issuer()).signingKeyPem;
  t.is((await issuer()).signingKeyPem, made, 'it is kept');
  checkServiceAccountKeys(options);
  const file = join(directory, 'service-account.key');
  const half = readFileSync(file, 'utf8').slice(0, 100);
  writeFileSync(file, half);
  await t.throwsAsync(issuer, { code: 'BadConfiguration', message: /service-account\.key/ });
  t.throws(() => checkServiceAccountKeys(options), { code: 'BadConfiguration' });
  t.is(readFileSync(file, 'utf8'), half);
});

const SERVING: Readonly<Record<string, readonly [make: () => KeyObject, verifies: number]>> = {
  'a serving key of RSA verifies tokens where no other key is named': [
    () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    1,
  ],
  'a start is not refused for a serving key of Ed25519, which no token can be signed with': [
    () => generateKeyPairSync('ed25519').privateKey,
    0,
  ],
  'nor for one of RSA that is too short for tokens': [
    () => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
    0,
  ],
};

for (const [title, [make, verifies]] of Object.entries(SERVING)) {
  test(title, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-keys-'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'serving.key');
    writeFileSync(file, make().export({ type: 'pkcs8', format: 'pem' }));
    const given = ['--data-dir', directory, '--tls-cert-file', 'serving.crt', '--tls-private-key-file', file];
    const { options } = parseArguments('up', given) as { options: ServerOptions };
    const { verificationKeyPems } = await serviceAccountIssuer(options, directory, '127.0.0.1:6443');
    t.is(verificationKeyPems.length, verifies);
    // A file that is named for tokens is another matter.
    const named = parseArguments('up', [...given, '--service-account-key-file', file]) as { options: ServerOptions };
    const refused = serviceAccountIssuer(named.options, directory, '127.0.0.1:6443');
    if (verifies === 0) await t.throwsAsync(refused, { code: 'BadConfiguration' });
    else await t.notThrowsAsync(refused);
  });
}

const NO_KEYS: Readonly<Record<string, readonly [option: string, pem: string, says: RegExp]>> = {
  'a signing key file that holds the public key is refused as holding no private key': [
    '--service-account-signing-key-file',
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    /holds no private key that can be read without a passphrase$/,
  ],
  'and so is one that has a passphrase': [
    '--service-account-signing-key-file',
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
      .toString(),
    /holds no private key that can be read without a passphrase$/,
  ],
  'a key file whose block is broken is refused as holding no key or certificate': [
    '--service-account-key-file',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
    /holds no key or certificate that can be read without a passphrase$/,
  ],
};

for (const [title, [option, pem, says]] of Object.entries(NO_KEYS)) {
  test(title, (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-keys-'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'named.key');
    writeFileSync(file, pem);
    const given = ['--data-dir', directory, option, file, '--service-account-issuer', 'https://issuer.test'];
    const others = option.includes('signing') ? ['--service-account-key-file', file] : [];
    const { options } = parseArguments('up', [...given, ...others]) as { options: ServerOptions };
    t.throws(() => checkServiceAccountKeys(options), { code: 'BadConfiguration', message: says });
  });
}
