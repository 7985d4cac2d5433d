// How a test makes an actor of breakable-roster.ts go wrong: by a file in the data directory. The actor that removes the file
// is the one that is meant: there may be several of a kind.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `break`: the actor throws in the middle of a message, and its thread ends. `stall`: its thread does nothing at all for a
 * while. `hold`: what is sent to it arrives late by a while, in order.
 */
export type Fault = { readonly type: 'break' } | { readonly type: 'stall' | 'hold'; readonly forMs: number };

/** The name of the file, in the data directory, that an actor of this kind looks for. */
export function faultFile(kind: string): string {
  return `fault-${kind}`;
}

/** Tells one actor of the kind to go wrong. */
export function injectFault(dataDirectory: string, kind: string, fault: Fault): void {
  const path = join(dataDirectory, faultFile(kind));
  // Whole when it is seen.
  writeFileSync(`${path}.new`, JSON.stringify(fault));
  renameSync(`${path}.new`, path);
}

/** Whether the last fault of this kind has been taken up. */
export function isFaultTaken(dataDirectory: string, kind: string): boolean {
  return !existsSync(join(dataDirectory, faultFile(kind)));
}

/** The environment variable that makes mailboxes smaller: `kind=size`, with commas between. */
export const MAILBOXES_VARIABLE = 'BREAKABLE_MAILBOXES';
