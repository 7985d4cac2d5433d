// What one built-in controller is: a pure follower of the feed that says which keys are due, and what to write for a
// key. It awaits nothing and performs nothing; the work queue does, and asks again after every failure.

import type { User } from '../../api/authorization/attributes.ts';
import type { WriteVerb } from '../../api/verbs.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import type { WriteParameters, WriteTarget } from '../admission/protocol.ts';
import type { FirstObjects } from '../store/protocol.ts';

/** An API object as parsed from the store: some client made it, so nothing about its shape is certain. */
export type ApiObject = Readonly<Record<string, unknown>>;

/** One write through the API. A delete of what is gone already counts as done. */
export interface Write {
  readonly verb: WriteVerb;
  readonly target: WriteTarget;
  readonly parameters?: WriteParameters;
  /** Sent as JSON (a patch as a JSON merge patch); none when absent. */
  readonly body?: object;
  /** Another server has the object: a delete or a patch. */
  readonly isElsewhere?: true;
  /** On whose behalf, where it is another than the controller's. */
  readonly as?: Identity;
}

/** What a delete rests on: an object that is another, or has changed since it was seen, stays. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A delete of an object as it was seen. `more`: further options of it. */
export function deletionOf(target: WriteTarget, preconditions: Preconditions, more: object = {}): Write {
  return { verb: 'delete', target, body: { apiVersion: 'v1', kind: 'DeleteOptions', ...more, preconditions } };
}

/** How a write ended. */
export interface WriteOutcome {
  readonly ok: boolean;
  /** The HTTP code; 0 when there was no answer, in which case the write may still happen. */
  readonly code: number;
  /** Why it failed; empty when it did not. */
  readonly message: string;
  /** The answer's body, when it is not a stored object. */
  readonly body: ApiObject | undefined;
}

/** What to do about one key now. */
export interface Plan {
  /** Performed together, in no order. If one fails, the key is planned again, from the newest state, after a backoff. */
  readonly writes: readonly Write[];
  /** Plan the key again after this even when nothing happens. Absent: only when it is made due. */
  readonly againAfterMs?: number;
}

/** The plan of a key that is as it should be. */
export const NOTHING: Plan = { writes: [] };

/** Where a controller says which of its keys want planning. Saying so twice is the same as once. */
export interface Due {
  add(key: string): void;
}

/** On whose behalf a controller writes. */
export interface Identity {
  readonly user: User;
  readonly userAgent: string;
}

/**
 * One built-in controller. Its state is a function of the events since the last `reset`, so that a restart loses
 * nothing. All writes it plans are idempotent: the same key may be planned again before the feed shows the outcome.
 */
export interface Controller {
  /** Names the queue in metrics and logs. */
  readonly name: string;
  readonly identity: Identity;
  /** Storage keys of the types it follows. */
  readonly wants: readonly string[];
  /** It follows the objects of all custom types as well. */
  readonly wantsCustom?: boolean;
  /**
   * All that it goes by: it is told of these objects before all others, and begins when it has been. Absent: it begins when it has
   * been told of everything.
   */
  readonly goesBy?: FirstObjects;
  /** It acts on what is not there. It rests while something that it wants is there and cannot be read. */
  readonly countsAbsence?: boolean;
  /** Keys worked on at the same time. */
  readonly keysInFlightMax: number;
  /** The longest pause after a failure; absent: half a minute. */
  readonly backoffMaxMs?: number;
  /** The stream begins anew: forget everything. */
  reset(): void;
  /** One object or change. The event's `object()` may be called within; the result is shared and must not be changed. */
  onEvent(event: FeedEvent): void;
  /** The object is as it was, and lies elsewhere: for who keeps its record. */
  onMoved?(event: FeedEvent): void;
  /**
   * The state is whole, as far as it goes by it: says of all there is what is due. Nothing is planned between `reset` and this. Called
   * again when this server is to do the work after another did it: what was due meanwhile is forgotten.
   */
  onSynced(): void;
  plan(key: string): Plan;
  /** Called for each write of a plan, before the key can be planned again. */
  onOutcome?(key: string, write: Write, outcome: WriteOutcome): void;
  /** Nothing is planned any more: ends timers, and says what must be undone. Called again when those writes failed. */
  onStop?(): readonly Write[];
}
