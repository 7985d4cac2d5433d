// Subresources that are read and written as an object of another kind than their parent's: what the client sees of the
// stored object, and what the stored object becomes when the client changes that.
import type { CustomType } from './custom/definitions/custom-type.ts';
import type { DefinedScale } from './custom/definitions/definition.ts';
import type { JsonObject } from './json/json-value.ts';
import { ephemeralContainersOf, withEphemeralContainers } from './pods/ephemeral-containers.ts';
import { applyScale, requireReplicas, requireWish, type ScalePaths, scaleConfiguration, scaleOf } from './scale.ts';
import type { NamedType } from './status/failures.ts';

export interface SubresourceView {
  readonly apiVersion: string;
  readonly kind: string;
  /** What a client sends is validated as an object of this kind, before it is merged. */
  readonly isChecked: boolean;
  /** Throws StatusError where the object has nothing that can be read so, though it may be written. Absent: all have. */
  readonly requireReadable?: (stored: JsonObject) => void;
  /** Throws StatusError where a changed view leaves out what the object lacked before. Absent: none does. */
  readonly requireComplete?: (view: JsonObject) => void;
  /** What a client reads. */
  readonly of: (stored: JsonObject) => JsonObject;
  /** What a write is answered with, where that is something else. */
  readonly ofWritten?: (stored: JsonObject) => JsonObject;
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

/** How a scale is named that is not there to be read, where Kubernetes does not name its object. */
const MISSING_SCALES: Readonly<Record<string, NamedType>> = {
  'apps/deployments': { group: 'apps', plural: 'deployments/scale' },
  'apps/replicasets': { group: 'apps', plural: 'replicasets/scale' },
  'core/replicationcontrollers': { group: 'autoscaling', plural: 'replicationcontrollers/scale' },
};

/** What a read tells its client it has not found. */
export function missingName(type: NamedType & { readonly storageKey: string }, subresource: string): NamedType {
  return (subresource === 'scale' ? MISSING_SCALES[type.storageKey] : undefined) ?? type;
}

/** A type that may have come from a definition. */
interface ViewedType {
  readonly custom?: CustomType | undefined;
}

const customScales = new WeakMap<CustomType, SubresourceView>();

/** The scale of a custom type: where it is read and written, its definition says. */
function customScale(custom: CustomType, { specReplicasPath, statusReplicasPath, labelSelectorPath }: DefinedScale) {
  let view = customScales.get(custom);
  if (view === undefined) {
    const paths: ScalePaths = {
      replicas: membersOf(specReplicasPath),
      statusReplicas: membersOf(statusReplicasPath),
      selector: membersOf(labelSelectorPath),
    };
    view = {
      ...VIEWS.scale!,
      // Its replicas are looked at with the rest of the object.
      isChecked: false,
      requireReadable: (stored) => requireReplicas(stored, paths),
      requireComplete: (scale) => requireWish(scale, paths),
      of: (stored) => scaleOf(stored, paths) as unknown as JsonObject,
      ofWritten: (stored) => scaleOf(stored, paths, 0) as unknown as JsonObject,
      configurationOf: (scale, type) => scaleConfiguration(scale, type, paths),
      applied: (stored, scale, type) => applyScale(stored, scale, type, paths),
    };
    customScales.set(custom, view);
  }
  return view;
}

/** `.spec.replicas` member by member. */
function membersOf(path: string): readonly string[] {
  return path.split('.').filter((member) => member !== '');
}

/** Undefined for subresources that show the object itself. */
export function viewOf(subresource: string, { custom }: ViewedType): SubresourceView | undefined {
  if (custom?.version.scale !== undefined && subresource === 'scale') return customScale(custom, custom.version.scale);
  return Object.hasOwn(VIEWS, subresource) ? VIEWS[subresource] : undefined;
}
