// Deadlines of many asks, or of anything there is much of, on one timer: a hashed wheel of coarse ticks. An entry never expires early, and at most about
// one tick late on an idle thread. The timer runs only while entries are pending, plus one tick.
import type { Clock, Timer, Timers } from '../environment.ts';

/** Something with a deadline; itself the node of a slot's list, so that adding and removing allocate nothing. */
export interface DeadlineEntry {
  /** Owned by Deadlines. Undefined `next` means: not on the wheel. */
  previous: DeadlineEntry | undefined;
  next: DeadlineEntry | undefined;
  expiryTick: number;
  /** Called once, when the deadline has passed and the entry has left the wheel. */
  expire(): void;
}

/** Fit for asks. */
const TICK_MS = 50;
/** A power of two. Entries further off than one revolution stay in their slot until their own revolution. */
const SLOTS = 512;

class SlotEnd implements DeadlineEntry {
  previous: DeadlineEntry = this;
  next: DeadlineEntry = this;
  expiryTick = Number.POSITIVE_INFINITY;
  expire(): void {}
}

/** Deadlines that share a timer. */
export class Deadlines {
  private readonly clock: Clock;
  private readonly timers: Timers;
  private readonly tickMs: number;
  private readonly slots: readonly SlotEnd[] = Array.from({ length: SLOTS }, () => new SlotEnd());
  /** What is expiring just now: one entry's end may remove others. */
  private readonly due = new SlotEnd();
  private readonly originMs: number;
  /** Every tick up to here has been visited. */
  private visitedTick = 0;
  private ticker: Timer | undefined;
  private count = 0;

  /** `tickMs`: about how much later than asked an entry may expire. */
  constructor(clock: Clock, timers: Timers, tickMs: number = TICK_MS) {
    this.clock = clock;
    this.timers = timers;
    this.tickMs = tickMs;
    this.originMs = clock.monotonicMs();
  }

  /** Entries that wait for their deadline. */
  get pending(): number {
    return this.count;
  }

  /** Puts an entry on the wheel. A delay of zero or less expires at the next tick. */
  add(entry: DeadlineEntry, delayMs: number): void {
    const elapsedMs = this.clock.monotonicMs() - this.originMs;
    if (this.ticker === undefined) {
      this.visitedTick = Math.floor(elapsedMs / this.tickMs);
      this.ticker = this.timers.every(this.tickMs, this.tick);
    }
    const due = Math.ceil((elapsedMs + delayMs) / this.tickMs);
    entry.expiryTick = due > this.visitedTick ? due : this.visitedTick + 1;
    append(this.slots[entry.expiryTick & (SLOTS - 1)]!, entry);
    this.count++;
  }

  /** Takes an entry off the wheel; does nothing when it is not on it. */
  remove(entry: DeadlineEntry): void {
    if (unlink(entry)) this.count--;
  }

  /** Everything on the wheel, in no particular order. */
  entries(): readonly DeadlineEntry[] {
    return [...this.slots, this.due].flatMap((end) => {
      const entries: DeadlineEntry[] = [];
      for (let entry = end.next; entry !== end; entry = entry.next!) entries.push(entry);
      return entries;
    });
  }

  /** Stops the timer. Pending entries never expire. */
  close(): void {
    this.ticker?.cancel();
    this.ticker = undefined;
  }

  private readonly tick = (): void => {
    const nowTick = Math.floor((this.clock.monotonicMs() - this.originMs) / this.tickMs);
    // After a stall longer than a revolution every slot is visited once.
    const first = Math.max(this.visitedTick + 1, nowTick - SLOTS + 1);
    this.visitedTick = Math.max(this.visitedTick, nowTick);
    for (let tick = first; tick <= nowTick; tick++) this.expireSlot(this.slots[tick & (SLOTS - 1)]!, nowTick);
    if (this.count === 0) this.close();
  };

  private expireSlot(end: SlotEnd, nowTick: number): void {
    let entry = end.next;
    while (entry !== end) {
      const next = entry.next!;
      if (entry.expiryTick <= nowTick) {
        unlink(entry);
        append(this.due, entry);
      }
      entry = next;
    }
    while (this.due.next !== this.due) {
      const first = this.due.next;
      this.remove(first);
      first.expire();
    }
  }
}

function append(end: SlotEnd, entry: DeadlineEntry): void {
  entry.previous = end.previous;
  entry.next = end;
  end.previous.next = entry;
  end.previous = entry;
}

/** False when the entry is on no list. */
function unlink(entry: DeadlineEntry): boolean {
  const { previous, next } = entry;
  if (next === undefined || previous === undefined) return false;
  previous.next = next;
  next.previous = previous;
  entry.next = undefined;
  entry.previous = undefined;
  return true;
}
