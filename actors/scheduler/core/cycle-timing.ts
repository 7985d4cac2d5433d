// How long the extension points of a scheduling cycle take, told to whoever wants to know. The core has no clock of its own: it is
// given one with this, and decides the same without it.
import type { Status } from '../status.ts';

/** As the field's metrics name them. */
export type TimedPoint =
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'Reserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind';

/** How an extension point, or a plug-in's part in one, has ended, in the field's words. */
export type TimedOutcome = 'Success' | 'Error' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Wait' | 'Skip';

export interface CycleTiming {
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Asked once a cycle: whether the calls of single plug-ins are timed in it, which costs more. */
  readonly isSampled: () => boolean;
  /** All plug-ins of a point, from `beganMs` until now. */
  readonly point: (profile: string, point: TimedPoint, outcome: TimedOutcome, beganMs: number) => void;
  readonly plugin: (plugin: string, point: TimedPoint, outcome: TimedOutcome, beganMs: number) => void;
}

const nothing = (): void => {};

/** Nobody wants to know. */
export const NO_TIMING: CycleTiming = { nowMs: () => 0, isSampled: () => false, point: nothing, plugin: nothing };

const OUTCOMES: Readonly<Record<Status['code'], TimedOutcome>> = {
  unschedulable: 'Unschedulable',
  unresolvable: 'UnschedulableAndUnresolvable',
  error: 'Error',
};

/** What a plug-in's answer counts as. */
export function outcomeOf(status: Status | null): TimedOutcome {
  return status === null ? 'Success' : OUTCOMES[status.code];
}
