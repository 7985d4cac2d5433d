// The store's own files after a crash, before any server touched them: recovered from a copy, they must hold every revision
// without a gap, and every acknowledged write under its revision.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKey } from '../../storage/object-key.ts';
import { recordKey, recordRevision } from '../../storage/records/slab-record.ts';
import { recoveredStore } from '../integration/recovered-store.ts';

export interface DurableWrite {
  readonly storageKey: string;
  readonly name: string;
  readonly version: number;
}

/** Answers what is not as promised. */
export async function checkStore(directory: string, writes: readonly DurableWrite[]): Promise<string[]> {
  const copy = mkdtempSync(join(tmpdir(), 'orch-crash-copy-'));
  try {
    cpSync(directory, copy, { recursive: true });
    const { revision, compactedRevision, events } = await recoveredStore(copy, (slab, offset) => ({
      revision: recordRevision(slab, offset),
      ...parseKey(recordKey(slab, offset)),
    }));
    const problems: string[] = [];
    const written = new Set<string>();
    let before = compactedRevision;
    for (const { version } of events) {
      const { storageKey, name, revision } = version;
      if (revision !== before && revision !== before + 1) problems.push(`revision ${revision} follows ${before}`);
      before = revision;
      written.add(`${storageKey} ${name} ${revision}`);
    }
    if (before !== revision) problems.push(`the history ends at ${before}, the store at ${revision}`);
    for (const { storageKey, name, version } of writes) {
      if (version > compactedRevision && !written.has(`${storageKey} ${name} ${version}`)) {
        problems.push(`${storageKey} ${name} was acknowledged at ${version}, which the disk does not hold`);
      }
    }
    return problems;
  } catch (error) {
    return [`the store cannot be recovered: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
