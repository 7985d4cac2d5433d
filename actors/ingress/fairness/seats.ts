// The seats that the ingresses of all threads share: how many requests of each priority level (or of each kind, without
// fairness) are worked on at a time. Counted in shared memory, so that taking and giving back cost no message, and never more
// than the limit are taken. While several threads have requests that wait, each is owed a part of the seats by the flows that
// wait there, so that none starves beside a busier one. Parts are seldom whole: threads take turns with the seats that are part of a
// seat to each of them. A free seat that is another's is said to be (`owedTo`), and the caller sends that thread a message.
import { createHash } from 'node:crypto';
import type { SeatLender } from './queue-set.ts';

/** Threads with an ingress, at most. */
export const SEAT_THREADS_MAX = 64;
/** Names with shared seats at a time; each further one has its part of them on each thread. */
const SLOTS = 512;

/**
 * Words of a slot: two for the hash of its name, how many seats are taken, how many were given while several threads wanted them,
 * and what each thread says of itself.
 */
const HASH = 0;
const TAKEN = 2;
const TURNS = 3;
const FIRST_THREAD = 4;
const JOINED = 0;
const HELD = 1;
const WAITING = 2;
/** What TURNS was when the thread last took a seat. */
const LAST_TURN = 3;
const WORDS_OF_THREAD = 4;
const SLOT_WORDS = FIRST_THREAD + SEAT_THREADS_MAX * WORDS_OF_THREAD;
/** Before the slots: held while they are given out, and how many ingresses each thread has had. */
const LOCK = 0;
const LIVES = 1;
const FIRST_SLOT = LIVES + SEAT_THREADS_MAX;

/** For the settings of a server: one for all of its threads, and another for each start of the process. */
export function seatMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer((FIRST_SLOT + SLOTS * SLOT_WORDS) * Int32Array.BYTES_PER_ELEMENT);
}

/** One thread's view of the seats. */
export class SharedSeats {
  readonly #words: Int32Array;
  readonly #place: Place;

