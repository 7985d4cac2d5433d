// What happens to an object between decoding and storing that depends on its kind: pruning, defaulting and the mutating
// steps. A table by `<group>/<plural>`; kinds without a row need nothing.
import type { JsonObject } from '../../api/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Dialect } from '../../config/dialect.ts';

/** Makes objects complete before they are validated. */
export interface ObjectPreparation {
  /** Of an object that is new. */
  readonly onCreate: (object: JsonObject, type: KnownType) => JsonObject;
  /** Of an object that replaces a stored one. */
  readonly onUpdate: (object: JsonObject, stored: JsonObject, type: KnownType) => JsonObject;
}

type Step = (object: JsonObject, dialect: Dialect) => JsonObject;

/** Steps of a create by store key. */
const CREATE_STEPS: Readonly<Record<string, Step>> = {
  'core/namespaces': (object, dialect) => namespaceFinalizer(nameLabel(object, dialect), dialect),
  'core/pods': (object) => podDefaults(object),
  'core/nodes': (object) => object,
};

const UPDATE_STEPS: Readonly<Record<string, Step>> = {
  'core/namespaces': nameLabel,
  'core/pods': (object) => podDefaults(object),
};

export function objectPreparation(dialect: Dialect): ObjectPreparation {
  return {
    onCreate: (object, type) => CREATE_STEPS[type.storageKey]?.(object, dialect) ?? object,
    onUpdate: (object, _stored, type) => UPDATE_STEPS[type.storageKey]?.(object, dialect) ?? object,
  };
}

/** Every namespace carries its name as a label (gate NamespaceDefaultLabelName). */
function nameLabel(object: JsonObject, dialect: Dialect): JsonObject {
  const metadata = object.metadata as { name: string; labels?: Record<string, string> };
  const key = dialect.spell('@label/metadata.name');
  if (metadata.labels?.[key] === metadata.name) return object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [key]: metadata.name } } };
}

/** The finalizer that keeps a namespace until its contents are gone. */
function namespaceFinalizer(object: JsonObject, dialect: Dialect): JsonObject {
  const spec = (object.spec ?? {}) as { finalizers?: string[] };
  const finalizers = spec.finalizers ?? [];
  if (finalizers.includes(dialect.brand)) return object;
  return { ...object, spec: { ...spec, finalizers: [...finalizers, dialect.brand] } };
}

/** The pod fields that scheduling, grace periods and clients count on. */
const POD_SPEC_DEFAULTS: JsonObject = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
};

function podDefaults(object: JsonObject): JsonObject {
  return { ...object, spec: { ...POD_SPEC_DEFAULTS, ...(object.spec as JsonObject | undefined) } };
}
