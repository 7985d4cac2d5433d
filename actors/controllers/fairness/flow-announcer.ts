// Tells every ingress what API priority and fairness goes by: once for all the changes of a turn, again to an ingress that
// has started anew, and again later to one that could not be told.
import type { ActorContext } from '../../../runtime/actor.ts';
import type { Timer } from '../../../runtime/environment.ts';
import type { FlowObjects } from '../../ingress/protocol.ts';

const TELL_AGAIN_MS = 100;

export class FlowAnnouncer {
  readonly #context: ActorContext;
  readonly #objects: () => FlowObjects | undefined;
  /** Indexes of ingresses that do not know yet. */
  readonly #untold = new Set<number>();
  #isAsked = false;
  #again: Timer | undefined;

  /** `objects`: undefined while they are not known, so that nothing is told. */
  constructor(context: ActorContext, objects: () => FlowObjects | undefined) {
    this.#context = context;
    this.#objects = objects;
  }

  /** What is to be told has changed. */
  announce(): void {
    for (const index of this.#context.refs('ingress').keys()) this.#untold.add(index);
    this.#tellSoon();
  }

  /** The thread of an actor was replaced. */
  peerRestarted(name: string): void {
    const index = this.#context.refs('ingress').findIndex((ref) => ref.name === name);
    if (index < 0) return;
    this.#untold.add(index);
    this.#tellSoon();
  }

  stop(): void {
    this.#again?.cancel();
    this.#untold.clear();
  }

  #tellSoon(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#context.timers.soon(() => {
      this.#isAsked = false;
      this.#tell();
    });
  }

  #tell(): void {
    const objects = this.#objects();
    if (objects === undefined) return;
    this.#again?.cancel();
    const ingresses = this.#context.refs('ingress');
    for (const index of this.#untold) {
      const told = ingresses[index]?.tell<'flowObjects'>({ type: 'flowObjects', ...objects });
      if (told !== 'full') this.#untold.delete(index);
    }
    if (this.#untold.size > 0) this.#again = this.#context.timers.after(TELL_AGAIN_MS, () => this.#tell());
  }
}