  /** Gives back what an ingress before this one held on the thread, since its requests ended with it. */
  constructor(memory: SharedArrayBuffer, thread: number, threads: number) {
    this.#words = new Int32Array(memory);
    const life = Atomics.add(this.#words, LIVES + thread, 1) + 1;
    this.#place = { thread, threads, life };
    for (let slot = 0; slot < SLOTS; slot++) this.#vacate(FIRST_SLOT + slot * SLOT_WORDS);
  }

  /** The seats of a name, the same on every thread; to be left (`leave`) when the name means nothing any more. */
  of(name: string, limit: number): Seats {
    const slot = this.#claim(name);
    if (slot !== undefined) return new Seats(this.#words, slot, this.#place, limit);
    const own = new Int32Array(new SharedArrayBuffer((FIRST_SLOT + SLOT_WORDS) * Int32Array.BYTES_PER_ELEMENT));
    const { thread, threads, life } = this.#place;
    own[LIVES + thread] = life;
    return new Seats(own, FIRST_SLOT, { thread, threads: 1, life }, Math.max(1, Math.floor(limit / threads)));
  }

  leave(seats: Seats): void {
    if (seats.isOf(this.#words)) this.#vacate(seats.slot);
  }

  // A thread that ends between two words would leave a seat taken for ever; nothing of ours can end one there.
  #vacate(slot: number): void {
    const own = slot + FIRST_THREAD + this.#place.thread * WORDS_OF_THREAD;
    if (Atomics.load(this.#words, own + JOINED) === 0) return;
    const held = Atomics.exchange(this.#words, own + HELD, 0);
    if (held !== 0) Atomics.sub(this.#words, slot + TAKEN, held);
    Atomics.store(this.#words, own + WAITING, 0);
    Atomics.store(this.#words, own + JOINED, 0);
  }

  /** Undefined where there are too many names. */
  #claim(name: string): number | undefined {
    const digest = createHash('sha256').update(name).digest();
    const [first, second] = [digest.readInt32LE(0), digest.readInt32LE(4)];
    // Held for some microseconds, and only when the configuration changes.
    while (Atomics.compareExchange(this.#words, LOCK, 0, 1) !== 0);
    try {
      const words = this.#words;
      let free: number | undefined;
      let slot: number | undefined;
      for (let at = FIRST_SLOT; at < words.length && slot === undefined; at += SLOT_WORDS) {
        if (!this.#isUsed(at)) free ??= at;
        else if (words[at + HASH] === first && words[at + HASH + 1] === second) slot = at;
      }
      slot ??= free;
      if (slot === undefined) return undefined;
      words[slot + HASH] = first;
      words[slot + HASH + 1] = second;
      Atomics.store(words, slot + FIRST_THREAD + this.#place.thread * WORDS_OF_THREAD + JOINED, 1);
      return slot;
    } finally {
      Atomics.store(this.#words, LOCK, 0);
    }
  }

  #isUsed(slot: number): boolean {
    for (let thread = 0; thread < this.#place.threads; thread++) {
      if (Atomics.load(this.#words, slot + FIRST_THREAD + thread * WORDS_OF_THREAD + JOINED) !== 0) return true;
    }
    return false;
  }
}

interface Place {
  readonly thread: number;
  readonly threads: number;
  /** What an ingress gives back after another has taken its place counts no more. */
  readonly life: number;
}

/** The seats of one name, as one thread takes them. */
export class Seats implements SeatLender {
  readonly slot: number;
  /** Infinity: there is none. */
  limit: number;
  readonly #words: Int32Array;
  readonly #place: Place;
  readonly #own: number;

  constructor(words: Int32Array, slot: number, place: Place, limit: number) {
    this.#words = words;
    this.slot = slot;
    this.#place = place;
    this.limit = limit;
    this.#own = slot + FIRST_THREAD + place.thread * WORDS_OF_THREAD;
  }

  /** Of all threads. */
  get taken(): number {
    return Atomics.load(this.#words, this.slot + TAKEN);
  }

  isOf(words: Int32Array): boolean {
    return this.#words === words;
  }

  take(flows: number): boolean {
    const words = this.#words;
    const all = this.#place.threads > 1 ? this.#flowsWaiting(flows) : flows;
    if (all !== flows && !this.#isOurs(flows, all)) return false;
    const at = this.slot + TAKEN;
    for (let taken = Atomics.load(words, at); taken < this.limit; ) {
      const found = Atomics.compareExchange(words, at, taken, taken + 1);
      if (found === taken) {
        Atomics.add(words, this.#own + HELD, 1);
        if (all !== flows) Atomics.store(words, this.#own + LAST_TURN, Atomics.add(words, this.slot + TURNS, 1) + 1);
        return true;
      }
      taken = found;
    }
    return false;
  }

  giveBack(): void {
    if (Atomics.load(this.#words, LIVES + this.#place.thread) !== this.#place.life) return;
    Atomics.sub(this.#words, this.#own + HELD, 1);
    Atomics.sub(this.#words, this.slot + TAKEN, 1);
  }

  setWaiting(flows: number): void {
    if (this.#place.threads > 1) Atomics.store(this.#words, this.#own + WAITING, flows);
  }

  /** The thread that a free seat is owed to, and that has to be told; undefined: none is free, or none waits elsewhere. */
  owedTo(): number | undefined {
    const { thread: own, threads } = this.#place;
    if (threads === 1 || this.taken >= this.limit) return undefined;
    const waiting = this.#waiting(own);
    const next = this.#next(waiting, this.#flowsWaiting(waiting));
    return next === own ? undefined : next;
  }

  /** Whether one more seat is within this thread's part, or is its turn. `flows`: that want seats here; `all`: on all threads. */
  #isOurs(flows: number, all: number): boolean {
    return (
      (this.#held(this.#place.thread) + 1) * all <= this.limit * flows || this.#next(flows, all) === this.#place.thread
    );
  }

  /**
   * Of the threads that have less than their part, the one whose turn it is: turns come the sooner the more flows wait there. There is
   * one as long as a seat is free and somebody waits.
   */
  #next(flows: number, all: number): number | undefined {
    const { thread: own, threads } = this.#place;
    const turns = Atomics.load(this.#words, this.slot + TURNS);
    let next: number | undefined;
    let longest = -1;
    for (let thread = 0; thread < threads; thread++) {
      const waiting = thread === own ? flows : this.#waiting(thread);
      if (this.#held(thread) * all >= this.limit * waiting) continue;
      const waited = ((turns + 1 - this.#lastTurn(thread)) >>> 0) * waiting;
      if (waited <= longest) continue;
      next = thread;
      longest = waited;
    }
    return next;
  }

  /** On all threads, `own` of them on this. */
  #flowsWaiting(own: number): number {
    const { thread: here, threads } = this.#place;
    let flows = own;
    for (let thread = 0; thread < threads; thread++) if (thread !== here) flows += this.#waiting(thread);
    return flows;
  }

  #lastTurn(thread: number): number {
    return Atomics.load(this.#words, this.slot + FIRST_THREAD + thread * WORDS_OF_THREAD + LAST_TURN);
  }

  #waiting(thread: number): number {
    return Atomics.load(this.#words, this.slot + FIRST_THREAD + thread * WORDS_OF_THREAD + WAITING);
  }

  #held(thread: number): number {
    return Atomics.load(this.#words, this.slot + FIRST_THREAD + thread * WORDS_OF_THREAD + HELD);
  }
}
