// A value that lay in etcd, where it says no more than its place in its batch, as a folder or a snapshot has it.

import { isSealedValue, unreadable } from '../encryption/sealed-value.ts';
import { clearRevisions, readStoredValue, withClearRevisions } from '../forms/stored-value.ts';
import { stampRevision } from '../records/slab-record.ts';

/** It says its version, also in the object where that can be written without a key. Throws OrchError StoreUnusable. */
export function valueAtRevision(key: string, value: Uint8Array, revision: number): Buffer {
  const born = clearRevisions(value).bornRevision;
  const stored = withClearRevisions(key, value, { revision, bornRevision: born === 0 ? revision : born });
  if (isSealedValue(stored)) return stored;
  const read = readStoredValue(key, stored);
  if (read === undefined) throw unreadable(key, 'it is none of ours, or damaged');
  stampRevision(read.json, read.revisionOffset, revision);
  return withClearRevisions(key, stored, read);
}
