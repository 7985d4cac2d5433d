// Who follows the store: sends each publication once to every subscriber, in order, and gives up those that fall behind
// by more than their mailbox. A subscriber given up is told so until it hears it, and subscribes again.
import type { ActorContext, Protocol, Ref } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { SharedState } from '../../storage/shared-state.ts';
import type { SlabPool } from '../../storage/slab-pool.ts';
import type { StoreBatch, StoreFeedTells } from './protocol.ts';

interface FeedProtocol extends Protocol {
  readonly asks: Record<never, never>;
  readonly tells: StoreFeedTells;
}

interface Subscriber {
  readonly ref: Ref<FeedProtocol>;
  readonly readerSlot: number;
  /** Slabs with a lower number are known to it. */
  knownSlabs: number;
  /** Lost messages: hears nothing but `storeLost` from now on. */
  lost: boolean;
}

export class Subscribers {
  readonly #context: ActorContext;
  readonly #shared: SharedState;
  readonly #pool: SlabPool;
  readonly #byName = new Map<string, Subscriber>();
  /** The last publication's number. */
  sequence = 0;

  constructor(context: ActorContext, shared: SharedState, pool: SlabPool) {
    this.#context = context;
    this.#shared = shared;
    this.#pool = pool;
  }

  get count(): number {
    return this.#byName.size;
  }

  /** Registers an actor from the present publication on; a second time replaces the first. Returns its epoch slot. */
  add(name: string): number {
    this.remove(name);
    const readerSlot = this.#shared.claimReader(this.sequence);
    if (readerSlot === undefined) throw new OrchError('Overloaded', 'no reader slot is free');
    this.#byName.set(name, {
      ref: this.#context.refNamed<FeedProtocol>(name),
      readerSlot,
      knownSlabs: this.#pool.count,
      lost: false,
    });
    return readerSlot;
  }

  remove(name: string): void {
    const subscriber = this.#byName.get(name);
    if (subscriber === undefined) return;
    this.#shared.freeReader(subscriber.readerSlot);
    this.#byName.delete(name);
  }

  publish(batch: Omit<StoreBatch, 'sequence' | 'newSlabs'>): void {
    this.sequence++;
    for (const [name, subscriber] of this.#byName) {
      if (!subscriber.lost) {
        const newSlabs = this.#pool.memories(subscriber.knownSlabs);
        const sent = subscriber.ref.tell<'storeBatch'>({
          type: 'storeBatch',
          ...batch,
          sequence: this.sequence,
          newSlabs,
        });
        if (sent === 'queued') {
          subscriber.knownSlabs = this.#pool.count;
          continue;
        }
        subscriber.lost = true;
        this.#context.log.warn({ subscriber: name, sequence: this.sequence }, 'subscriber fell behind');
      }
      this.#giveUp(name, subscriber);
    }
  }

  #giveUp(name: string, subscriber: Subscriber): void {
    if (subscriber.ref.tell<'storeLost'>({ type: 'storeLost' }) === 'queued') this.remove(name);
  }
}
