// What happens to an object between decoding and storing that depends on its kind: defaulting, and the steps that a table
// of defaults cannot say. Kinds without a row need no step.
import { type Requester, updatedRequest, withRequester } from '../../api/certificates/request-strategy.ts';
import { decode } from '../../api/codec/decode.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { deepEqual } from '../../api/deep-equal.ts';
import { gatedFieldDropper } from '../../api/features/drop-gated.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Schema } from '../../api/schema/schema.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
import type { Dialect } from '../../config/dialect.ts';

/** Makes objects complete before they are validated. The objects given belong to the caller's write and may be changed. */
export interface ObjectPreparation {
  /** A new object that says who asks for it, where its kind does. */
  readonly requested: (object: JsonObject, type: KnownType, user: Requester) => JsonObject;
  /** A new object as its creator means it, with the defaults of its type. */
  readonly completed: (object: JsonObject, type: KnownType) => JsonObject;
  /** A completed object with what the server adds to it, in canonical form. */
  readonly admitted: (object: JsonObject, type: KnownType) => JsonObject;
  /** Of an object that replaces a stored one. */
  readonly onUpdate: (object: JsonObject, stored: JsonObject, type: KnownType, update: UpdateFacts) => JsonObject;
}

/** What of an update its steps depend on. */
export interface UpdateFacts {
  readonly subresource: string;
  readonly nowIso: string;
}

type Step = (object: JsonObject, dialect: Dialect) => JsonObject;
type UpdateStep = (object: JsonObject, stored: JsonObject, update: UpdateFacts) => JsonObject;

/** What a client's shorthand stands for, by store key. */
const SHORTHANDS: Readonly<Record<string, Step>> = {
  'core/secrets': secretStringData,
};

/** What the server adds to a new object, by store key. The creator does not own it. */
const CREATE_STEPS: Readonly<Record<string, Step>> = {
  'batch/jobs': jobSelector,
  'core/namespaces': namespaceFinalizer,
  'core/pods': podServiceAccount,
};

/** What an update of a kind changes, by first label of the group and plural. */
const UPDATE_STEPS: Readonly<Record<string, UpdateStep>> = {
  'certificates/certificatesigningrequests': updatedRequest,
};

/** What a new object says of who asks for it. */
const REQUESTER_STEPS: Readonly<Record<string, (object: JsonObject, user: Requester) => JsonObject>> = {
  'certificates/certificatesigningrequests': withRequester,
};

/** What clients cannot write through a version of a kind, by schema type. */
const UNWRITABLE: Readonly<Record<string, UnwritableStep>> = {
  'discovery/v1.EndpointSlice': withoutTopology,
};

/** Takes out of an object what it may not say, but for what the stored one says already (undefined on create). */
type UnwritableStep = (object: JsonObject, stored: JsonObject | undefined, dialect: Dialect) => JsonObject;

/** A type without the dialect's part of its group. */
function nameOf({ group, plural }: KnownType): string {
  return `${group.split('.', 1)[0]}/${plural}`;
}

/** `gate`: whether a feature gate is open. */
export function objectPreparation(schema: Schema, gate: ValidationSettings['gate']): ObjectPreparation {
  const schemaOfType = (type: KnownType) => schema.kind(type.group, type.version, type.kind);
  const dropGated = gatedFieldDropper(gate);
  const completed = (object: JsonObject, stored: JsonObject | undefined, type: KnownType): JsonObject => {
    const typeSchema = schemaOfType(type);
    const meant = SHORTHANDS[type.storageKey]?.(object, schema.dialect) ?? object;
    if (typeSchema === undefined) return meant;
    const writable = UNWRITABLE[typeSchema.name]?.(meant, stored, schema.dialect) ?? meant;
    // The defaults' names of gates are those of the table.
    applyDefaults(writable as Record<string, unknown>, typeSchema, gate as (name: string) => boolean);
    dropGated(writable, stored, typeSchema);
    return writable;
  };
  const canonical = (object: JsonObject, type: KnownType): JsonObject => {
    const typeSchema = schemaOfType(type);
    return typeSchema === undefined ? object : decode(object, typeSchema).object;
  };
  return {
    requested: (object, type, user) => REQUESTER_STEPS[nameOf(type)]?.(object, user) ?? object,
    completed: (object, type) => completed(object, undefined, type),
    admitted: (object, type) => canonical(CREATE_STEPS[type.storageKey]?.(object, schema.dialect) ?? object, type),
    onUpdate: (object, stored, type, update) => {
      const step = UPDATE_STEPS[nameOf(type)];
      const changed = step === undefined ? object : step(object, stored, update);
      return canonical(completed(changed, stored, type), type);
    },
  };
}

