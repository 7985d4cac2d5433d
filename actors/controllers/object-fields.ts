// Reading parsed API objects without trusting their shape: whatever is not what it should be reads as absent. Also the
// construction of write targets.
import type { WriteTarget } from '../admission/protocol.ts';
import type { ApiObject } from './controller.ts';

const EMPTY: ApiObject = Object.freeze({});

/** The value as an object; an empty one when it is anything else. */
export function asObject(value: unknown): ApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ApiObject) : EMPTY;
}

/** The value as a list; an empty one when it is anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text; empty when it is anything else. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list; other items are passed over. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

export function metadataOf(object: ApiObject): ApiObject {
  return asObject(object.metadata);
}

/** True once the object's deletion was requested. */
export function isTerminating(object: ApiObject): boolean {
  return asText(metadataOf(object).deletionTimestamp) !== '';
}

/** An API timestamp as milliseconds since 1970; undefined when there is none. */
export function timeOf(value: unknown): number | undefined {
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** A write target of the core group. */
export function coreTarget(resource: string, namespace: string, name: string, subresource = ''): WriteTarget {
  return { group: '', version: 'v1', resource, subresource, namespace, name };
}

/** How an object is named in maps and queues of one type; the namespace is empty for cluster-scoped types. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The parts of a key made by `keyOf`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
