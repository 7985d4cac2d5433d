// The record of an object as this server stores it.
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { CREATED, type Slab } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import type { Members } from './managed-objects.ts';

/** Of what it is found by. */
export interface EncodedRecord {
  readonly slab: Slab;
  readonly place: {
    readonly revision: number;
    readonly slab: number;
    readonly offset: number;
    readonly incarnation: number;
  };
}

/** A pod, in a slab of its own. */
export function encodedRecord(object: { readonly metadata: Members } & Members): EncodedRecord {
  const { text, revisionOffset, itemOffset } = encodeStored(object, 'v1', 'Pod');
  const pool = new SlabPool(64 * 1024, new SharedState());
  const head = { revision: 7, bornRevision: 7, type: CREATED, schemaGeneration: 1, revisionOffset, itemOffset };
  const { slab, offset } = pool.write(head, 'core/pods/default/a', '', Buffer.from(text));
  return { slab: pool.slab(slab), place: { revision: 7, slab, offset, incarnation: 0 } };
}