/** The finalizer that keeps a namespace until its contents are gone. */
function namespaceFinalizer(object: JsonObject, dialect: Dialect): JsonObject {
  const spec = (object.spec ?? {}) as { finalizers?: string[] };
  const finalizers = spec.finalizers ?? [];
  if (finalizers.includes(dialect.brand)) return object;
  return { ...object, spec: { ...spec, finalizers: [...finalizers, dialect.brand] } };
}

/** A pod that names no service account runs as its namespace's default one (admission step ServiceAccount). */
function podServiceAccount(object: JsonObject): JsonObject {
  const spec = (object.spec ?? {}) as { serviceAccountName?: string; serviceAccount?: string };
  const name = spec.serviceAccountName || spec.serviceAccount || 'default';
  if (spec.serviceAccountName === name && spec.serviceAccount === name) return object;
  return { ...object, spec: { ...spec, serviceAccountName: name, serviceAccount: name } };
}

/** A job's pods carry its uid and name, and its selector asks for the uid: nobody else's pods match. */
function jobSelector(object: JsonObject): JsonObject {
  const spec = (object.spec ?? {}) as JobFields;
  if (spec.manualSelector === true) return object;
  const { uid = '', name = '' } = metadataOf(object);
  const { selector = {}, template = {} } = spec;
  const matchLabels = { 'controller-uid': uid, ...selector?.matchLabels };
  const labels = { 'controller-uid': uid, 'job-name': name, ...template.metadata?.labels };
  return {
    ...object,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

interface JobFields {
  readonly manualSelector?: boolean | null;
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } | null;
  readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
}

/**
 * The topology of an endpoint is from before v1 and cannot be written through it. A node that only the topology named
 * stays the endpoint's node.
 */
function withoutTopology(slice: JsonObject, stored: JsonObject | undefined, dialect: Dialect): JsonObject {
  const { endpoints } = slice as { endpoints?: readonly EndpointFields[] | null };
  if (!endpoints?.some(({ deprecatedTopology }) => deprecatedTopology !== undefined)) return slice;
  if (stored !== undefined && deepEqual(stored.endpoints, endpoints)) return slice;
  const hostname = dialect.spell('@label/hostname');
  const before = ((stored?.endpoints ?? []) as readonly EndpointFields[]).map(
    ({ deprecatedTopology }) => deprecatedTopology?.[hostname],
  );
  const writable = endpoints.map(({ deprecatedTopology, ...endpoint }) => {
    const nodeName = deprecatedTopology?.[hostname];
    if (nodeName === undefined || endpoint.nodeName !== undefined || !before.includes(nodeName)) return endpoint;
    return { ...endpoint, nodeName };
  });
  return { ...slice, endpoints: writable };
}

interface EndpointFields {
  readonly nodeName?: string;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
}

/** stringData is for writing only: it ends up in data. */
function secretStringData(object: JsonObject): JsonObject {
  const { stringData, ...rest } = object;
  if (stringData === undefined) return object;
  const data: Record<string, string> = { ...(object.data as Record<string, string> | undefined) };
  for (const [key, text] of Object.entries(stringData as Record<string, string>))
    data[key] = Buffer.from(text).toString('base64');
  return { ...rest, data };
}
