// Brings everything on disk under the first providers of the encryption configuration, on a store that nobody else uses.
// Each batch is a commit like any other, under revisions of its own: it can be cut short at any point and begun again.

import { isOrchError, OrchError } from '../../../runtime/errors.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { LocalEngine } from '../../../storage/engines/local-engine.ts';
import type { StorageMedia } from '../../../storage/forms/stored-value.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import {
  isStale,
  itemOffset,
  recordAttributes,
  recordKey,
  recordSchemaGeneration,
  revisionOffset,
  valueView,
} from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { recover } from '../log/recovery.ts';
import { RevisionLog } from '../log/revision-log.ts';
import type { Transaction } from '../protocol.ts';
import { STORE_SETTINGS } from '../settings.ts';

const BATCH_BYTES = 4 * 1024 * 1024;

export interface ReencryptionParts {
  /** Unopened; closed again at the end. */
  readonly engine: LocalEngine;
  readonly encryption: StoredEncryption;
  readonly media: StorageMedia;
  readonly wallMs: () => number;
}

export interface Reencrypted {
  readonly objects: number;
  readonly rewritten: number;
  readonly revision: number;
}

/**
 * Writes again what lies on disk in another form than would be written now, and forgets the history, which holds such
 * forms as well: watches begin anew. Throws what opening, recovery and commits throw.
 */
export async function reencryptStore(parts: ReencryptionParts): Promise<Reencrypted> {
  const { engine, encryption } = parts;
  try {
    const run = new Reencryption(parts);
    await run.open();
    try {
      const rewritten = await run.rewriteStale();
      await run.forgetHistory();
      return { objects: run.log.current.size, rewritten, revision: run.log.revision };
    } catch (error) {
      throw run.withProgress(error);
    } finally {
      await engine.close();
    }
  } finally {
    encryption.close();
  }
}

class Reencryption {
  readonly pool = new SlabPool(STORE_SETTINGS.slabBytes, new SharedState());
  readonly log: RevisionLog;
  readonly #parts: ReencryptionParts;
  /** Objects that are stored otherwise than they were found. */
  #rewritten = 0;

  constructor(parts: ReencryptionParts) {
    this.#parts = parts;
    this.log = new RevisionLog(this.pool, parts.media, parts.encryption);
  }

  /** What is refused is for a repair to look at, or for another configuration: the files are then as they were found. */
  async open(): Promise<void> {
    const { engine, encryption } = this.#parts;
    const contents = await engine.open();
    try {
      await recover(this.log, this.pool, engine, contents, { encryption });
    } catch (error) {
      await engine.close({ asFound: true });
      throw error;
    }
  }

  /** An error that says of one write that nothing came of it says so of the last one only. */
  withProgress(error: unknown): unknown {
    if (!isOrchError(error) || this.#rewritten === 0) return error;
    const done = `${this.#rewritten} objects had been rewritten before, and stay so`;
    return new OrchError(error.code, `${error.message}; ${done}: mend that, and run this again`);
  }

  async rewriteStale(): Promise<number> {
    const { pool, log } = this;
    const stale = [...log.current.values()].filter(({ slab, offset }) => isStale(pool.slab(slab), offset));
    const keys = stale.map(({ slab, offset }) => recordKey(pool.slab(slab), offset));
    let values: Buffer[] = [];
    let transactions: Transaction[] = [];
    let bytes = 0;
    for (const key of keys) {
      const { value, transaction } = this.#again(key, bytes);
      values.push(value);
      transactions.push(transaction);
      bytes += value.length;
      if (bytes < BATCH_BYTES) continue;
      await this.#commit(transactions, Buffer.concat(values));
      values = [];
      transactions = [];
      bytes = 0;
    }
    if (transactions.length > 0) await this.#commit(transactions, Buffer.concat(values));
    return keys.length;
  }

  /** A record without events, which vouches for the values, and nothing before it. */
  async forgetHistory(): Promise<void> {
    const { engine, wallMs } = this.#parts;
    const batch = this.log.checkpoint(wallMs());
    await engine.commit(batch);
    while (await engine.compact(batch.firstRevision - 1));
    await engine.reclaim?.();
  }

  /** The object as it is, to be written under its next revision; its bytes are to lie at `valueOffset`. */
  #again(key: string, valueOffset: number): { readonly value: Buffer; readonly transaction: Transaction } {
    const { revision, slab: number, offset } = this.log.current.get(key)!;
    const slab = this.pool.slab(number);
    const value = valueView(slab, offset);
    const put = {
      key,
      expect: revision,
      valueOffset,
      valueLength: value.length,
      revisionOffset: revisionOffset(slab, offset),
      itemOffset: itemOffset(slab, offset),
      attributes: recordAttributes(slab, offset),
      schemaGeneration: recordSchemaGeneration(slab, offset),
    };
    return { value, transaction: { operations: [put] } };
  }

  async #commit(transactions: readonly Transaction[], payload: Buffer): Promise<void> {
    const { engine, encryption, wallMs } = this.#parts;
    await encryption.readyFor(transactions);
    const { log } = this;
    const firstRevision = log.revision + 1;
    log.begin();
    for (const transaction of transactions) log.apply(transaction, payload);
    const batch = log.finish(firstRevision, wallMs());
    if (batch !== undefined) await engine.commit(batch);
    this.#rewritten += transactions.length;
    // Nobody watches: what was replaced need not stay in memory.
    log.compact(log.revision);
  }
}
