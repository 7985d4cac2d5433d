// The refusal of a store whose files do not add up. Its own kind of error among those that keep a store from opening, since
// it has its own way out: `orch store check` and `orch store repair`.
import { isOrchError, OrchError } from '../../runtime/errors.ts';

const DETAILS = { damaged: true } as const;

/** Of the file beside the database that says up to where commits were acknowledged. */
export const MARKER_DAMAGE = 'the file head cannot be read, which says up to where writes were acknowledged';

/** `what` completes "the store is damaged: …"; `directory` is named where it is known. */
export function storeDamage(what: string, directory?: string): OrchError {
  const store = directory === undefined ? 'the store' : `the store in ${directory}`;
  return new OrchError('StoreUnusable', `${store} is damaged: ${what}`, DETAILS);
}

/** The first of several damages, and how many more there are. */
export function firstOf(damages: readonly string[]): string {
  return damages.length < 2 ? (damages[0] ?? '') : `${damages[0]} (and ${damages.length - 1} more)`;
}

/** True for an error that `storeDamage` made, in whichever thread. */
export function isStoreDamage(error: unknown): error is OrchError {
  return (
    isOrchError(error, 'StoreUnusable') && (error.details as Partial<typeof DETAILS> | undefined)?.damaged === true
  );
}
