// Which of the transactions that wait go into the next batch of a shared engine, and in what form. Decides and does nothing
// else. A batch is judged by the engine as one step: each of its transactions sees the state before all of them, so that none
// may name a key that one before it writes, nor one that a batch under way does; those wait for a later batch.
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import { REVISION_STRIDE, type SharedTransaction, type SharedWrite } from '../../../storage/engines/shared-engine.ts';
import type { UnreadableValue } from '../../../storage/following/publication.ts';
import { type StorageMedia, storedValueBytesMax, writeStoredValue } from '../../../storage/forms/stored-value.ts';
import type { RevisionLog } from '../log/revision-log.ts';
import { refusalOf } from '../log/transaction-check.ts';
import { DYING_PLACE, type VersionNumbers } from '../log/version-numbers.ts';
import { EXPECT_ABSENT, EXPECT_ANY, type PutOperation, type Transaction, type TransactionResult } from '../protocol.ts';
import type { PendingCommit } from './pending-commits.ts';

/** What a batch may hold, but for its first transaction, which it always does. */
export interface BatchLimits {
  /** etcd counts the operations of a batch and those of its largest transaction together. */
  readonly operations: number;
  readonly bytes: number;
}

/** etcd's own are 128, of which the engine has two, and 1.5 MiB, keys and the engine's own included. */
export const USUAL_LIMITS: BatchLimits = { operations: 126, bytes: 1024 * 1024 };
const BYTES_A_WRITE = 200;
const PLACES_MAX = REVISION_STRIDE - 2;

/** A transaction that waits for its outcome. */
export interface Candidate {
  readonly commit: PendingCommit;
  readonly index: number;
  readonly transaction: Transaction;
  /** What is known has been as new as everything acknowledged before this arrived: a refusal by it is final. */
  isFresh: boolean;
  /** Batches that it was in, in vain. */
  tries: number;
}

/** Of one that holds only if the first of its message does. */
export function isBehindFirst({ transaction, index }: Candidate): boolean {
  return transaction.isBehindFirst === true && index > 0;
}

/** What waits there, and behind it what may only be committed together with it. */
export function groupAt(waiting: readonly Candidate[], at: number): readonly [Candidate, ...Candidate[]] {
  const first = waiting[at]!;
  const group: [Candidate, ...Candidate[]] = [first];
  for (let next = waiting[at + 1]; next !== undefined; next = waiting[at + group.length]) {
    if (next.commit !== first.commit || !isBehindFirst(next)) break;
    group.push(next);
  }
  return group;
}

export interface Entry {
  readonly candidate: Candidate;
  readonly place: number;
  readonly shared: SharedTransaction;
}

export interface BatchParts {
  readonly log: RevisionLog;
  readonly numbers: VersionNumbers;
  readonly media: StorageMedia;
  readonly encryption: StoredEncryption | undefined;
  readonly limits: BatchLimits;
  /** Keys that nobody sees any more and that still lie in the engine, with the engine revision of each. */
  readonly remains: ReadonlyMap<string, number>;
  /** Keys whose values cannot be read: nobody knows what would be written over, or guarded. */
  readonly unreadable: Pick<ReadonlyMap<string, UnreadableValue>, 'get' | 'size'>;
  /** What batches under way write, and those that are formed beside this one; what this one writes is added. */
  readonly written: Set<string>;
  /** Keys of which one may be written at a time have one name in `written`. */
  readonly contendedAs: (key: string) => string;
}

export type Verdict = 'sent' | 'later' | 'barrier' | TransactionResult;

type Refusal = Extract<TransactionResult, { readonly ok: false }>;

