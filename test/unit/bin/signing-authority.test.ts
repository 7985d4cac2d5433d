// The pair that a server signs certificates with, where one half of what is kept of it is damaged.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkSigningAuthority, signingAuthority } from '../../../bin/server/signing-authority.ts';

test('which half of the authority’s pair is damaged is told, and neither is written anew', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-authority-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { certPem, keyPem } = await signingAuthority(directory);
  const [cert, key] = ['cluster-ca.crt', 'cluster-ca.key'].map((name) => join(directory, 'pki', name)) as [
    string,
    string,
  ];
  for (const [file, whole, half] of [
    [cert, certPem, 'the certificate is no certificate in PEM'],
    [key, keyPem, 'the key is no private key in PEM'],
  ] as const) {
    for (const damaged of ['', 'garbage', whole.slice(0, 100)]) {
      writeFileSync(file, damaged);
      t.throws(() => checkSigningAuthority(directory), { message: `${cert} and ${key} cannot be used: ${half}` });
      t.is(readFileSync(file, 'utf8'), damaged);
    }
    writeFileSync(file, whole);
  }
  t.notThrows(() => checkSigningAuthority(directory));
});
