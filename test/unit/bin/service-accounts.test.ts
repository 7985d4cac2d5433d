// The key of service accounts' tokens that a server keeps in its data folder.
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
