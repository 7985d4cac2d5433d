// The rules of metadata, the same for every kind. Runs for every write: an object without anything
// unusual costs a few comparisons and one empty list.
import type { Dialect } from '../../config/dialect.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject } from '../json/json-value.ts';
import { isSet } from '../json/object-fields.ts';
import { validateFieldManager } from '../requests/request-options.ts';
import type { ResourceType } from '../resource-type.ts';
import * as wrong from '../status/field-error.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../status/field-error.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './deletion.ts';
import { nameProblems, qualifiedNameProblems, textProblems } from './formats.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object-meta.ts';

/** Bytes of all annotation keys and values together. */
const ANNOTATION_BYTES_MAX = 256 * 1024;

/** What of a type the rules depend on. */
export type MetaType = Pick<ResourceType, 'storageKey' | 'namespaced' | 'traits'>;

/** The errors of an object's metadata on create. The name has been generated before. */
export function validateObjectMeta(metadata: ObjectMeta, type: MetaType, dialect: Dialect): readonly FieldError[] {
  const errors = validateAnyMeta(metadata, type);
  if (metadata.finalizers === undefined || !needsQualifiedFinalizers(type, dialect)) return errors;
  const more: FieldError[] = [];
  checkQualified(metadata.finalizers, dialect, more);
  return more.length === 0 ? errors : [...errors, ...more];
}

/** What of a type the rules of all metadata depend on. */
interface AnyMetaType {
  readonly namespaced: boolean;
  readonly traits: Pick<ResourceType['traits'], 'nameFormat'>;
}

/** The errors of metadata that may be of an object of any group. */
export function validateAnyMeta(metadata: ObjectMeta, type: AnyMetaType): readonly FieldError[] {
  const errors: FieldError[] = [];
  checkNames(metadata, type, errors);
  checkNamespace(metadata, type, errors);
  if ((metadata.generation ?? 0) < 0) {
    errors.push(wrong.invalid('metadata.generation', metadata.generation, 'must not be negative'));
  }
  if (metadata.labels !== undefined) collect(errors, validateLabels(metadata.labels, 'metadata.labels'));
  if (metadata.annotations !== undefined) {
    collect(errors, validateAnnotations(metadata.annotations, 'metadata.annotations'));
  }
  if (metadata.ownerReferences !== undefined) checkOwnerReferences(metadata.ownerReferences, errors);
  if (metadata.finalizers !== undefined) checkFinalizers(metadata.finalizers, errors);
  if (metadata.managedFields !== undefined) checkManagedFields(metadata.managedFields, errors);
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}

/** What an update may never change, as members of metadata. */
const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'clusterName',
] as const satisfies readonly (keyof ObjectMeta)[];

/** What stands in messages for the members that are no pointers and are not given. */
const EMPTY_OF: Readonly<Partial<Record<(typeof IMMUTABLE)[number], string>>> = {
  name: '',
  namespace: '',
  uid: '',
  clusterName: '',
};

/** The errors of an update's metadata: those of a create, and what may not change. `next` has been prepared. */
export function validateObjectMetaUpdate(
  next: ObjectMeta,
  stored: ObjectMeta,
  type: MetaType,
  dialect: Dialect,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isSet(stored.deletionTimestamp)) checkNoNewFinalizers(next, stored, errors);
  if ((next.resourceVersion ?? '') === '') {
    errors.push(wrong.invalid('metadata.resourceVersion', '', 'must be specified for an update'));
  }
  if ((next.generation ?? 0) < (stored.generation ?? 0)) {
    errors.push(wrong.invalid('metadata.generation', next.generation ?? 0, 'must not shrink'));
  }
  for (const member of IMMUTABLE) {
    const value = next[member] ?? '';
    if (value !== (stored[member] ?? '')) {
      errors.push(wrong.invalid(`metadata.${member}`, next[member] ?? EMPTY_OF[member] ?? null, 'field is immutable'));
    }
  }
  // What is stored was valid when it came: the parts that are unchanged need no second look.
  const changed = changedParts(next, stored);
  if (changed !== undefined) collect(errors, validateObjectMeta(changed, type, dialect));
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}

