// Reads the file of `--encryption-provider-config`, YAML or JSON.
import { ConfigurationError } from '../../config/configuration-file.ts';
import type { Dialect } from '../../config/dialect.ts';
import { type ResourceEncryption, readEncryptionConfiguration } from '../../config/encryption-configuration.ts';
import { inOperatorFile, operatorContent } from './operator-file.ts';

const WHAT = 'the encryption configuration';
/** Node before it fills names in Linux's abstract namespace up with zeros, and so finds no socket of another program. */
const ABSTRACT_SOCKETS_SINCE = 22;

/**
 * What a file says is encrypted and how. Throws OrchError BadConfiguration with one line that never quotes a secret. `release`: of
 * the Node that is to connect to what the file names.
 */
export function readEncryptionFile(
  path: string,
  dialect: Dialect,
  release: string = process.versions.node,
): readonly ResourceEncryption[] {
  const content = operatorContent(path, WHAT);
  return inOperatorFile(path, WHAT, '', () => {
    const entries = readEncryptionConfiguration(content, dialect);
    if (Number.parseInt(release, 10) < ABSTRACT_SOCKETS_SINCE) refuseAbstractSockets(entries, release);
    return entries;
  });
}

function refuseAbstractSockets(entries: readonly ResourceEncryption[], release: string): void {
  for (const [entry, { providers }] of entries.entries()) {
    for (const [index, provider] of providers.entries()) {
      if (provider.kind !== 'kms' || !provider.socketPath.startsWith('\0')) continue;
      throw new ConfigurationError(
        `resources[${entry}].providers[${index}].kms.endpoint`,
        `Node ${release} connects to no socket in the abstract namespace: have the plugin listen at a path, or use Node ${ABSTRACT_SOCKETS_SINCE}.2 or newer`,
      );
    }
  }
}
