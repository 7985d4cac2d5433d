// What the log says of a shared engine that does not say how new its state is: once for each reason, and when it does again. Clients
// hear only that they are to come back.
import type { ActorContext } from '../../../runtime/actor.ts';
import { messageOf } from '../../../runtime/errors.ts';

const REASONS_MAX = 10;

export class Unreached {
  readonly #log: ActorContext['log'];
  /** Said since it last did: members fail in turns, each for a reason of its own. */
  readonly #said = new Set<string>();

  constructor(log: ActorContext['log']) {
    this.#log = log;
  }

  failed(error: unknown): void {
    const reason = messageOf(error);
    if (this.#said.has(reason) || this.#said.size === REASONS_MAX) return;
    this.#said.add(reason);
    this.#log.warn({ reason }, 'consistent reads and new writes are refused: the store does not say how new it is');
  }

  reached(): void {
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#log.info({}, 'the store says how new it is again');
  }
}
