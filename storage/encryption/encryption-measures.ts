// What encryption tells of itself while it works.

/** Which way a value goes. */
export type TransformationType = 'to_storage' | 'from_storage';

/** Told of what happens to values and data keys. */
export interface EncryptionMeasures {
  /** `shown`: the provider's prefix, `identity`, or `unknown`. `ms`: how long it took; undefined when it failed. */
  transformed(type: TransformationType, shown: string, ms: number | undefined): void;
  /** A data key was made and wrapped, which took `ms`; undefined when it could not be. */
  dataKeyMade(ms: number | undefined): void;
  /** A value's data key has to be unwrapped by the service. */
  dataKeyMissed(): void;
  /** Of the data keys that may be kept unwrapped, so large a part is: from 0 to 1. */
  dataKeysKept(part: number): void;
}
