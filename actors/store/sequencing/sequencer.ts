// What puts the store's commits in order: over an engine of this process alone (local-sequencer.ts), or over one that others
// write to as well (shared-sequencer.ts). The store's actor knows no more of either than this.
import { OrchError } from '../../../runtime/errors.ts';
import type { EngineView } from '../../../storage/engines/local-engine.ts';
import type { PendingCommit } from './pending-commits.ts';

export interface Sequencer {
  /** Opens the engine and fills the log; resolves with the key for continue tokens. The engine is closed again on a rejection. */
  open(): Promise<Uint8Array>;
  /** The log holds nothing that is not committed. */
  readonly isSettled: boolean;
  /** 0 or 1: whether writes are stored, as far as the last one says. */
  readonly writable: number;
  /** How long a commit has been waiting for the engine; 0 when none is. */
  readonly waitedMs: number;
  accept(commit: PendingCommit): void;
  /** A health check failed: where only a write would tell whether the disk still refuses writes, it is found out without one. */
  doubted?(): void;
  /** The window was compacted: the engine may have something to forget as well. */
  compacted(): void;
  /** A revision at least as new as everything acknowledged anywhere before the call, published by then. */
  barrier(): Promise<number>;
  /** What is committed now, as it is stored where one process writes. Throws or rejects what reading the engine does. */
  view(): EngineView;
  /** Ends when everything accepted has been answered; the engine is closed then. */
  stop(): Promise<void>;
}

/** What an error leads to after which nobody knows what is stored: it does not come back. */
export type Fail = (error: unknown) => void;

/** The answer to commits that come too late. */
export function storeStopped(): OrchError {
  return new OrchError('ActorDown', 'the store has stopped');
}
