// Subresources that are read and written as an object of another kind than their parent's: what the client sees of the
// stored object, and what the stored object becomes when the client changes that.
import type { JsonObject } from './json-value.ts';
import { ephemeralContainersOf, withEphemeralContainers } from './pods/ephemeral-containers.ts';
import { applyScale, scaleConfiguration, scaleOf } from './scale.ts';
import type { NamedType } from './status/failures.ts';

export interface SubresourceView {
  readonly apiVersion: string;
  readonly kind: string;
  /** What a client sends is validated as an object of this kind, before it is merged. */
  readonly isChecked: boolean;
  /** What a client reads. */
  readonly of: (stored: JsonObject) => JsonObject;
  /** The configuration of the object itself that an applied view stands for; absent: it cannot be applied. */
  readonly configurationOf?: (view: JsonObject, type: NamedType & WholeKind) => JsonObject;
  /** The object that a changed view stands for. Throws StatusError for a view of another object. */
  readonly applied: (stored: JsonObject, view: JsonObject, type: NamedType) => JsonObject;
}

interface WholeKind {
  readonly apiVersion: string;
  readonly kind: string;
}

const VIEWS: Readonly<Record<string, SubresourceView>> = {
  scale: {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    isChecked: true,
    of: (stored) => scaleOf(stored) as unknown as JsonObject,
    configurationOf: scaleConfiguration,
    applied: applyScale,
  },
  ephemeralcontainers: {
    apiVersion: 'v1',
    kind: 'EphemeralContainers',
    isChecked: false,
    of: ephemeralContainersOf,
    applied: withEphemeralContainers,
  },
};

/** Undefined for subresources that show the object itself. */
export function viewOf(subresource: string): SubresourceView | undefined {
  return Object.hasOwn(VIEWS, subresource) ? VIEWS[subresource] : undefined;
}
