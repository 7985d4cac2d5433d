// What this thread is doing just now: the request that the message being handled belongs to. One word for the thread,
// since one handler runs at a time; messages carry it on, and log lines show it.

/** In place of a number: no request. */
export const NO_REQUEST = 0;

/**
 * The request whose message is being handled, within the handler's call: what it sends belongs to the same. Code that goes
 * on later (after an `await`, in a timer) is in no turn, and names the request itself where it sends (AskOptions).
 */
export const turn = { requestNumber: NO_REQUEST };

/** Stays below what V8 keeps without a box. */
const NUMBER_MAX = 2 ** 30;

/** Numbers for the requests that come in on one thread: never those of another, and after a thousand million the same again. */
export class RequestNumbers {
  readonly #first: number;
  readonly #step: number;
  #next: number;

  /** `thread` of `threads`, counted from 0. */
  constructor(thread: number, threads: number) {
    this.#first = thread + 1;
    this.#step = threads;
    this.#next = this.#first;
  }

  take(): number {
    const number = this.#next;
    this.#next = number > NUMBER_MAX - this.#step ? this.#first : number + this.#step;
    return number;
  }
}
