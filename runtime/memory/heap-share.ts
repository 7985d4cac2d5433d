// What one piece of work takes of a room on the heap that others share.
import type { HeapRoom } from './heap-room.ts';

/** Taken as the work comes to know what it needs, and given back as a whole. */
export class HeapShare {
  readonly #room: HeapRoom;
  #kept = 0;
  #bytes = 0;
  #growth: Promise<void> | undefined;
  #hasEnded = false;
  #smallKept = 0;
  #smallBorrowed = 0;

  constructor(room: HeapRoom) {
    this.#room = room;
  }

  /** Before anything else, what is held until the work has ended: resolves when there is room for it. */
  async keep(bytes: number): Promise<void> {
    this.#kept = bytes;
    await this.#grow(bytes);
  }

  /** The same of what is held for a while, one after the other: it has room for the largest. */
  async borrow(bytes: number): Promise<void> {
    while (!this.#hasEnded && this.#bytes < this.#kept + bytes) {
      this.#growth ??= this.#grow(this.#kept + bytes - this.#bytes);
      await this.#growth;
    }
  }

  /** The same as `borrow` in this turn; false where it would have to wait. */
  borrowNow(bytes: number): boolean {
    const more = this.#kept + bytes - this.#bytes;
    if (more <= 0) return true;
    if (this.#growth !== undefined || !this.#room.takeNow(more, this.#bytes > 0)) return false;
    this.#bytes += more;
    return true;
  }

  /** As `borrowNow`, beside what is under way with it already: false also where all that is at work would come to more than the room. */
  borrowBeside(bytes: number): boolean {
    const more = this.#kept + bytes - this.#bytes;
    return more <= 0 || (this.#room.holds(more) && this.borrowNow(bytes));
  }

  /** As `keep`, of what is not counted: it comes to so much at most. False where there is too much of that to go on like this. */
  keepSmall(bytesAtMost: number): boolean {
    if (!this.#room.takeSmall(bytesAtMost)) return false;
    this.#smallKept += bytesAtMost;
    return true;
  }

  /** As `borrow`, of the same. */
  borrowSmall(bytesAtMost: number): boolean {
    const more = bytesAtMost - this.#smallBorrowed;
    if (more <= 0) return true;
    if (!this.#room.takeSmall(more)) return false;
    this.#smallBorrowed = bytesAtMost;
    return true;
  }

  /** When it has ended; also where a part of it still waits for more, as one of several workers does when another has failed. */
  giveBack(): void {
    this.#hasEnded = true;
    this.#giveBackSmall();
    if (this.#bytes === 0 || this.#growth !== undefined) return;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.giveBack(bytes);
  }

  #giveBackSmall(): void {
    const small = this.#smallKept + this.#smallBorrowed;
    if (small === 0) return;
    this.#smallKept = 0;
    this.#smallBorrowed = 0;
    this.#room.giveBackSmall(small);
  }

  async #grow(bytes: number): Promise<void> {
    await this.#room.take(bytes, this.#bytes > 0);
    this.#bytes += bytes;
    this.#growth = undefined;
    if (this.#hasEnded) this.giveBack();
  }
}
