// What an attempt to delete all that extension servers have of a namespace came to. Plain data: it crosses threads.

export interface NamespaceSweep {
  /** Groups with versions whose types could not be asked for, and why. */
  readonly unknown: readonly (readonly [groupVersion: string, why: string])[];
  /** Types whose objects could not be deleted, and why. */
  readonly failures: readonly (readonly [type: string, why: string])[];
  /** Objects that are left. */
  readonly remaining: readonly (readonly [type: string, count: number])[];
  /** Objects that are left, by the finalizers that hold them. */
  readonly finalizers: readonly (readonly [finalizer: string, count: number])[];
}

export const NOTHING_LEFT: NamespaceSweep = { unknown: [], failures: [], remaining: [], finalizers: [] };

/** Nothing is left, and nothing is unknown. */
export function isSwept({ unknown, failures, remaining }: NamespaceSweep): boolean {
  return unknown.length + failures.length + remaining.length === 0;
}
