// Nobody is told that a version is past who asks for one that history has to reach back to: a 410 is right where more has changed
// since than history is to hold, or where it has been kept for as long as it is to be. Pure.
import type { Change, Committed } from './committed.ts';
import type { History, Scope } from './history.ts';

/** What history is kept to in a run. */
export interface HistoryBounds {
  /** The smallest of all lives of the server. */
  readonly events: number;
  readonly bytes: number;
  /** By age; 0: never. */
  readonly intervalMs: number;
  /**
   * How much older than it is a change may seem to a server that has been started again: it knows when its commit was begun, and by
   * the clock on the wall alone.
   */
  readonly ageSlackMs: number;
  /** When a moment of the run was, by a clock that nobody sets. */
  readonly msAt: (moment: number) => number;
}

/** Types whose history nothing else ends. */
const LASTING: ReadonlySet<string> = new Set(['core/configmaps', 'core/secrets', 'core/pods']);
/** What compaction leaves of a bound, without what it may take along to leave no version in parts. */
const SHARE_LEFT = 0.8;
/** Beyond its text a record has a head, a key and attributes, and text is longer than it looks. */
const RECORD_BYTES = 500;

/** What is wrong, one line each. */
export function checkHistory(
  { operations, watches }: History,
  committed: Committed,
  bounds: HistoryBounds,
): readonly string[] {
  const problems: string[] = [];
  const check = (who: string, { storageKey }: Scope, revision: number, moment: number): void => {
    if (!LASTING.has(storageKey)) return;
    const since = committed.changes.filter((change) => change.revision > revision && change.durable < moment);
    if (!mayBePast(since, moment, bounds)) {
      problems.push(`${who} was told that ${revision} is past, there were ${since.length} changes since`);
    }
  };
  for (const operation of operations) {
    const { kind, client, invoked, returned } = operation;
    if (kind !== 'list' || operation.freshness !== 'exact' || operation.outcome !== 'expired') continue;
    check(`client ${client}, list @${invoked}`, operation, operation.asked, returned);
  }
  for (const watch of watches) {
    // One that began with the present ends when its hub begins anew in the middle of that.
    if (watch.end !== 'expired' || watch.after === undefined) continue;
    const position = watch.events.at(-1)?.object.revision ?? watch.after;
    check(`client ${watch.client}, watch @${watch.opened}`, watch, position, watch.over ?? Number.POSITIVE_INFINITY);
  }
  return problems;
}

function mayBePast(since: readonly Change[], moment: number, bounds: HistoryBounds): boolean {
  const { events, bytes, intervalMs, ageSlackMs, msAt } = bounds;
  if (since.length === 0) return false;
  if (since.length >= events * SHARE_LEFT - 1) return true;
  if (since.reduce((sum, change) => sum + bytesKeptFor(change), 0) >= bytes * SHARE_LEFT) return true;
  return intervalMs > 0 && msAt(moment) - msAt(since[0]!.durable) + ageSlackMs >= intervalMs;
}

/** What was replaced, and what says that something was removed. */
function bytesKeptFor({ before, after }: Change): number {
  const replaced = before === undefined ? 0 : before.text.length + RECORD_BYTES;
  return after === undefined ? 2 * replaced : replaced;
}
