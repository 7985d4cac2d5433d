// The store as simply as it can be said: a map and a list of events. What the real one is compared with. Also writes the
// messages that both are given.
import { crc32 } from 'node:zlib';
import type { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import type {
  DeleteOperation,
  Guard,
  Operation,
  PutOperation,
  Transaction,
  TransactionResult,
} from '../../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { parseKey } from '../../../storage/object-key.ts';
import { liveDigestOf } from '../../../storage/records/event-log.ts';
import type { SlabPool } from '../../../storage/records/slab-pool.ts';
import {
  CREATED,
  DELETED,
  NO_SLAB,
  type RecordType,
  recordAttributes,
  recordBornRevision,
  recordKey,
  recordLength,
  recordRevision,
  recordType,
  type Slab,
  UPDATED,
  valueView,
} from '../../../storage/records/slab-record.ts';
import { windowEvents } from './window-events.ts';

/** One object version, apart from where it lies. */
export interface Version {
  readonly key: string;
  readonly revision: number;
  readonly born: number;
  readonly type: RecordType;
  /** What the value says besides its metadata. */
  readonly data: string;
  readonly label: string;
}

/** One change, with what it replaced. */
export interface ModelEvent {
  readonly version: Version;
  readonly previous: Version | undefined;
}

/** Versions never change, and a model is compared after every step. */
const lines = new WeakMap<Version, string>();

/** An object version as one line, for comparing many at once. */
function lineOf(version: Version | undefined): string {
  if (version === undefined) return '-';
  let line = lines.get(version);
  if (line === undefined) {
    const { key, revision, born, type, data, label } = version;
    line = `${key} @${revision} born ${born} type ${type} ${crc32(data)}/${data.length} ${label}`;
    lines.set(version, line);
  }
  return line;
}

/** Collects the values of transactions into one payload. */
export class MessageWriter {
  readonly transactions: Transaction[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;

  get payload(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  put(key: string, expect: number, data: string, label = '', metadata: object = {}): PutOperation {
    const { namespace, name } = parseKey(key);
    const labels = label === '' ? undefined : { label };
    const object = { metadata: { name, namespace, labels, ...metadata }, data };
    const { text, revisionOffset, itemOffset } = encodeStored(object, 'v1', 'Sample');
    const bytes = Buffer.from(text);
    const valueOffset = this.#bytes;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    const attributes = packAttributes(labels, [namespace]);
    return {
      key,
      expect,
      valueOffset,
      valueLength: bytes.length,
      revisionOffset,
      itemOffset,
      attributes,
      schemaGeneration: 1,
    };
  }

  remove(key: string, expect: number): DeleteOperation {
    return { key, expect, delete: true };
  }

  transaction(operations: readonly Operation[], guards?: readonly Guard[], thenRemoves?: readonly string[]): void {
    this.transactions.push({ operations, ...(guards && { guards }), ...(thenRemoves && { thenRemoves }) });
  }
}

/** One transaction with its payload. */
export function message(
  build: (writer: MessageWriter) => { operations: readonly Operation[]; guards?: readonly Guard[] },
): { transaction: Transaction; payload: Buffer } {
  const writer = new MessageWriter();
  const { operations, guards } = build(writer);
  writer.transaction(operations, guards);
  return { transaction: writer.transactions[0]!, payload: writer.payload };
}

export class StoreModel {
  readonly current = new Map<string, Version>();
  events: ModelEvent[] = [];
  revision = 0;
  compactedRevision = 0;

  /** What the store must answer; applies the transaction when it holds. */
  apply(
    transaction: Transaction,
    payload: Buffer,
  ): Omit<TransactionResult & { ok: true }, 'places'> | TransactionResult {
    const revisionOf = (key: string) => this.current.get(key)?.revision ?? 0;
    for (const { key, expect } of transaction.guards ?? []) {
      const currentRevision = revisionOf(key);
      if (expect !== EXPECT_ANY && expect !== currentRevision) {
        return { ok: false, reason: 'guard', key, currentRevision };
      }
    }
    for (const operation of transaction.operations) {
      const { key, expect } = operation;
      const currentRevision = revisionOf(key);
      if ('delete' in operation && currentRevision === 0) return { ok: false, reason: 'missing', key, currentRevision };
      if (expect === EXPECT_ANY || expect === currentRevision) continue;
      const reason = expect === 0 ? 'exists' : currentRevision === 0 ? 'missing' : 'changed';
      return { ok: false, reason, key, currentRevision };
    }
    if (transaction.operations.length === 0) return { ok: true, revision: this.revision };
    this.revision++;
    const { revision } = this;
    for (const operation of transaction.operations) this.#write(operation, payload);
    if (transaction.thenRemoves !== undefined) {
      this.revision++;
      for (const key of transaction.thenRemoves) this.#write({ key, expect: revision, delete: true }, payload);
    }
    return { ok: true, revision };
  }

  compact(upToRevision: number): void {
    this.compactedRevision = Math.max(this.compactedRevision, upToRevision);
    this.events = this.events.filter(({ version }) => version.revision > upToRevision);
  }

  #write(operation: Operation, payload: Buffer): void {
    const { key } = operation;
    const previous = this.current.get(key);
    const { revision } = this;
    if ('delete' in operation) {
      this.current.delete(key);
      this.events.push({ version: { ...previous!, revision, type: DELETED }, previous });
      return;
    }
    const text = payload.toString('utf8', operation.valueOffset, operation.valueOffset + operation.valueLength);
    const { data, metadata } = JSON.parse(text) as { data: string; metadata: { labels?: { label: string } } };
    const born = previous?.born ?? revision;
    const type = previous === undefined ? CREATED : UPDATED;
    const version = { key, revision, born, type, data, label: metadata.labels?.label ?? '' };
    this.current.set(key, version);
    this.events.push({ version, previous });
  }
}

/** The version that a record holds, if its bytes agree with each other. */
export function versionAt(slab: Slab, offset: number): Version {
  const key = recordKey(slab, offset);
  const revision = recordRevision(slab, offset);
  const { namespace, name } = parseKey(key);
  const value = JSON.parse(valueView(slab, offset).toString('utf8')) as {
    data: string;
    metadata: { name: string; namespace?: string; resourceVersion: string; labels?: { label: string } };
  };
  const { metadata } = value;
  const label = metadata.labels?.label ?? '';
  const agrees =
    metadata.name === name &&
    (metadata.namespace ?? '') === namespace &&
    metadata.resourceVersion === String(revision) &&
    recordAttributes(slab, offset) === packAttributes(label === '' ? undefined : { label }, [namespace]);
  if (!agrees) throw new Error(`the record of ${key} at revision ${revision} contradicts itself`);
  const type = recordType(slab, offset);
  return { key, revision, born: recordBornRevision(slab, offset), type, data: value.data, label };
}

/** Everything by which a log differs from the model; empty when they agree. */
export function differences(log: RevisionLog, pool: SlabPool, model: StoreModel): string[] {
  const found: string[] = [];
  const same = (what: string, actual: unknown, expected: unknown): void => {
    if (actual !== expected) found.push(`${what}: ${String(actual)} instead of ${String(expected)}`);
  };
  const read = readerOf(pool);
  same('revision', log.revision, model.revision);
  same('compacted revision', log.compactedRevision, model.compactedRevision);
  same('objects', log.current.size, model.current.size);
  let digest = 0;
  for (const [key, version] of model.current) {
    const record = log.current.get(key);
    same(`current ${key}`, record && lineOf(read(record.slab, record.offset)), lineOf(version));
    same(
      `revision and birth of ${key}`,
      `${record?.revision} ${record?.bornRevision}`,
      `${version.revision} ${version.born}`,
    );
    digest = (digest + liveDigestOf(crc32(key), version.revision)) >>> 0;
  }
  same('digest', log.digests.total, digest);
  const events = windowEvents(log.window);
  same('events', events.length, model.events.length);
  for (const [index, { version, previous }] of model.events.entries()) {
    const event = events[index];
    if (event === undefined) break;
    same(
      `event ${index}`,
      `${event.revision} ${lineOf(read(event.slab, event.offset))}`,
      `${version.revision} ${lineOf(version)}`,
    );
    const before = event.previousSlab === NO_SLAB ? undefined : read(event.previousSlab, event.previousOffset);
    same(`what event ${index} replaced`, lineOf(before), lineOf(previous));
  }
  const { liveBytes, historyBytes } = referencedBytes(log, pool);
  same('live bytes', pool.liveBytes, liveBytes);
  same('history bytes', log.window.bytes, historyBytes);
  return found;
}

/** Reads versions, each place once: most are current and in the history, and none is written to meanwhile. */
function readerOf(pool: SlabPool): (slab: number, offset: number) => Version {
  const versions = new Map<number, Map<number, Version>>();
  return (slab, offset) => {
    let ofSlab = versions.get(slab);
    if (ofSlab === undefined) {
      ofSlab = new Map();
      versions.set(slab, ofSlab);
    }
    let version = ofSlab.get(offset);
    if (version === undefined) {
      version = versionAt(pool.slab(slab), offset);
      ofSlab.set(offset, version);
    }
    return version;
  };
}

/** Bytes of all records that a log refers to, each counted once, and of those that only its history does. */
function referencedBytes(log: RevisionLog, pool: SlabPool): { liveBytes: number; historyBytes: number } {
  const places = referencedPlaces(log);
  const lengthOf = ([slab, offset]: readonly [number, number]) => recordLength(pool.slab(slab), offset);
  let liveBytes = 0;
  for (const place of places.values()) liveBytes += lengthOf(place);
  let currentBytes = 0;
  for (const { slab, offset } of log.current.values()) currentBytes += lengthOf([slab, offset]);
  return { liveBytes, historyBytes: liveBytes - currentBytes };
}

/** Every place that a log refers to, by its name. */
export function referencedPlaces(log: RevisionLog): Map<string, readonly [slab: number, offset: number]> {
  const places = new Map<string, readonly [number, number]>();
  const add = (slab: number, offset: number): void => {
    if (slab !== NO_SLAB) places.set(`${slab}/${offset}`, [slab, offset]);
  };
  for (const { slab, offset } of log.current.values()) add(slab, offset);
  for (const event of windowEvents(log.window)) {
    add(event.slab, event.offset);
    add(event.previousSlab, event.previousOffset);
  }
  return places;
}
