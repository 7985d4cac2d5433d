// A long answer on its way out: pieces as they are made, here or in the pool, at the pace at which the client takes them.
import type { Transferable } from 'node:worker_threads';
import type { JobPool, PieceJob } from '../../../runtime/job-pool.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type PacedWrite, pacedWriter } from './paced-writer.ts';

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

  /** Sends what a job of the pool makes. A client that goes away ends it. `moved` belongs to the job from here on. */
  async fromJob<Input>(
    jobs: JobPool,
    job: PieceJob<Input>,
    input: Input,
    moved: readonly Transferable[] = [],
  ): Promise<void> {
    const { response } = this.#exchange;
    const take = async (piece: Uint8Array): Promise<boolean> => {
      await this.#send(piece);
      return !response.aborted;
    };
    await jobs.stream(job, input, take, moved);
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