/** One batch being put together. */
export class SharedBatch {
  readonly entries: Entry[] = [];
  readonly #parts: BatchParts;
  readonly #written: Set<string>;
  /** A revision is a version, which nothing else may have. */
  readonly #isOfOne: boolean;
  #place = 0;
  #bytes = 0;
  #largest = 0;
  readonly #revisionOf = (key: string): number => this.#parts.log.current.get(key)?.revision ?? 0;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#written = parts.written;
    this.#isOfOne = parts.numbers.stride === 1;
  }

  /** About what it is to the engine. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Nothing more can go in. */
  get isFull(): boolean {
    return this.#isOfOne && this.entries.length > 0;
  }

  /** What nobody else may write while this is under way. */
  get names(): readonly string[] {
    const keys = this.entries.flatMap(({ shared }) => shared.writes.map(({ key }) => key));
    return this.#isOfOne ? keys.map(this.#parts.contendedAs) : keys;
  }

  /** Takes a transaction in, or says why not: it has to wait, needs a barrier first, or does not hold. */
  add(candidate: Candidate): Verdict {
    const { transaction } = candidate;
    const { operations, guards = [] } = transaction;
    if (this.#namesWritten(transaction)) return this.#later(transaction);
    const refusal = this.#refusal(candidate);
    if (refusal !== undefined) return refusal;
    if (operations.length === 0) {
      if (!candidate.isFresh && guards.length > 0) return 'barrier';
      return { ok: true, revision: this.#parts.log.revision, places: [] };
    }
    if (this.#roomFor([candidate]) === 0) return this.#later(transaction);
    this.#take(candidate);
    return 'sent';
  }

  /** Takes in the first of a message and those behind it together, as `add` does one. Verdicts in their order. */
  addTogether(group: readonly [Candidate, ...Candidate[]]): readonly Verdict[] {
    const [first, ...behind] = group;
    const all = (verdict: Verdict): readonly Verdict[] => group.map(() => verdict);
    if (group.some(({ transaction }) => this.#namesWritten(transaction))) return all(this.#laterAll(group));
    const refusal = this.#refusal(first);
    if (refusal === 'barrier') return all('barrier');
    if (refusal !== undefined) {
      const reason = refusal.reason === 'unreadable' ? 'unreadable' : 'guard';
      return [refusal, ...behind.map((): Verdict => ({ ...refusal, reason }))];
    }
    const refusals = behind.map((candidate) => this.#refusal(candidate));
    if (refusals.includes('barrier')) return all('barrier');
    const named = new Set(first.transaction.operations.map(({ key }) => key));
    for (const [at, { transaction }] of behind.entries()) refusals[at] ??= this.#refusalBeside(transaction, named);
    const live = behind.filter((_, at) => refusals[at] === undefined);
    const room = this.#roomFor([first, ...live]);
    if (room <= live.length && this.entries.length > 0) return all(this.#laterAll(group));
    this.#take(first);
    const { guards, writes } = this.entries.at(-1)!.shared;
    const conditions = [...guards, ...writes.map(({ key, expect }) => ({ key, revision: expect }))];
    for (const candidate of live.slice(0, room - 1)) this.#take(candidate, conditions);
    const left = new Set(live.slice(room - 1));
    const verdicts = behind.map((candidate, at): Verdict => {
      if (left.has(candidate)) return this.lostBehind(candidate);
      return refusals[at] ?? 'sent';
    });
    return ['sent', ...verdicts];
  }

  /** What becomes of one that is not committed although the first of its message is: whoever wrote it begins again. */
  lostBehind({ transaction }: Candidate): Refusal {
    const { key } = transaction.operations[0]!;
    return { ok: false, reason: 'changed', key, currentRevision: this.#revisionOf(key) };
  }

  /** What nobody sees any more goes for good where there is room. */
  sweep(): readonly SharedTransaction[] {
    const swept: SharedTransaction[] = [];
    for (const [key, expect] of this.#parts.remains) {
      if (this.entries.length + swept.length + this.#largest + 2 > this.#parts.limits.operations) break;
      if (!this.#isWritten(key)) {
        swept.push({ guards: [], writes: [{ key, expect, value: undefined }], place: PLACES_MAX });
      }
    }
    return swept;
  }

  /** Its keys are not to be written by one that came after it. */
  #later({ operations }: Transaction): 'later' {
    for (const { key } of operations) this.#note(key);
    return 'later';
  }

  #note(key: string): void {
    this.#written.add(this.#parts.contendedAs(key));
  }

  #isWritten(key: string): boolean {
    return this.#written.has(this.#parts.contendedAs(key));
  }

  #laterAll(group: readonly Candidate[]): 'later' {
    for (const { transaction } of group) this.#later(transaction);
    return 'later';
  }

  #namesWritten({ operations, guards = [] }: Transaction): boolean {
    return [...operations, ...guards].some(({ key }) => this.#isWritten(key));
  }

  /** Why it does not hold, if what is known is enough to say so. */
  #refusal({ transaction, isFresh }: Candidate): Refusal | 'barrier' | undefined {
    const refusal = this.#unread(transaction) ?? refusalOf(transaction, this.#revisionOf);
    if (refusal === undefined) return undefined;
    return isFresh || isCertain(transaction, refusal) ? refusal : 'barrier';
  }

  /** There is something at a key that cannot be read: who expects nothing there learns that, and nobody else is served. */
  #unread({ operations, guards = [] }: Transaction): Refusal | undefined {
    const { unreadable } = this.#parts;
    if (unreadable.size === 0) return undefined;
    const found = [...operations, ...guards].find(({ key }) => unreadable.get(key) !== undefined);
    if (found === undefined) return undefined;
    const { key, expect } = found;
    const reason = 'valueOffset' in found && expect === EXPECT_ABSENT ? 'exists' : 'unreadable';
    return { ok: false, reason, key, currentRevision: this.#revisionOf(key), why: unreadable.get(key)!.why };
  }

  /** Of two that name a key in one message the second begins again. Adds what it names. */
  #refusalBeside({ operations, guards = [] }: Transaction, named: Set<string>): Refusal | undefined {
    const taken = [...operations, ...guards].find(({ key }) => named.has(key));
    if (taken === undefined) for (const { key } of operations) named.add(key);
    return taken && { ok: false, reason: 'changed', key: taken.key, currentRevision: this.#revisionOf(taken.key) };
  }

  /** How many of a group have room, from the first on; the first of a batch always does. */
  #roomFor(group: readonly Candidate[]): number {
    let [place, bytes, largest, count] = [this.#place, this.#bytes, this.#largest, this.entries.length];
    const conditions = group.length > 1 ? sizeOf(group[0]!.transaction) : 0;
    const { limits } = this.#parts;
    for (const [at, { transaction }] of group.entries()) {
      place += (transaction.thenRemoves ?? []).length > 0 ? 2 : 1;
      bytes += bytesOf(transaction);
      largest = Math.max(largest, sizeOf(transaction) + (at === 0 ? 0 : conditions));
      count++;
      const hasRoom = place <= PLACES_MAX && bytes <= limits.bytes && count + largest <= limits.operations;
      if ((!hasRoom || this.#isOfOne) && count > 1) return at;
    }
    return group.length;
  }

  /** `conditions`: of the first of its message, for one behind it. */
  #take(candidate: Candidate, conditions: SharedTransaction['guards'] = []): void {
    const { transaction, commit } = candidate;
    const { operations, guards = [], thenRemoves = [] } = transaction;
    const place = this.#place;
    this.#place += thenRemoves.length > 0 ? 2 : 1;
    this.#bytes += bytesOf(transaction);
    this.#largest = Math.max(this.#largest, sizeOf(transaction) + conditions.length);
    const writes = operations.map((operation): SharedWrite => {
      const { key } = operation;
      this.#note(key);
      const expect = this.#lyingRevision(key);
      if ('delete' in operation) return { key, expect, value: undefined };
      const isDying = thenRemoves.includes(key);
      const value = this.#stored(operation, commit.message.payload, place, isDying && !this.#isOfOne);
      // A revision has no second version for what comes after.
      return isDying && this.#isOfOne ? { key, expect, value: undefined, last: value } : { key, expect, value };
    });
    const watched = guards.filter(({ expect }) => expect !== EXPECT_ANY);
    const shared = {
      guards: [...conditions, ...watched.map(({ key }) => ({ key, revision: this.#lyingRevision(key) }))],
      writes,
      place,
    };
    this.entries.push({ candidate, place, shared });
  }

  /** The engine revision under which a key lies there, seen or not; 0: it does not. */
  #lyingRevision(key: string): number {
    const current = this.#parts.log.current.get(key);
    return current === undefined ? (this.#parts.remains.get(key) ?? 0) : this.#parts.numbers.engineOf(current.revision);
  }

  /** A value that does not know its revision yet: it says its place, and when its object was made if that was before. */
  #stored(put: PutOperation, payload: Uint8Array, place: number, isDying: boolean): Uint8Array {
    const { key, attributes, valueOffset, valueLength, schemaGeneration, revisionOffset, itemOffset } = put;
    const head = {
      revision: isDying ? place + DYING_PLACE : place,
      bornRevision: this.#parts.log.current.get(key)?.bornRevision ?? 0,
      schemaGeneration,
      revisionOffset,
      itemOffset,
    };
    const json = payload.subarray(valueOffset, valueOffset + valueLength);
    const target = Buffer.allocUnsafe(storedValueBytesMax(attributes, valueLength, itemOffset));
    const length = writeStoredValue(target, 0, key, head, attributes, json, this.#parts.media);
    const stored = target.subarray(0, length);
    return this.#parts.encryption === undefined ? stored : this.#parts.encryption.seal(key, stored);
  }
}

/** Versions only grow: an object that is newer than expected stays so. What is gone may be there again, and the reverse. */
function isCertain(
  { operations, guards = [] }: Transaction,
  { key, currentRevision }: Extract<TransactionResult, { ok: false }>,
): boolean {
  const expect = [...guards, ...operations].find((one) => one.key === key)?.expect ?? 0;
  return expect > 0 && currentRevision > expect;
}

function sizeOf({ operations, guards = [] }: Transaction): number {
  return operations.length + guards.length;
}

function bytesOf({ operations }: Transaction): number {
  let bytes = 0;
  for (const operation of operations) bytes += BYTES_A_WRITE + ('delete' in operation ? 0 : operation.valueLength);
  return bytes;
}
