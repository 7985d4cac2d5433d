// A long answer on its way out: pieces as they are made, here or in the pool, at the pace at which the client takes them.
import type { Transferable } from 'node:worker_threads';
import { isOrchError } from '../../../runtime/errors.ts';
import type { JobPool, PieceJob } from '../../../runtime/jobs/job-pool.ts';
import type { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type PacedWrite, pacedWriter } from './paced-writer.ts';

/** What long answers are made with. */
export interface LongWork {
  /** Lets the thread do other work. */
  readonly pause: () => Promise<void>;
  readonly jobs: JobPool;
  /** For objects that are held parsed until they have gone out. */
  readonly heapRoom: HeapRoom;
}

/** What is sent, as a job of the pool makes it, and the same as it is made `here`. */
interface PiecesOfJob<Input> {
  readonly job: PieceJob<Input>;
  readonly input: Input;
  /** Belongs to the job once the pool has taken it. */
  readonly moved?: readonly Transferable[];
  readonly here: () => Iterable<Uint8Array>;
}

export class PieceAnswer {
  readonly #exchange: Exchange;
  readonly #code: number;
  readonly #headers: HeaderList;
  #write: PacedWrite | undefined;

  constructor(exchange: Exchange, code: number, headers: HeaderList) {
    this.#exchange = exchange;
    this.#code = code;
    this.#headers = headers;
  }

  /** Sends pieces that are made here. `pause` lets the thread do other work between two of them. */
  async inSlices(pieces: Iterable<Uint8Array>, pause: () => Promise<void>): Promise<void> {
    const { response } = this.#exchange;
    for (const piece of pieces) {
      await this.#send(piece);
      if (response.aborted) return;
      await pause();
    }
    response.end();
  }

  /** Sends what a job of the pool makes; where the pool does not take it, what is made here. A client that goes away ends it. */
  async fromJob<Input>({ jobs, pause }: LongWork, { job, input, moved = [], here }: PiecesOfJob<Input>): Promise<void> {
    const { response } = this.#exchange;
    const take = async (piece: Uint8Array): Promise<boolean> => {
      await this.#send(piece);
      return !response.aborted;
    };
    try {
      await jobs.stream(job, input, take, moved);
    } catch (error) {
      const isNotTaken = this.#write === undefined && isOrchError(error, 'Overloaded');
      if (!isNotTaken) throw error;
      await this.inSlices(here(), pause);
      return;
    }
    if (!response.aborted) response.end();
  }

  /**
   * The answer begins with its first piece, in the same turn: what goes wrong before has an answer of its own, and the
   * headers need no byte of their own to be sent.
   */
  async #send(piece: Uint8Array): Promise<void> {
    if (piece.length === 0) return;
    if (this.#write === undefined) {
      this.#exchange.start(this.#code, this.#headers);
      this.#write = pacedWriter(this.#exchange);
    }
    await this.#write(piece);
  }
}
