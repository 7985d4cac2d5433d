// The file of --encryption-provider-config: what this release of Node cannot connect to.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readEncryptionFile } from '../../../bin/files/encryption-file.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const directory = mkdtempSync(join(tmpdir(), 'orch-encryption-file-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

function fileOf(endpoint: string): string {
  const path = join(directory, 'encryption.json');
  const resources = [{ resources: ['secrets'], providers: [{ identity: {} }, { kms: { name: 'vault', endpoint } }] }];
  const content = { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.orch.io/v1', resources };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test.serial(
  'a plugin in the abstract namespace is refused where Node cannot connect to it, and one at a path is not',
  (t) => {
    const path = fileOf('unix:///@vault');
    t.throws(() => readEncryptionFile(path, DIALECTS.orch, '20.19.0'), {
      message:
        `the encryption configuration ${path}: resources[0].providers[1].kms.endpoint: Node 20.19.0 connects to no socket in the ` +
        'abstract namespace: have the plugin listen at a path, or use Node 22.2 or newer',
    });
    t.is(readEncryptionFile(path, DIALECTS.orch, '22.2.0').length, 1);
    t.is(readEncryptionFile(fileOf('unix:///run/vault.sock'), DIALECTS.orch, '20.19.0').length, 1);
  },
);
