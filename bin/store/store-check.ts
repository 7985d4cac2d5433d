// `orch store check DIR`: says what a data folder's store holds, whether it is sound, and what is not. Opens nothing for
// writing. What it prints is for people; the exit code is 0 for a sound store and 1 for any other.
import { resolve } from 'node:path';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { DATABASE_DIRECTORY, HEAD_FILE } from '../../storage/level/level-layout.ts';
import { REPAIRED_DIRECTORY } from '../../storage/level/unfinished-store.ts';
import { type Inspection, inspectStore } from '../../storage/upkeep/inspection.ts';
import { print } from '../command-line/print-lines.ts';
import { holdsOneOf } from '../server/data-directory.ts';
import { refuseInUse } from '../server/directory-claim.ts';

export async function check(argv: readonly string[]): Promise<void> {
  const [directory, ...rest] = argv;
  if (directory?.startsWith('-')) {
    await (await import('./store-etcd.ts')).checkEtcd(argv);
    return;
  }
  if (directory === undefined || rest.length > 0) {
    throw new UsageError(
      'usage: orch store check DIR, or orch store check --store-servers URLS [OPTIONS of the server]',
    );
  }
  const path = resolve(directory);
  refuseWithoutStore(path);
  await refuseInUse(path);
  const found = inspectStore(path);
  print(contents(path, found));
  print(found.problems.map((problem) => `damaged: ${problem}`));
  if (found.problems.length > 0) {
    throw new OrchError(
      'StoreUnusable',
      `the store in ${path} is damaged; orch store repair ${path} saves what is whole and keeps a copy`,
    );
  }
  print(['the store is sound']);
}

/** What says that a store was made in a directory: of a repair that was cut short nothing else may be left. */
const TRACES: readonly string[] = [DATABASE_DIRECTORY, HEAD_FILE, REPAIRED_DIRECTORY];

/** Throws StoreUnusable for a directory that no store was ever made in, BadConfiguration for one that cannot be read. */
export function refuseWithoutStore(path: string): void {
  if (holdsOneOf(path, TRACES)) return;
  throw new OrchError('StoreUnusable', `there is no store in ${path}`);
}

function contents(path: string, found: Inspection): readonly string[] {
  const { identity, objects, events, compactedRevision, soundRevision, digest, bytes } = found;
  return [
    `store ${path}`,
    `dialect ${identity?.dialect ?? 'unknown'}`,
    `prefix ${identity?.prefix ?? 'unknown'}`,
    `objects ${objects.size} (digest ${digest.toString(16).padStart(8, '0')})`,
    `events ${events} (after revision ${compactedRevision}, whole up to revision ${soundRevision})`,
    `acknowledged up to revision ${found.markedRevision}`,
    `bytes ${bytes}`,
  ];
}
