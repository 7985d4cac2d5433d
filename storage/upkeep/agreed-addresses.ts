// Has the records of addresses and ports agree with the services that a repair has saved: damage takes the one and leaves the other,
// which nothing does later. A record without its service keeps everybody from the address, the control plane's own service too; a
// service without its record lets another be given what it has.
import { encodeStored } from '../../api/codec/stored-object.ts';
import { isSealedValue } from '../encryption/sealed-value.ts';
import { readStoredValue, storedValueBytesMax, writeStoredValue } from '../forms/stored-value.ts';
import { parseKey } from '../object-key.ts';
import { stampRevision } from '../records/slab-record.ts';
import { type AddressHolder, AddressRecords, type MissingRecord } from './address-records.ts';

export interface AgreedObjects {
  /** Stored forms by key. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** What was changed so that they agree, one line each. */
  readonly changes: readonly string[];
}

/** The same objects where they agree, or where services cannot be looked into, being encrypted. `revision`: of records that are made. */
export function agreedAddresses(objects: ReadonlyMap<string, Buffer>, revision: number): AgreedObjects {
  const records = new AddressRecords();
  for (const [key, bytes] of objects) {
    if (!AddressRecords.concerns(key)) continue;
    const value = isSealedValue(bytes) ? undefined : readStoredValue(key, bytes);
    if (value === undefined) records.miss(key);
    else records.see(key, JSON.parse(value.json.toString('utf8')) as AddressHolder);
  }
  const orphans = records.orphans();
  const missing = records.missing();
  if (orphans.length + missing.length === 0) return { objects, changes: [] };
  const agreed = new Map(objects);
  for (const { key } of orphans) agreed.delete(key);
  for (const one of missing) agreed.set(one.key, recordOf(one, revision));
  const changes = [...orphans.map(({ what }) => `removed: ${what}`), ...missing.map(({ what }) => `noted: ${what}`)];
  return { objects: agreed, changes };
}

/** The record as it is stored, which says that it was made at `revision`. */
export function recordOf({ key, owner }: Pick<MissingRecord, 'key' | 'owner'>, revision: number): Buffer {
  const record = { metadata: { name: parseKey(key).name }, owner };
  const { text, revisionOffset, itemOffset } = encodeStored(record, 'internal/v1', 'Record');
  const json = Buffer.from(text);
  stampRevision(json, revisionOffset, revision);
  const target = Buffer.allocUnsafe(storedValueBytesMax('', json.length, itemOffset));
  const head = { revision, bornRevision: revision, schemaGeneration: 1, revisionOffset, itemOffset };
  return target.subarray(0, writeStoredValue(target, 0, key, head, '', json, 'json'));
}
