// A request's place among those that are worked on at once.

export interface Seat {
  /** The request has been served, or has failed, by now. Called once. */
  leave(nowMs: number): void;
}

/** Of requests that are not counted: those that may take as long as their clients like. */
export const UNCOUNTED: Seat = { leave: () => {} };
