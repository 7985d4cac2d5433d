// What a thread and its actors are about at one moment, for who wonders why nothing happens. Read when asked for.

export interface ActorState {
  readonly actor: string;
  /** Messages not yet handled. */
  readonly waiting: number;
  /** Asks handled and not yet answered. */
  readonly unanswered: number;
  readonly handled: number;
  readonly turnMsMax: number;
  /** Batches of messages that waited to be handled, and how long their first did. Zero where waits are not measured. */
  readonly waits: number;
  readonly waitMs: number;
}

export interface ThreadState {
  readonly thread: string;
  readonly actors: readonly ActorState[];
  /** Answers that actors of this thread wait for, by who was asked. */
  readonly awaited: readonly (readonly [actor: string, asks: number])[];
}