/** Errors of a map of labels. The path names the map, as clients expect, not the key. */
export function validateLabels(labels: unknown, path: string): readonly FieldError[] {
  if (!isJsonObject(labels)) return [wrong.invalid(path, labels, 'must be a map of texts')];
  let errors: FieldError[] | undefined;
  for (const key in labels) {
    const value = labels[key];
    for (const problem of qualifiedNameProblems(key)) {
      errors ??= [];
      errors.push(wrong.invalid(path, key, problem));
    }
    for (const problem of typeof value === 'string' ? textProblems('labelValue', value) : ['must be a text']) {
      errors ??= [];
      errors.push(wrong.invalid(path, value, problem));
    }
  }
  return errors ?? NO_FIELD_ERRORS;
}

/** Errors of a map of annotations: keys are qualified names whatever their case, values are any text, within a total. */
export function validateAnnotations(annotations: unknown, path: string): readonly FieldError[] {
  if (!isJsonObject(annotations)) return [wrong.invalid(path, annotations, 'must be a map of texts')];
  const errors: FieldError[] = [];
  let characters = 0;
  for (const key in annotations) {
    const value = annotations[key];
    for (const problem of qualifiedNameProblems(key.toLowerCase())) errors.push(wrong.invalid(path, key, problem));
    if (typeof value === 'string') characters += key.length + value.length;
    else errors.push(wrong.invalid(path, value, 'must be a text'));
  }
  // A character is one to three bytes: only in between do the bytes have to be counted.
  const tooLong =
    characters > ANNOTATION_BYTES_MAX ||
    (characters * 3 > ANNOTATION_BYTES_MAX && bytesOf(annotations) > ANNOTATION_BYTES_MAX);
  if (tooLong) errors.push(wrong.tooLong(path, ANNOTATION_BYTES_MAX));
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}

function bytesOf(annotations: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  }
  return bytes;
}

function checkNames({ name = '', generateName = '' }: ObjectMeta, type: AnyMetaType, errors: FieldError[]): void {
  const { nameFormat } = type.traits;
  if (generateName !== '') {
    for (const problem of nameProblems(nameFormat, generateName, true)) {
      errors.push(wrong.invalid('metadata.generateName', generateName, problem));
    }
  }
  if (name === '') {
    errors.push(wrong.required('metadata.name', 'name or generateName is required'));
    return;
  }
  for (const problem of nameProblems(nameFormat, name)) errors.push(wrong.invalid('metadata.name', name, problem));
}

function checkNamespace({ namespace = '' }: ObjectMeta, type: AnyMetaType, errors: FieldError[]): void {
  if (!type.namespaced) {
    if (namespace !== '') errors.push(wrong.forbidden('metadata.namespace', 'not allowed on this type'));
    return;
  }
  if (namespace === '') errors.push(wrong.required('metadata.namespace'));
  else {
    for (const problem of textProblems('dns1123Label', namespace)) {
      errors.push(wrong.invalid('metadata.namespace', namespace, problem));
    }
  }
}

const OWNER_MEMBERS = ['kind', 'name', 'uid'] as const;
const OWNERS = 'metadata.ownerReferences';

/** Paths do not say which of the references, as in Kubernetes. */
function checkOwnerReferences(references: readonly OwnerReference[], errors: FieldError[]): void {
  let controller: string | undefined;
  for (const reference of references) {
    const { apiVersion = '', kind, name = '' } = reference;
    if (!/^(?:[^/]*\/)?[^/]+$/.test(apiVersion))
      errors.push(wrong.invalid(`${OWNERS}.apiVersion`, apiVersion, 'version must not be empty'));
    for (const member of OWNER_MEMBERS) {
      if ((reference[member] ?? '') !== '') continue;
      errors.push(wrong.invalid(`${OWNERS}.${member}`, '', `${member} must not be empty`));
    }
    if (apiVersion === 'v1' && kind === 'Event')
      errors.push(wrong.invalid(OWNERS, reference, '/v1, Kind=Event is disallowed from being an owner'));
    if (reference.controller !== true) continue;
    if (controller !== undefined) {
      const found = `Found "true" in references for ${controller} and ${name}`;
      errors.push(wrong.invalid(OWNERS, references, `Only one reference can have Controller set to true. ${found}`));
    }
    controller ??= name;
  }
}

