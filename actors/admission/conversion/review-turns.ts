// How many reviews a definition's webhook is asked at a time: the others of that definition wait. Each definition has its own, since one
// whose webhook hangs would take all there are.

/** What the waiting reviews are for is bounded by the limits of requests. */
const REVIEWS_MAX = 32;

interface Turns {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class ReviewTurns {
  readonly #byName = new Map<string, Turns>();

  /** Undefined: now. Who began says when it has ended. */
  begin(definition: string): Promise<void> | undefined {
    let turns = this.#byName.get(definition);
    if (turns === undefined) {
      turns = { underWay: 0, waiting: [] };
      this.#byName.set(definition, turns);
    }
    if (turns.underWay < REVIEWS_MAX) {
      turns.underWay++;
      return undefined;
    }
    const { waiting } = turns;
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  }

  end(definition: string): void {
    const turns = this.#byName.get(definition)!;
    const next = turns.waiting.shift();
    // The next one has the turn of this one.
    if (next !== undefined) next();
    else if (--turns.underWay === 0) this.#byName.delete(definition);
  }
}
