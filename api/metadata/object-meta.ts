// An object's metadata as it is decoded, and how its moments are written. What is done to it is in metadata.ts and
// deletion.ts, what it may say in object-meta-rules.ts.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { type Own, ownCopy } from '../json/own-copy.ts';

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
}

/** An object's metadata as decoded. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly clusterName?: string;
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

const NO_METADATA: ObjectMeta = Object.freeze({});

/** An object's metadata; an empty one where it has none. */
export function metadataOf(object: JsonObject): ObjectMeta {
  return isJsonObject(object.metadata) ? (object.metadata as ObjectMeta) : NO_METADATA;
}

/** A copy of the object with other metadata. */
export function withMetadata(object: JsonObject, metadata: ObjectMeta): Own<JsonObject> {
  const copy = ownCopy(object);
  copy.metadata = metadata;
  return copy;
}

/** The last second that has a four-digit year. */
const TIMESTAMP_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59);

let lastSecond = -1;
let lastText = '';

/** A moment as objects write it: UTC, whole seconds. Moments that cannot be written so become the nearest that can. */
export function timestampOf(atMs: number): string {
  const second = Math.trunc(Math.min(Math.max(atMs, 0), TIMESTAMP_MS_MAX) / 1000);
  // Writes ask for the same second again and again.
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** The second that such a moment was in last, and its text up to the point. */
let lastMicroSecond = Number.NaN;
let lastMicroText = '';

/** A moment as leases and audit events write it: UTC, microseconds, of which a clock here knows the thousands. */
export function microTimeOf(atMs: number): string {
  const wholeMs = Math.trunc(atMs);
  const second = Math.floor(wholeMs / 1000);
  if (second !== lastMicroSecond) {
    lastMicroText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    lastMicroSecond = second;
  }
  return `${lastMicroText}${String(wholeMs - second * 1000).padStart(3, '0')}000Z`;
}
