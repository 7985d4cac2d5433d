// Reads the file of `--encryption-provider-config`, YAML or JSON.
import type { Dialect } from '../../config/dialect.ts';
import { type ResourceEncryption, readEncryptionConfiguration } from '../../config/encryption-configuration.ts';
import { inOperatorFile, operatorContent } from './operator-file.ts';

const WHAT = 'the encryption configuration';

/** What a file says is encrypted and how. Throws OrchError BadConfiguration with one line that never quotes a secret. */
export function readEncryptionFile(path: string, dialect: Dialect): readonly ResourceEncryption[] {
  const content = operatorContent(path, WHAT);
  return inOperatorFile(path, WHAT, '', () => readEncryptionConfiguration(content, dialect));
}
