// One open watch as the hub keeps it. There may be tens of thousands: it is its own entry among the deadlines, so that it
// needs neither a timer nor a closure.
import type { DeadlineEntry } from '../../../runtime/messages/deadlines.ts';
import type { Cohort } from './cohort.ts';

/** The consistent cut a watch begins with. */
export interface InitialState {
  readonly revision: number;
  /** Slab and offset of each object, two numbers each. */
  readonly places: Uint32Array;
  next: number;
  readonly pin: number;
}

/** What moves a watcher from one to the next: docs/WATCHES.md. */
export type WatcherState =
  /** Gets the cohort's chunks. */
  | 'live'
  /** Waits for `watchReady`: its socket is full, or its last catch-up chunk is on the way. */
  | 'waiting'
  /** The store was lost: goes on when it has been read again. */
  | 'suspended'
  /** Asked for a revision that has not been reached. */
  | 'future';

/** Who ends watches whose time is over. */
export interface WatcherOwner {
  end(watcher: Watcher): void;
}

export class Watcher implements DeadlineEntry {
  readonly id: number;
  cohort: Cohort;
  /** Everything up to here was delivered or does not concern this watcher. Kept only while not live. */
  position: number;
  state: WatcherState = 'waiting';
  /** How often its socket was reported full. */
  parks = 0;
  /** Has been sent something since the last such report: the ingress knows that it was heard. */
  parksAnswered = true;
  /** The initial state still to be sent; undefined when there is none left. */
  initial: InitialState | undefined;
  readonly initialEventsEnd: boolean;
  previous: DeadlineEntry | undefined = undefined;
  next: DeadlineEntry | undefined = undefined;
  expiryTick = 0;
  readonly #owner: WatcherOwner;

  /** `initial`: the state it begins with, when it does not begin at a position. */
  constructor(
    owner: WatcherOwner,
    id: number,
    cohort: Cohort,
    position: number,
    initial: InitialState | undefined,
    initialEventsEnd: boolean,
  ) {
    this.#owner = owner;
    this.id = id;
    this.cohort = cohort;
    this.position = position;
    this.initial = initial;
    this.initialEventsEnd = initialEventsEnd;
  }

  expire(): void {
    this.#owner.end(this);
  }
}
