// The scale subresource: how many replicas a workload has and should have, as an autoscaling/v1 Scale. For the types
// that keep the wish in spec.replicas, the count in status.replicas and their pods' labels in spec.selector.

import { isJsonObject, type JsonObject, memberOf } from './json/json-value.ts';
import { asObject } from './json/object-fields.ts';
import { insistsOnVersion, otherThanPath, requireSameUid } from './metadata/metadata.ts';
import { metadataOf, type ObjectMeta } from './metadata/object-meta.ts';
import type { Labels } from './selectors/label-requirement.ts';
import { labelSelectorFromMap } from './selectors/label-selector.ts';
import { badRequest, conflictModified, internalError, type NamedType } from './status/failures.ts';
import { type FieldError, invalid, invalidFrom } from './status/field-error.ts';
import { StatusError } from './status/status.ts';
import { selectorTerms } from './table/selector-text.ts';

const SCALE_GROUP = 'autoscaling';

/** An autoscaling/v1 Scale. Zero replicas are left out of the spec, as the API writes them. */
export interface Scale {
  readonly kind: 'Scale';
  readonly apiVersion: 'autoscaling/v1';
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'creationTimestamp'>;
  readonly spec: { readonly replicas?: number };
  /** `selector` is the text form of the label selector of the pods counted. */
  readonly status: { readonly replicas: number; readonly selector?: string };
}

/** Where a type keeps what its Scale says, member by member from the object. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Of a selector, or of its text. Empty: there is none. */
  readonly selector: readonly string[];
}

const BUILT_IN_PATHS: ScalePaths = {
  replicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

/** What the Scale of a custom object that has no wish is patched from: no wish of anybody's, so that it shows whether the patch had one. */
const UNSET = -(2 ** 31);

function valueAt(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = path.length === 0 ? undefined : object;
  for (const member of path) value = memberOf(value, member);
  return value;
}

/** The object with another value at a path; what is no object on the way becomes one. */
function withValueAt(object: JsonObject, [member = '', ...rest]: readonly string[], value: unknown): JsonObject {
  return { ...object, [member]: rest.length === 0 ? value : withValueAt(asObject(object[member]), rest, value) };
}

/**
 * The Scale of a stored object of a type with this subresource.
 *
 * @param unset the wish of a custom object that has none.
 */
export function scaleOf(object: JsonObject, paths: ScalePaths = BUILT_IN_PATHS, unset = UNSET): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const wish = valueAt(object, paths.replicas) ?? undefined;
  const replicas = wish === undefined && paths !== BUILT_IN_PATHS ? unset : countOf(wish);
  const selector = selectorText(valueAt(object, paths.selector));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? undefined : { name }),
      ...(namespace === undefined ? undefined : { namespace }),
      ...(uid === undefined ? undefined : { uid }),
      ...(resourceVersion === undefined ? undefined : { resourceVersion }),
      ...(creationTimestamp === undefined ? undefined : { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: countOf(valueAt(object, paths.statusReplicas)),
      ...(selector === '' ? undefined : { selector }),
    },
  };
}

/** Throws StatusError 500 for an object of a custom type that does not say how many replicas it should have: there is no Scale to read. */
export function requireReplicas(object: JsonObject, { replicas }: ScalePaths): void {
  if ((valueAt(object, replicas) ?? undefined) !== undefined) return;
  throw new StatusError(internalError(`the spec replicas field ${pathText(replicas)} does not exist`));
}

/** Throws StatusError 400 for the changed Scale of a custom object that had no wish, if it has none still. */
export function requireWish(scale: JsonObject, { replicas }: ScalePaths): void {
  if (memberOf(scale.spec, 'replicas') !== UNSET) return;
  throw new StatusError(badRequest(`the spec replicas field ${pathText(replicas)} cannot be empty`));
}

function pathText(path: readonly string[]): string {
  return JSON.stringify(`.${path.join('.')}`);
}

/**
 * The stored object with the replicas a Scale asks for. Throws StatusError: 400 where the Scale is another object's or no
 * Scale, 409 where its uid or resourceVersion are not the stored ones, 422 where the replicas are no count.
 */
export function applyScale(
  stored: JsonObject,
  scale: JsonObject,
  type: NamedType,
  paths: ScalePaths = BUILT_IN_PATHS,
): JsonObject {
  const given = metadataOf(scale);
  const before = metadataOf(stored);
  const { name = '', namespace = '' } = before;
  if ((scale.kind ?? 'Scale') !== 'Scale') throw new StatusError(badRequest('the body is no Scale'));
  const { name: givenName = '', namespace: givenNamespace = '' } = given;
  if (givenName !== '' && givenName !== name) throw otherThanPath('name', givenName, name);
  if (givenNamespace !== '' && givenNamespace !== namespace)
    throw otherThanPath('namespace', givenNamespace, namespace);
  requireSameUid(given, before, type);
  if (insistsOnVersion(given) && given.resourceVersion !== before.resourceVersion) {
    throw new StatusError(conflictModified(type, name));
  }
  const replicas = memberOf(scale.spec, 'replicas') ?? 0;
  // Those of a custom object are looked at with the rest of it.
  const error = paths === BUILT_IN_PATHS || !Number.isInteger(replicas) ? replicasError(replicas) : undefined;
  if (error !== undefined) throw new StatusError(invalidFrom('Scale', SCALE_GROUP, name, [error]));
  return valueAt(stored, paths.replicas) === replicas ? stored : withValueAt(stored, paths.replicas, replicas);
}

/** What applying a Scale means for the object itself: nothing but its replicas, if it names any. */
export function scaleConfiguration(
  scale: JsonObject,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  paths: ScalePaths = BUILT_IN_PATHS,
): JsonObject {
  const replicas = memberOf(scale.spec, 'replicas');
  const { name, namespace, uid, resourceVersion } = metadataOf(scale);
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined),
  );
  const config = { apiVersion, kind, metadata };
  return replicas === undefined ? config : withValueAt(config, paths.replicas, replicas);
}

const REPLICAS_MAX = 2 ** 31 - 1;

function replicasError(replicas: unknown): FieldError | undefined {
  const path = 'spec.replicas';
  if (!Number.isInteger(replicas)) return invalid(path, replicas, 'must be a whole number');
  if ((replicas as number) < 0) return invalid(path, replicas, 'must be greater than or equal to 0');
  return (replicas as number) > REPLICAS_MAX ? invalid(path, replicas, `must be at most ${REPLICAS_MAX}`) : undefined;
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Replication controllers keep a plain map, the other types a LabelSelector object. */
function selectorText(selector: unknown): string {
  if (typeof selector === 'string') return selector;
  if (!isJsonObject(selector)) return '';
  const isMap = Object.values(selector).every((value) => typeof value === 'string');
  return isMap ? labelSelectorFromMap(selector as Labels).text : (selectorTerms(selector) ?? '');
}
