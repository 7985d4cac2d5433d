// Records in one slab, as the store writes them, for tests of what reads them.

import type { CacheEvent, Entry } from '../../../actors/hub/caches/resource-cache.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import {
  CREATED,
  DELETED,
  mapSlab,
  RECORD_HEADER_BYTES,
  recordBytes,
  type Slab,
  stampRevision,
  UPDATED,
  writeRecordHead,
} from '../../../storage/records/slab-record.ts';
import { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';

export interface SampleObject {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** In the order of the type's selectable fields. */
  readonly fields?: readonly string[];
  readonly text?: string;
}

export class Records {
  readonly thread = new ThreadSlabs();
  readonly slabs = this.thread.viewOf('hub');
  readonly slab: Slab;
  /** Where the next record goes. Set back, it writes over what is there, as a slab that is used again. */
  end = 0;
  readonly #kind: string;

  constructor(slabBytes = 8 * 1024 * 1024, kind = 'Sample') {
    this.#kind = kind;
    this.slab = mapSlab(new SharedArrayBuffer(slabBytes));
    this.slabs.learn([[0, this.slab.memory]], 1);
  }

  /** Writes one version of an object. */
  write(object: SampleObject, revision: number, type: 'created' | 'updated' | 'deleted' = 'created'): Entry {
    const { namespace, name, labels, fields = [], text = '' } = object;
    const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...(labels === undefined ? {} : { labels }) };
    const encoded = encodeStored({ metadata, data: { text } }, 'v1', this.#kind);
    const value = Buffer.from(encoded.text);
    const key = `core/samples/${namespace}/${name}`;
    const attributes = packAttributes(labels, fields);
    const keyBytes = Buffer.byteLength(key);
    const attributesBytes = Buffer.byteLength(attributes);
    const length = recordBytes(keyBytes, attributesBytes, value.length);
    const offset = this.end;
    this.end += length;
    const { revisionOffset, itemOffset } = encoded;
    const recordType = { created: CREATED, updated: UPDATED, deleted: DELETED }[type];
    const head = {
      revision,
      bornRevision: revision,
      type: recordType,
      schemaGeneration: 1,
      revisionOffset,
      itemOffset,
    };
    const at = writeRecordHead(
      this.slab,
      offset,
      length,
      head,
      key,
      keyBytes,
      attributes,
      attributesBytes,
      value.length,
    );
    if (at !== offset + RECORD_HEADER_BYTES + keyBytes + attributesBytes) throw new Error('a record is misplaced');
    this.slab.bytes.set(value, at);
    stampRevision(this.slab.bytes, at + revisionOffset, revision);
    return { key: `${namespace}/${name}`, revision, slab: 0, offset };
  }

  /** The event that leads from one version to the next; undefined stands for absence. */
  event(before: SampleObject | undefined, after: SampleObject | undefined, revision: number): CacheEvent {
    const previous = before === undefined ? undefined : this.write(before, revision - 1);
    if (after !== undefined) {
      const entry = this.write(after, revision, before === undefined ? 'created' : 'updated');
      return { revision, deleted: false, entry, previous };
    }
    if (before === undefined) throw new Error('nothing happened');
    return { revision, deleted: true, entry: this.write(before, revision, 'deleted'), previous };
  }
}
