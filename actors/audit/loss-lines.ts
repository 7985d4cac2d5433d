// What the log says of audit events that are lost. A backend that takes none, as on a full disk, loses some with each request: the first
// loss is told at once, and then every ten seconds how many more there were.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Timer } from '../../runtime/environment.ts';

const PERIOD_MS = 10_000;

interface Untold {
  count: number;
  reason: string;
  timer: Timer;
}

export class LossLines {
  readonly #context: Pick<ActorContext, 'log' | 'timers'>;
  /** By who loses them, from its first line on until it has lost nothing for a period. */
  readonly #untold = new Map<string, Untold>();

  constructor(context: Pick<ActorContext, 'log' | 'timers'>) {
    this.#context = context;
  }

  /** Of several reasons in a period the last is told. */
  lost(plugin: string, count: number, reason: string): void {
    const untold = this.#untold.get(plugin);
    if (untold === undefined) {
      this.#write(plugin, count, reason);
      this.#untold.set(plugin, { count: 0, reason, timer: this.#later(plugin) });
      return;
    }
    untold.count += count;
    untold.reason = reason;
  }

  /** Tells what has not been told, at the end. */
  flush(): void {
    for (const [plugin, { count, reason, timer }] of this.#untold) {
      timer.cancel();
      if (count > 0) this.#write(plugin, count, reason);
    }
    this.#untold.clear();
  }

  #later(plugin: string): Timer {
    return this.#context.timers.after(PERIOD_MS, () => {
      const untold = this.#untold.get(plugin)!;
      if (untold.count === 0) {
        this.#untold.delete(plugin);
        return;
      }
      this.#write(plugin, untold.count, untold.reason);
      untold.count = 0;
      untold.timer = this.#later(plugin);
    });
  }

  #write(plugin: string, count: number, reason: string): void {
    this.#context.log.warn({ plugin, count, reason }, 'audit events lost');
  }
}
