// What an actor takes from the runtime instead of from Node: clock, timers, randomness, disk. The real ones are in
// real-environment.ts; the simulation supplies virtual, seeded ones. Actor code calls no Date.now, setTimeout,
// Math.random, randomUUID or fs.

/** Time as the actor sees it. */
export interface Clock {
  /** Wall time, milliseconds since 1970. May step. */
  nowMs(): number;
  /** Monotonic milliseconds with fraction, for measuring. */
  monotonicMs(): number;
}

/** A started timer. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/** Timers whose callbacks run as turns of the actor that started them. They do not keep the process alive. */
export interface Timers {
  after(delayMs: number, callback: () => void): Timer;
  every(intervalMs: number, callback: () => void): Timer;
  /** Runs after the I/O and messages already waiting, at the end of this event-loop turn. */
  soon(callback: () => void): void;
}

/** Randomness. Not for keys or tokens, except `bytes`, which is cryptographic in the real environment. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An RFC 4122 version 4 UUID in lower case. */
  uuid(): string;
  bytes(count: number): Uint8Array;
}

/** The few file operations actors need besides the store engine. Paths are absolute. */
export interface Disk {
  readFile(path: string): Promise<Uint8Array>;
  /** Writes to a neighbour, syncs, and renames over `path`: the file is whole or unchanged. */
  writeFileAtomic(path: string, bytes: Uint8Array, mode?: number): Promise<void>;
  exists(path: string): Promise<boolean>;
  makeDirectory(path: string): Promise<void>;
}

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly disk: Disk;
}
