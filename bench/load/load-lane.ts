// What a load and its connections see of each other.
import type { Connection, ConnectionSink } from './connection.ts';

/** One connection, on which one operation follows another. */
export interface Lane extends ConnectionSink {
  attach(connection: Connection): void;
  /** Begins an operation, if there is to be another. */
  next(nowMs: number): void;
  close(): void;
}

/** What is wrong with an answer of so many bytes, if something is. */
export function tooShort(bodyBytes: number, bytesMin = 0): string | undefined {
  return bodyBytes < bytesMin
    ? `an answer of ${bodyBytes} bytes holds less than the ${bytesMin} that were asked for`
    : undefined;
}

/** What lanes tell their load. */
export interface LaneLoad {
  /** The number of the next operation, or -1 when there is to be none. */
  takeSequence(): number;
  answered(sentMs: number, nowMs: number, bodyBytes: number, error: string | undefined): void;
  lost(error: Error): void;
}
