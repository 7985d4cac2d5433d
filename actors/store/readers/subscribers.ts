// Who follows the store: sends each publication once to every subscriber, in order, and gives up those that fall behind
// by more than their mailbox. A subscriber given up is told so until it hears it, and subscribes again. Its epoch stands
// until then: what it was sent before it may still be reading.
import type { ActorContext, Protocol, Ref } from '../../../runtime/actor.ts';
import type { Timer } from '../../../runtime/environment.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { SlabPool } from '../../../storage/records/slab-pool.ts';
import type { SharedState } from '../../../storage/shared-state.ts';
import type { StoreFeedTells } from '../protocol.ts';
import { HeldPublications, type News, type Patience } from './held-publications.ts';

const TELL_LOST_RETRY_MS = 50;

interface FeedProtocol extends Protocol {
  readonly asks: Record<never, never>;
  readonly tells: StoreFeedTells;
}

interface Subscriber {
  readonly ref: Ref<FeedProtocol>;
  readonly readerSlot: number;
  readonly isPatient: boolean;
  /** Slabs with a lower number are known to it. */
  knownSlabs: number;
  /** `lost`: missed a publication and has not heard so. `told`: has; hears nothing more until it subscribes again. */
  state: 'following' | 'lost' | 'told';
}

export class Subscribers {
  readonly #context: ActorContext;
  readonly #shared: SharedState;
  readonly #pool: SlabPool;
  readonly #byName = new Map<string, Subscriber>();
  readonly #held: HeldPublications;
  #retry: Timer | undefined;
  /** Tells this store's publications from those of one before it, which may still be on their way. */
  readonly incarnation: number;
  /** The last publication's number. */
  sequence = 0;

  constructor(context: ActorContext, shared: SharedState, pool: SlabPool, patience: Patience) {
    this.#context = context;
    this.#shared = shared;
    this.#pool = pool;
    const { clock, timers } = context;
    this.#held = new HeldPublications({ ...patience, clock, timers, send: (news) => this.#send(news, true) });
    this.incarnation = Math.floor(context.random.next() * Number.MAX_SAFE_INTEGER);
  }

  get count(): number {
    return this.#byName.size;
  }

  /**
   * Registers an actor from the present publication on; a second time replaces the first. Returns its epoch slot. One that
   * subscribes again keeps its epoch, which it raises itself when it has let go of what it read before.
   */
  add(name: string, isPatient = false): number {
    // What is held is in the present that it begins with.
    this.#held.flush();
    const readerSlot = this.#byName.get(name)?.readerSlot ?? this.#shared.claimReader(this.sequence);
    if (readerSlot === undefined) throw new OrchError('Overloaded', 'no reader slot is free');
    this.#byName.set(name, {
      ref: this.#context.refNamed<FeedProtocol>(name),
      readerSlot,
      isPatient,
      knownSlabs: this.#pool.count,
      state: 'following',
    });
    return readerSlot;
  }

  /** Forgets an actor that reads nothing any more. */
  remove(name: string): void {
    const subscriber = this.#byName.get(name);
    if (subscriber === undefined) return;
    this.#shared.freeReader(subscriber.readerSlot);
    this.#byName.delete(name);
  }

  /** Ends a subscription from here: the actor is told to subscribe again. */
  lose(name: string): void {
    const subscriber = this.#byName.get(name);
    if (subscriber === undefined) return;
    subscriber.state = 'lost';
    this.#tellLost();
  }

  publish(batch: Omit<News, 'sequence' | 'after'>): void {
    const after = this.sequence++;
    const news = { ...batch, sequence: this.sequence, after };
    this.#send(news, false);
    this.#held.add(news);
  }

  /** To those who are patient, or those who are not. */
  #send(news: News, toPatient: boolean): void {
    const { sequence, after, lastRevision, compactedRevision, runs, movedRuns, unreadable } = news;
    let isAnyLost = false;
    for (const [name, subscriber] of this.#byName) {
      if (subscriber.isPatient !== toPatient) continue;
      if (subscriber.state === 'lost') isAnyLost = true;
      if (subscriber.state !== 'following') continue;
      const newSlabs = this.#pool.memories(subscriber.knownSlabs);
      const batch = {
        type: 'storeBatch' as const,
        incarnation: this.incarnation,
        sequence,
        after,
        lastRevision,
        compactedRevision,
        runs,
        movedRuns,
        newSlabs,
        ...(unreadable && { unreadable }),
      };
      // Whoever is not patient hears of it before who wrote it is answered, where both are on this thread.
      const sent = toPatient ? subscriber.ref.tell<'storeBatch'>(batch) : subscriber.ref.tellSoon<'storeBatch'>(batch);
      if (sent === 'queued') {
        subscriber.knownSlabs = this.#pool.count;
        continue;
      }
      this.#context.log.warn({ subscriber: name, sequence }, 'subscriber fell behind');
      subscriber.state = 'lost';
      isAnyLost = true;
    }
    if (isAnyLost) this.#tellLost();
  }

  /** Tried again with each publication, and by time: the next publication may be long in coming. */
  #tellLost(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    let isAnyLost = false;
    for (const subscriber of this.#byName.values()) {
      if (subscriber.state !== 'lost') continue;
      if (subscriber.ref.tell<'storeLost'>({ type: 'storeLost' }) === 'queued') subscriber.state = 'told';
      else isAnyLost = true;
    }
    if (isAnyLost) this.#retry = this.#context.timers.after(TELL_LOST_RETRY_MS, () => this.#tellLost());
  }
}