function checkFinalizers(finalizers: readonly string[], errors: FieldError[]): void {
  const path = 'metadata.finalizers';
  for (const finalizer of finalizers) {
    for (const problem of qualifiedNameProblems(finalizer)) errors.push(wrong.invalid(path, finalizer, problem));
  }
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const detail = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`;
    errors.push(wrong.invalid(path, finalizers, detail));
  }
}

/** Groups, and kinds of others, whose finalizers are standard ones or have a domain: looked at after everything else of metadata. */
const QUALIFIED: readonly string[] = [
  'core',
  'apps',
  'autoscaling',
  'batch',
  'certificates.@group',
  'discovery.@group',
  'flowcontrol.apiserver.@group',
  'internal.apiserver.@group',
  'networking.@group',
  'policy/podsecuritypolicies',
  'rbac.authorization.@group',
  'scheduling.@group',
  'storage.@group',
];
const EVENTS = 'core/events';

function needsQualifiedFinalizers({ storageKey }: MetaType, dialect: Dialect): boolean {
  const group = storageKey.slice(0, storageKey.indexOf('/'));
  return storageKey !== EVENTS && QUALIFIED.some((one) => [group, storageKey].includes(dialect.spell(one)));
}

function checkQualified(finalizers: readonly string[], dialect: Dialect, errors: FieldError[]): void {
  for (const [index, finalizer] of finalizers.entries()) {
    if (!finalizer.includes('/') && !isStandardFinalizer(finalizer, dialect)) {
      const detail = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(wrong.invalid(`metadata.finalizers[${index}]`, finalizer, detail));
    }
  }
}

/** The finalizers that need no prefix. */
export function isStandardFinalizer(finalizer: string, dialect: Dialect): boolean {
  return finalizer === dialect.brand || finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER;
}

function checkNoNewFinalizers(next: ObjectMeta, stored: ObjectMeta, errors: FieldError[]): void {
  const present = new Set(stored.finalizers);
  const added = (next.finalizers ?? []).filter((finalizer) => !present.has(finalizer));
  if (added.length === 0) return;
  const found = added
    .sort()
    .slice(0, 10)
    .map((finalizer) => JSON.stringify(finalizer));
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${found.join(', ')}}`;
  errors.push(wrong.forbidden('metadata.finalizers', detail));
}

function checkManagedFields(entries: readonly ManagedFieldsEntry[], errors: FieldError[]): void {
  for (const [index, { operation = '', fieldsType = '', manager = '' }] of entries.entries()) {
    const path = `metadata.managedFields[${index}]`;
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(wrong.invalid(`${path}.operation`, operation, 'must be Apply or Update'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(wrong.invalid(`${path}.fieldsType`, fieldsType, 'must be FieldsV1'));
    }
    collect(errors, validateFieldManager(manager, `${path}.manager`));
  }
}

const CHECKED_PARTS = ['labels', 'annotations', 'ownerReferences', 'finalizers', 'managedFields'] as const;

/** `next` without the parts that are as stored; undefined when that leaves nothing to check. */
function changedParts(next: ObjectMeta, stored: ObjectMeta): ObjectMeta | undefined {
  let changed: Record<string, unknown> | undefined;
  for (const part of CHECKED_PARTS) {
    if (next[part] === undefined || deepEqual(next[part], stored[part])) continue;
    changed ??= { name: next.name, namespace: next.namespace };
    changed[part] = next[part];
  }
  return changed as ObjectMeta | undefined;
}

function collect(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error);
}
