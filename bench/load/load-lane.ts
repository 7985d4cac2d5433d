// What a load and its connections see of each other.
import type { Connection, ConnectionSink } from './connection.ts';

/** One connection, on which one operation follows another. */
export interface Lane extends ConnectionSink {
  attach(connection: Connection): void;
  /** Begins an operation, if there is to be another. */
  next(nowMs: number): void;
  close(): void;
}

/** What lanes tell their load. */
export interface LaneLoad {
  /** The number of the next operation, or -1 when there is to be none. */
  takeSequence(): number;
  answered(sentMs: number, nowMs: number, bodyBytes: number, error: string | undefined): void;
  lost(error: Error): void;
}
