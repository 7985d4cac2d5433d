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
