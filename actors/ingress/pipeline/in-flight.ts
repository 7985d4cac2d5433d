// How many requests are worked on at once (SPEC.md "Limits"): reads and writes have a limit each; watches and the
// superusers' group are exempt. What is over a limit is refused at once, never queued.

import { SUPERUSERS } from '../../../api/authorization/attributes.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { Exchange } from './exchange.ts';

export interface InFlightLimits {
  /** Not writing; 0: no limit. */
  readonly readsMax: number;
  readonly writesMax: number;
}

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'GET', 'HEAD', 'OPTIONS']);

export class InFlight {
  readonly #limits: InFlightLimits;
  #reads = 0;
  #writes = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#reads + this.#writes;
  }

  get reads(): number {
    return this.#reads;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Runs `work` inside the limit that applies. Throws Overloaded when it is reached. */
  async within(exchange: Exchange, work: () => Promise<void>): Promise<void> {
    if (exchange.longRunning) return work();
    const isRead = READ_VERBS.has(exchange.verb);
    const { readsMax, writesMax } = this.#limits;
    const full = isRead ? readsMax > 0 && this.#reads >= readsMax : writesMax > 0 && this.#writes >= writesMax;
    if (full && !exchange.user.groups.includes(SUPERUSERS))
      throw new OrchError('Overloaded', 'too many requests in flight');
    if (isRead) this.#reads++;
    else this.#writes++;
    try {
      await work();
    } finally {
      if (isRead) this.#reads--;
      else this.#writes--;
    }
    return undefined;
  }
}
