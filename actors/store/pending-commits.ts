// Commits that wait for their batch, in order of arrival.
import type { AskMessage, Reply } from '../../runtime/actor.ts';
import type { StoreProtocol } from './protocol.ts';

export interface PendingCommit {
  readonly message: AskMessage<StoreProtocol, 'commit'>;
  readonly reply: Reply;
}

export class PendingCommits {
  readonly #transactionsMax: number;
  readonly #bytesMax: number;
  #waiting: PendingCommit[] = [];

  /** Bounds of one batch: transactions, and bytes of values. */
  constructor(transactionsMax: number, bytesMax: number) {
    this.#transactionsMax = transactionsMax;
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(commit: PendingCommit): void {
    this.#waiting.push(commit);
  }

  /** The next batch: as many as its bounds allow, and at least one when any wait, since a message is not divided. */
  take(): PendingCommit[] {
    let transactions = 0;
    let bytes = 0;
    let count = 0;
    for (const { message } of this.#waiting) {
      bytes += message.payload.byteLength;
      if (count > 0 && (transactions >= this.#transactionsMax || bytes > this.#bytesMax)) break;
      transactions += message.transactions.length;
      count++;
    }
    const taken = this.#waiting;
    this.#waiting = taken.splice(count);
    return taken;
  }
}
