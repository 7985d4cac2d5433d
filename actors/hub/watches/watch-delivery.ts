// The hub's end of the way to the ingress: chunks for many watchers, for one that catches up, and the ends of watches. A
// full ingress loses its watchers, never a part of what they see.
import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { PatientTells } from '../../patient-tells.ts';
import type { WatchDeliveryProtocol } from '../protocol.ts';
import type { Watcher } from './watcher.ts';

export const NO_CHUNK = new Uint8Array();

export interface WatchDeliveryOptions {
  readonly ingress: Ref<WatchDeliveryProtocol>;
  readonly timers: Timers;
  /** The ingress could not take a chunk: these watchers missed it and are over. */
  readonly onRefused: (watchers: readonly number[]) => void;
}

export class WatchDelivery {
  readonly #options: WatchDeliveryOptions;
  /** A client that is not told that its watch is over would wait for ever. */
  readonly #ends: PatientTells<WatchDeliveryProtocol>;

  constructor(options: WatchDeliveryOptions) {
    this.#options = options;
    this.#ends = new PatientTells(options.ingress, options.timers);
  }

  /** The same bytes for all of them. */
  live(watchers: readonly number[], chunk: Uint8Array, throughRevision: number): void {
    const frames = { type: 'watchFrames', watchers, chunk, throughRevision, catchUp: false, parks: 0 } as const;
    this.#told(watchers, this.#options.ingress.tellSoon<'watchFrames'>(frames));
  }

  /** What brings a watcher to its position; an empty chunk only answers its full socket. */
  catchUp(watcher: Watcher, chunk: Uint8Array): void {
    const { id, position: throughRevision, parks } = watcher;
    watcher.parksAnswered = true;
    const watchers = [id];
    const frames = { type: 'watchFrames', watchers, chunk, throughRevision, catchUp: true, parks } as const;
    this.#told(watchers, this.#options.ingress.tell<'watchFrames'>(frames));
  }

  /** Tried until the ingress takes it. */
  ended(watchers: readonly number[], chunk: Uint8Array): void {
    this.#ends.tell<'watchEnded'>({ type: 'watchEnded', watchers, chunk });
  }

  #told(watchers: readonly number[], outcome: 'queued' | 'full'): void {
    if (outcome === 'queued') return;
    // The ingress is drowning. Their clients resume from what they saw.
    this.#options.onRefused(watchers);
    this.ended(watchers, NO_CHUNK);
  }
}
