// Which HTTP/1.1 answers are outstanding on which connection of the node listener. Node hands every pipelined request over
// at once, but tells only the answer whose turn it is that the connection is gone: the others hear it from here.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * On one connection, by pipelining: who asks for more before it has read any is sent away. Each is at work, and is held for its turn:
 * a connection could ask for thousands in a few records.
 */
const PIPELINED_MAX = 256;

export class OpenAnswers {
  /** Those that are outstanding, or that the operating system has not taken whole. */
  count = 0;
  readonly #bySocket = new WeakMap<Duplex, Set<ServerResponse>>();

  /**
   * To be called when a request has arrived. Its answer's `close` ends it, and comes whatever happens. False: it is one too many, and is
   * not to be served; its connection is cut.
   */
  begin(socket: Duplex, answer: ServerResponse): boolean {
    // What came in the same piece as the one that was too many still comes.
    if (socket.destroyed) return false;
    let open = this.#bySocket.get(socket);
    if (open === undefined) {
      open = new Set();
      this.#bySocket.set(socket, open);
      socket.once('close', () => this.#closeWaiting(socket));
    }
    const answers = open;
    if (answers.size >= PIPELINED_MAX) {
      socket.destroy();
      return false;
    }
    answers.add(answer);
    this.count++;
    answer.once('close', () => {
      answers.delete(answer);
      this.count--;
    });
    return true;
  }

  /** True while an answer is outstanding. */
  isBusy(socket: Duplex): boolean {
    return (this.#bySocket.get(socket)?.size ?? 0) > 0;
  }

  /** An answer whose turn has not come has no socket yet, and so no part in its close. */
  #closeWaiting(socket: Duplex): void {
    for (const answer of this.#bySocket.get(socket) ?? []) if (answer.socket === null) answer.emit('close');
  }
}
