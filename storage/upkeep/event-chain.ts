// The event records of a store one after the other: which of them are whole, whether each follows the one before it, and how
// far they reach without a gap.

import { revisionKey } from '../level/level-layout.ts';
import { type EventRecord, readEventRecord } from '../records/event-log.ts';

export interface ChainedRecords {
  /** The whole ones, in order. */
  readonly records: readonly EventRecord[];
  readonly compactedRevision: number;
  /** Everything from the compacted revision to this one is there. */
  readonly soundRevision: number;
  readonly problems: readonly string[];
}

/**
 * Reads records, given in order with the revision that their keys spell. `compacted`: the revision up to which there need be
 * none, and older ones are left over; undefined when that is not known.
 */
export function readChain(
  stored: readonly (readonly [revision: string, record: Buffer])[],
  compacted: number | undefined,
): ChainedRecords {
  const records: EventRecord[] = [];
  const problems: string[] = [];
  const oldest = revisionKey(compacted ?? 0);
  let reached = compacted;
  let soundRevision: number | undefined;
  const broken = (problem: string): void => {
    problems.push(problem);
    soundRevision ??= reached ?? 0;
  };
  for (const [revision, bytes] of stored) {
    if (revision <= oldest) continue;
    const record = readEventRecord(bytes);
    if (record === undefined || revisionKey(record.lastRevision) !== revision) {
      broken(`the event record at revision ${Number.parseInt(revision, 16)} does not match its checksum`);
      continue;
    }
    const before = records.at(-1);
    const expected = reached === undefined ? record.firstRevision : reached + 1;
    if (record.firstRevision > expected || (before !== undefined && record.firstRevision < expected)) {
      broken(`events ${expected} to ${record.firstRevision - 1} are missing`);
    } else if (before !== undefined && record.previousChecksum !== before.checksum) {
      broken(`the event record at revision ${record.firstRevision} does not follow the one before it`);
    }
    records.push(record);
    reached = record.lastRevision;
  }
  const compactedRevision = compacted ?? (records[0]?.firstRevision ?? 1) - 1;
  return { records, compactedRevision, soundRevision: soundRevision ?? reached ?? compactedRevision, problems };
}
