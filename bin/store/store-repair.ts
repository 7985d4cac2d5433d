// `orch store repair DIR`: makes a sound store of what is whole in a damaged one, and says what is lost. The damaged files
// stay in the folder under another name.
import { resolve } from 'node:path';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { Inspection } from '../../storage/upkeep/inspection.ts';
import type { ObjectFinding } from '../../storage/upkeep/object-records.ts';
import { inspectForRepair, repairStore } from '../../storage/upkeep/repair.ts';
import { print } from '../command-line/print-lines.ts';
import { takeFlag } from '../command-line/taken-flag.ts';
import { warnOfOwner } from '../server/closed-directory.ts';
import { claimDatabase } from '../server/directory-claim.ts';
import { refuseWithoutStore } from './store-check.ts';

const USAGE =
  'usage: orch store repair DIR [--api-dialect NAME], or orch store repair --store-servers URLS [OPTIONS of the server]';
/** `--store-prefix` where nothing tells another. */
const STANDARD_PREFIX = '/registry';

export async function repair(argv: readonly string[]): Promise<void> {
  if (argv[0]?.startsWith('-')) {
    await (await import('./store-etcd.ts')).repairEtcd(argv);
    return;
  }
  const { value: dialect, rest } = takeFlag(argv, '--api-dialect', USAGE);
  const [directory, ...others] = rest;
  if (directory === undefined || others.length > 0) throw new UsageError(USAGE);
  const path = resolve(directory);
  refuseWithoutStore(path);
  warnOfOwner(path);
  const release = await claimDatabase(path);
  try {
    const found = inspectForRepair(path);
    if (found.problems.length === 0) {
      print(['the store is sound: nothing was changed']);
      return;
    }
    const identity = {
      dialect: found.identity?.dialect ?? dialectOf(found, dialect),
      prefix: found.prefix ?? STANDARD_PREFIX,
    };
    const { keptIn, revision, objects, changes } = await repairStore(path, found, identity, Date.now());
    print(found.problems.map((problem) => `damaged: ${problem}`));
    print(losses(found));
    print(changes);
    print([
      `repaired: ${objects} objects; the store goes on from revision ${revision}, with no history before it`,
      `the damaged files are kept in ${keptIn}`,
    ]);
  } finally {
    release();
  }
}

/** What is lost, one line each, and last what cannot be named. */
function losses(found: Inspection): readonly string[] {
  const { findings, isComplete, unnamed, soundRevision, reachedRevision } = found;
  const named = findings.flatMap(lossOf);
  if (isComplete) return ['lost: no object, only the history of changes'];
  const unknown =
    reachedRevision > soundRevision
      ? [
          `lost: whatever else was written in revisions ${soundRevision + 1} to ${reachedRevision}, unless it is listed as kept`,
        ]
      : [];
  const objects = unnamed === 1 ? '1 object' : `${unnamed} objects`;
  const counted = unnamed > 0 ? [`lost: ${objects} of which nothing is left, not even the name`] : [];
  return [...named, ...counted, ...unknown];
}

function lossOf({ key, isLost, lostRevision, keptRevision }: ObjectFinding): readonly string[] {
  if (!isLost) return [];
  const revision = lostRevision === undefined ? '' : ` at revision ${lostRevision}`;
  if (keptRevision !== undefined) return [`lost: ${key}${revision}; kept as it was at revision ${keptRevision}`];
  return [`lost: ${key}${revision}`];
}

/** The dialect as the operator says, else as the groups of the objects tell. */
function dialectOf({ objects }: Inspection, asked: string | undefined): DialectName {
  const given = DIALECT_NAMES.find((name) => name === asked);
  if (asked !== undefined && given === undefined) {
    throw new UsageError(`"${asked}" is not one of ${DIALECT_NAMES.join(', ')}`);
  }
  const spoken = DIALECT_NAMES.filter((name) => {
    const ending = `.${DIALECTS[name].groupDomain}`;
    return [...objects.keys()].some((key) => key.slice(0, key.indexOf('/')).endsWith(ending));
  });
  const told = spoken.length === 1 ? spoken[0] : undefined;
  const dialect = given ?? told;
  if (dialect !== undefined) return dialect;
  throw new OrchError('StoreUnusable', 'which API dialect the store belongs to is lost: say it with --api-dialect');
}
