// The shape of what is made at start. Pure data.

/** An object before its first write: no uid, resourceVersion or creationTimestamp yet. */
export interface BootstrapObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [part: string]: unknown;
}

/**
 * What happens to an object that is missing or differs.
 * - `recreate`: made again whenever it is missing; otherwise left alone.
 * - `create`: made at a start that does not find it; otherwise left alone.
 * - `restore`: made again when missing, and brought back when changed, also between starts.
 * - `extend`: at every start missing rules and subjects are added and none taken away, unless the autoupdate annotation
 *   says `false`; a binding to another role is made anew.
 * - `firstStart`: made only at a start that finds none of the mandatory objects of its kind; never restored.
 */
export type Upkeep = 'recreate' | 'create' | 'restore' | 'extend' | 'firstStart';

/** Objects that are made together. */
export interface BootstrapGroup {
  /** The post-start hook that makes them, as health checks name it (SPEC.md "Health endpoints"). */
  readonly hook: string;
  readonly upkeep: Upkeep;
  readonly objects: readonly BootstrapObject[];
}
