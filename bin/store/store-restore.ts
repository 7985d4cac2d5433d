// `orch store restore FILE DIR`: makes a data folder of a snapshot. The folder must be empty or not there.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { isEtcdSnapshot } from '../../storage/etcd/etcd-snapshot.ts';
import { openForRestore, restoreSnapshot } from '../../storage/upkeep/restore.ts';
import { print } from '../command-line/print-lines.ts';
import { claimDirectory, isOfClaim } from '../server/directory-claim.ts';

export async function restore(argv: readonly string[]): Promise<void> {
  const [file, directory, ...rest] = argv;
  const isUsable = file !== undefined && directory !== undefined && rest.length === 0;
  if (!isUsable || file.startsWith('-') || directory.startsWith('-')) {
    throw new UsageError('usage: orch store restore FILE DIR');
  }
  const path = resolve(directory);
  readable(file);
  if (isEtcdSnapshot(file)) {
    throw new OrchError(
      'Refused',
      `${file} is a snapshot of an etcd: etcdctl snapshot restore makes members of it (etcdutl from etcd 3.5 on), which --store-servers names`,
    );
  }
  openForRestore(path, isOfClaim);
  // Of two at once, one would give the store's name to what the other is still writing.
  const release = await claimDirectory(path);
  try {
    const { header, revision } = await restoreSnapshot(file, path, Date.now(), isOfClaim);
    print([
      `restored ${header.objects} objects of revision ${header.revision} into ${path} (dialect ${header.dialect})`,
      `the store goes on from revision ${revision}`,
    ]);
  } finally {
    release();
  }
}

/** Throws OrchError BadConfiguration unless there is a file that we may read. */
function readable(file: string): void {
  if (!existsSync(file)) throw new OrchError('BadConfiguration', `there is no file ${file}`);
  try {
    if (!statSync(file).isFile()) throw Object.assign(new Error(), { code: 'it is no file' });
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new OrchError('BadConfiguration', `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
