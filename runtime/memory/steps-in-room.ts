// Steps of one piece of work that go on side by side, each of which holds something large until it has ended.
import type { HeapShare } from './heap-share.ts';

/** A share has room for the largest of what it borrows; this borrows for all steps that are under way together. */
export class StepsInRoom {
  readonly #share: HeapShare;
  #underWay = 0;
  #bytes = 0;
  #wake: (() => void)[] = [];

  constructor(share: HeapShare) {
    this.#share = share;
  }

  /** What the step answers. It begins beside others only where there is room for all of them, and alone as `HeapShare.borrow` has it. */
  async run<T>(bytes: number, step: () => Promise<T>): Promise<T> {
    while (!this.#share.borrowBeside(this.#bytes + bytes) && this.#underWay > 0) await this.#oneEnded();
    this.#underWay++;
    this.#bytes += bytes;
    try {
      await this.#share.borrow(this.#bytes);
      return await step();
    } finally {
      this.#underWay--;
      this.#bytes -= bytes;
      const wake = this.#wake;
      this.#wake = [];
      for (const one of wake) one();
    }
  }

  #oneEnded(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve);
    });
  }
}
