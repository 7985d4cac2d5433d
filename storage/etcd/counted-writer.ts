// Batches of transactions that happen exactly once. A batch is one etcd transaction, each of its own a transaction inside it, so
// that they hold or fail one by one under one revision. It raises a counter of its writer, and holds only if that is where the
// batch before left it; a batch whose outcome is unknown is sent again until the counter says that it happened. Which of its
// transactions failed lies beside the counter then, where no compaction reaches it.
import { OrchError, type OrchErrorCode } from '../../runtime/errors.ts';
import { TOO_MANY } from '../engines/shared-engine.ts';
import {
  type EtcdCluster,
  type EtcdCompare,
  EtcdError,
  type EtcdErrorKind,
  type EtcdOperation,
  type EtcdTransaction,
  type TransactionAnswer,
} from './etcd-cluster.ts';
import type { Patience } from './patience.ts';

const NOTHING = Buffer.alloc(0);
/**
 * Refusals behind which a batch may have been made. etcd says that it is full also of the transaction that took the last of the room;
 * what one member refuses for its size another, which takes more, may have made when it was asked before and did not answer.
 */
const MAY_BE_MADE: ReadonlySet<EtcdErrorKind> = new Set(['full', 'tooLarge', 'tooMany']);
/** Of these, those that are refused again however often it is sent. */
const NEVER_MADE: ReadonlySet<EtcdErrorKind> = new Set(['tooLarge', 'tooMany']);
const ERROR_CODES: Readonly<Partial<Record<EtcdErrorKind, OrchErrorCode>>> = {
  full: 'StorageFull',
  tooLarge: 'StorageTooLarge',
  tooMany: 'StorageTooLarge',
};

/** What is written if all of it is as it is said to be. */
export interface GuardedWrites {
  readonly compare: readonly EtcdCompare[];
  readonly writes: readonly EtcdOperation[];
}

export interface WrittenBatch {
  readonly revision: number;
  /** Which transactions held, in their order. */
  readonly held: readonly boolean[];
  /** It was this answer that said so, and none that nobody heard before it. */
  readonly isHeard: boolean;
}

export interface WriterParts {
  readonly cluster: EtcdCluster;
  readonly patience: Patience;
  /** Of the counter; no other writer has it. */
  readonly key: string;
  /** Of the keyspace. */
  readonly identity: string;
  /** Etcd's revision at which it was written: who moves the keyspace away writes it anew first, and in another etcd it has another. */
  readonly identityAt: number;
}

export class CountedWriter {
  readonly #parts: WriterParts;
  /** That happened. */
  #batches = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  get key(): string {
    return this.#parts.key;
  }

  get batches(): number {
    return this.#batches;
  }

  /** One at a time. `beside`: done whatever holds. Rejects as `SharedEngine.commit` does; an EtcdError `refused` was not done. */
  async write(batch: readonly GuardedWrites[], beside: readonly EtcdOperation[] = []): Promise<WrittenBatch> {
    const request = this.#requestFor(batch, beside);
    let isSureNotDone = true;
    for (let tries = 0; ; tries++) {
      if (this.#parts.patience.isOver) throw new Error('the store was closed in the middle of a commit');
      let answer: TransactionAnswer;
      try {
        answer = await this.#parts.cluster.transact(request);
      } catch (error) {
        if (error instanceof EtcdError && error.kind === 'leaseOver') throw error;
        const made = error instanceof EtcdError && MAY_BE_MADE.has(error.kind) ? await this.#madeBefore() : undefined;
        if (made === undefined) {
          if (error instanceof EtcdError && error.kind !== 'unknown' && (isSureNotDone || NEVER_MADE.has(error.kind)))
            throw error;
          isSureNotDone = false;
          await this.#parts.patience.pause(tries);
          continue;
        }
        answer = made;
      }
      return answer.succeeded ? this.#done(answer, beside.length) : this.#found(batch, answer);
    }
  }

  /** What removes the counter, and what lies beside it. */
  removal(): readonly EtcdOperation[] {
    return [{ delete: { key: this.#parts.key } }, { delete: this.#failureKeys }];
  }

  /** The batch's outcome where it was made all the same; undefined: it was not. */
  async #madeBefore(): Promise<TransactionAnswer | undefined> {
    const { cluster, patience, key } = this.#parts;
    const { pairs, revision } = await patience.persistently(() => cluster.range({ key }));
    if (pairs[0]?.version !== this.#batches + 1) return undefined;
    const failures = await patience.persistently(() => cluster.range(this.#failureKeys));
    return {
      revision,
      succeeded: false,
      results: [pairs, failures.pairs].map((found) => ({ kind: 'range', pairs: found })),
    };
  }

  #requestFor(batch: readonly GuardedWrites[], beside: readonly EtcdOperation[]): EtcdTransaction {
    const { key, identity, identityAt } = this.#parts;
    return {
      compare: [
        { key, target: 'version', value: this.#batches },
        { key: identity, target: 'modRevision', value: identityAt },
      ],
      success: [
        { put: { key, value: Buffer.from(String(this.#batches + 1)) } },
        ...beside,
        ...batch.map(({ compare, writes }, index): EtcdOperation => {
          // One that fails leaves a key behind: rare, and what holds costs nothing more.
          const failure = [{ put: { key: this.#failureKey(index), value: NOTHING } }];
          return { txn: { compare, success: writes, failure } };
        }),
      ],
      failure: [{ range: { key } }, { range: this.#failureKeys }],
    };
  }

  #done({ revision, results }: TransactionAnswer, beside: number): WrittenBatch {
    this.#batches++;
    const held = results.slice(1 + beside).map((result) => result.kind === 'txn' && result.succeeded);
    return { revision, held, isHeard: true };
  }

  /** The counter is not where the batch before left it: it was this batch, sent before, or somebody else. */
  #found(batch: readonly GuardedWrites[], { results }: TransactionAnswer): WrittenBatch {
    const { key, identity } = this.#parts;
    const [counters, failures] = results.map((result) => (result.kind === 'range' ? result.pairs : []));
    const counter = counters?.[0];
    if ((counter?.version ?? 0) === this.#batches) {
      throw new OrchError(
        'StoreUnusable',
        `${identity} was changed: the store is being moved away, or another etcd answers`,
      );
    }
    if (counter?.version !== this.#batches + 1) {
      throw new OrchError('StoreUnusable', `the counter ${key} was changed by somebody else`);
    }
    this.#batches++;
    const revision = counter.modRevision;
    const failed = new Set(failures?.filter(({ modRevision }) => modRevision === revision).map((pair) => pair.key));
    return { revision, held: batch.map((_, index) => !failed.has(this.#failureKey(index))), isHeard: false };
  }

  get #failureKeys(): { readonly key: string; readonly end: string } {
    const { key } = this.#parts;
    return { key: `${key}/`, end: `${key}0` };
  }

  #failureKey(index: number): string {
    return `${this.#parts.key}/${index}`;
  }
}

/** What an engine rejects with where a batch was not done. */
export function refusedBatch(error: unknown): unknown {
  if (!(error instanceof EtcdError)) return error;
  const details = error.kind === 'tooMany' ? TOO_MANY : undefined;
  return new OrchError(ERROR_CODES[error.kind] ?? 'StorageFailed', error.message, details);
}
