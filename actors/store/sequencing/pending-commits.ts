// Commits that wait for their batch, in order of arrival. Those that nobody waits for any more are dropped: behind a disk that
// stands still they would gather for as long as it does.
import type { AskMessage, Reply } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { SearchPace } from '../../../values/search-pace.ts';
import type { StoreProtocol } from '../protocol.ts';

/** So many commits that wait are not looked through for those that were given up (SearchPace). */
export const UNSEARCHED = 64;

export interface PendingCommit {
  readonly message: AskMessage<StoreProtocol, 'commit'>;
  readonly reply: Reply;
}

export class PendingCommits {
  readonly #transactionsMax: number;
  readonly #bytesMax: number;
  #waiting: PendingCommit[] = [];
  readonly #pace = new SearchPace(UNSEARCHED);

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
    if (this.#pace.isDue(this.#waiting.length)) this.#dropGivenUp();
  }

  #dropGivenUp(): void {
    this.#waiting = this.#waiting.filter(({ reply }) => {
      if (reply.isAwaited) return true;
      // An ask keeps its place in the mailbox until it is answered.
      reply.fail(givenUp());
      return false;
    });
    this.#pace.searched(this.#waiting.length);
  }

  /** The next batch: as many as its bounds allow, and at least one when any is waited for, since a message is not divided. */
  take(): PendingCommit[] {
    if (this.#waiting.some(({ reply }) => !reply.isAwaited)) this.#dropGivenUp();
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

/** What a commit is answered that nobody waits for any more, and that is not made for it. */
export function givenUp(): OrchError {
  return new OrchError('DeadlineExceeded', 'nobody waited for this write any more');
}
