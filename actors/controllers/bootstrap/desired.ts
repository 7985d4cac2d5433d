// One object that a cluster has from its start, and when and how it is set right. Types only.
import type { WriteParameters, WriteTarget } from '../../admission/protocol.ts';
import type { ApiObject } from '../controller.ts';

/** A change of an object that is there: its new form, or `replace` when it must be deleted and made again. */
export type Correction = ApiObject | 'replace' | undefined;

/** When an object is looked at again after the start, besides when it fails: by seconds, at every change, or never. */
export type Review = 'every10s' | 'every60s' | 'onChange' | 'never';

/**
 * `onFirstStart`: made only where the objects `afterSuggested` were not all there when the server began; who deletes it later is
 * believed. `afterSuggested`: made when all of those are, so that a start that was cut short is not taken for a later one.
 */
export type Prerequisite = 'onFirstStart' | 'afterSuggested';

/** One object that should exist. */
export interface Desired {
  readonly storageKey: string;
  /** Of the object itself. */
  readonly target: WriteTarget;
  readonly object: ApiObject;
  /** The key of another such object, of which it was a part once, and what it is made as where that one is there; absent: as `object`. */
  readonly splitFrom?: { readonly key: string; readonly body: (source: ApiObject) => ApiObject };
  /** With which it is made and set right; absent: none. */
  readonly parameters?: WriteParameters;
  /** The hook that is not done before the object is there. */
  readonly hook: string;
  readonly review: Review;
  /** What must have been before it may be made, as `Prerequisite` says; absent: nothing. */
  readonly only?: Prerequisite;
  /** What to change in the stored object; undefined: nothing. `isStart`: it has not been right yet since the start. */
  readonly correct?: (stored: ApiObject, isStart: boolean, nowMs: number) => Correction;
  /** What to change when this server stops. */
  readonly retire?: (stored: ApiObject) => ApiObject | undefined;
}
