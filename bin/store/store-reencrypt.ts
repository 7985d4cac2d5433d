// `orch store reencrypt DIR --encryption-provider-config FILE`: brings everything in a data folder under the first provider
// of each resource. In a stopped server's folder it works on the store itself, history and files included; a running one
// is asked through its API. Takes the server's own options, so that its command line can be given as it is.
import { resolve } from 'node:path';
import { encryptionFor } from '../../actors/store/encryption/encryption-at-rest.ts';
import { reencryptStore } from '../../actors/store/encryption/reencryption.ts';
import { registryFor } from '../../actors/thread-registry.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { parseArguments } from '../../config/parse.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { LevelEngine } from '../../storage/level/level-engine.ts';
import { print } from '../command-line/print-lines.ts';
import { readEncryptionFile } from '../files/encryption-file.ts';
import { warnOfOwner } from '../server/closed-directory.ts';
import { claimDirectory, isInUse } from '../server/directory-claim.ts';
import { refuseWithoutStore } from './store-check.ts';

const USAGE =
  'usage: orch store reencrypt DIR | --store-servers URLS --encryption-provider-config FILE [OPTIONS of the server]';

export async function reencrypt(argv: readonly string[]): Promise<void> {
  const [directory, ...rest] = argv;
  if (directory?.startsWith('-')) {
    await (await import('./store-etcd.ts')).reencryptEtcd(argv);
    return;
  }
  if (directory === undefined) throw new UsageError(USAGE);
  const parsed = parseArguments('up', rest);
  if (parsed.action !== 'run' || parsed.options.encryptionProviderConfig === '') throw new UsageError(USAGE);
  const { options } = parsed;
  const dialect = DIALECTS[options.apiDialect];
  const path = resolve(directory);
  refuseWithoutStore(path);
  const entries = readEncryptionFile(options.encryptionProviderConfig, dialect);
  const registry = registryFor({ dialect: options.apiDialect, options });
  if (isInUse(path)) {
    const resources = [...new Set(entries.flatMap((entry) => entry.resources))];
    const { reencryptRunning } = await import('./reencrypt-running.ts');
    const { objects, rewritten, unserved, refusals } = await reencryptRunning(path, resources);
    print([
      `rewritten: ${rewritten} of ${objects} objects, by the running server and under its own configuration`,
      ...unserved.map((resource) => `${resource} is not served: there was nothing to ask for`),
      'older versions stay under their keys until the history is compacted (--store-compaction-interval)',
      ...refusals.map((refusal) => `left as it was: ${refusal}`),
    ]);
    if (refusals.length === 0) return;
    throw new OrchError(
      'Refused',
      `${refusals.length} of ${objects} objects were not rewritten; mend that, and run this again`,
    );
  }
  warnOfOwner(path);
  const release = await claimDirectory(path);
  try {
    const { objects, rewritten, revision } = await reencryptStore({
      engine: new LevelEngine({
        directory: path,
        prefix: options.storePrefix.replace(/\/+$/, ''),
        dialect: dialect.name,
      }),
      encryption: encryptionFor(entries, registry, realEnvironment),
      media: options.storageMediaType === dialect.protobufMediaType ? 'protobuf' : 'json',
      wallMs: () => realEnvironment.clock.nowMs(),
    });
    print([
      `rewritten: ${rewritten} of ${objects} objects; the store is at revision ${revision}, with no history before it`,
    ]);
  } finally {
    release();
  }
}
