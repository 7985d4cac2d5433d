// Which HTTP/1.1 answers are outstanding on which connection of the node listener. Node hands every pipelined request over
// at once, but tells only the answer whose turn it is that the connection is gone: the others hear it from here.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export class OpenAnswers {
  /** Those that are outstanding, or that the operating system has not taken whole. */
  count = 0;
  readonly #bySocket = new WeakMap<Duplex, Set<ServerResponse>>();

  /** To be called when a request has arrived. Its answer's `close` ends it, and comes whatever happens. */
  begin(socket: Duplex, answer: ServerResponse): void {
    let open = this.#bySocket.get(socket);
    if (open === undefined) {
      open = new Set();
      this.#bySocket.set(socket, open);
      socket.once('close', () => this.#closeWaiting(socket));
    }
    const answers = open;
    answers.add(answer);
    this.count++;
    answer.once('close', () => {
      answers.delete(answer);
      this.count--;
    });
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
