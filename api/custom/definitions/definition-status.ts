// The status of definitions: which names are theirs, whether they are served, and why not. Pure.
import type { Dialect } from '../../../config/dialect.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asList, asObject, asText, asTexts, partAt } from '../../json/object-fields.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { approvalKey, approvalOf, approvalProblem, isProtectedGroup } from './api-approval.ts';
import { type DefinedNames, type Definition, readNames } from './definition.ts';

export interface DefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Names that definitions of the group have, with the one in question. */
export interface TakenNames {
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and kinds of lists. */
  readonly kinds: ReadonlySet<string>;
}

/** What definitions are held by while their instances are deleted. `group`: that of definitions themselves. */
export function cleanupFinalizer(group: string): string {
  return `customresourcecleanup.${group}`;
}

const TERMINATION = {
  pending: [
    'True',
    'InstanceDeletionPending',
    'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  ],
  inProgress: ['True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'],
  completed: ['False', 'InstanceDeletionCompleted', 'removed all instances'],
  neverBegun: ['False', 'NeverEstablished', 'resource was never established'],
} as const;

/** The condition Terminating of a definition whose deletion has come so far. */
export function terminatingCondition(stage: keyof typeof TERMINATION): DefinitionCondition {
  const [status, reason, message] = TERMINATION[stage];
  return { type: 'Terminating', status, reason, message };
}

/** A status with a condition in place of the one of its type, or behind the others. The time is that of the last change. */
export function withCondition(status: JsonObject, condition: DefinitionCondition, nowIso: string): JsonObject {
  const conditions = asList(status.conditions).map(asObject);
  const before = conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status && asText(before.lastTransitionTime) !== '';
  const lastTransitionTime = isSame ? asText(before.lastTransitionTime) : nowIso;
  const { type, status: state, reason, message } = condition;
  const after = { type, status: state, lastTransitionTime, reason, message };
  const list = before === undefined ? [...conditions, after] : conditions.map((one) => (one === before ? after : one));
  return { ...status, conditions: list };
}

function withoutCondition(status: JsonObject, type: string): JsonObject {
  const conditions = asList(status.conditions);
  const kept = conditions.filter((one) => asObject(one).type !== type);
  return kept.length === conditions.length ? status : { ...status, conditions: kept };
}

/** What the status of a definition should be. `schemaProblems`: why it is not structural; empty: it is. */
export function definitionStatus(
  object: JsonObject,
  definition: Definition,
  taken: TakenNames,
  schemaProblems: string,
  nowIso: string,
  dialect: Dialect,
): JsonObject {
  const before = partAt(object, 'status');
  const { names, conflict } = namesOf(definition.names, readNames(before.acceptedNames), taken);
  const accepted: DefinitionCondition = conflict ?? {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  let status: JsonObject = { ...before, acceptedNames: writtenNames(names), ...storedIn(before, definition) };
  status = withCondition(status, accepted, nowIso);
  status = withCondition(status, establishedCondition(before, conflict === undefined), nowIso);
  const conformant = approvalCondition(object, definition, dialect);
  if (conformant !== undefined) status = withCondition(status, conformant, nowIso);
  if (schemaProblems === '') return withoutCondition(status, 'NonStructuralSchema');
  const violations = { type: 'NonStructuralSchema', status: 'True', reason: 'Violations' } as const;
  return withCondition(status, { ...violations, message: schemaProblems }, nowIso);
}

const APPROVALS = {
  missing: ['False', 'MissingAnnotation'],
  invalid: ['False', 'InvalidAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
} as const;

/** Whether a definition in a protected group is approved; undefined in any other. */
function approvalCondition(
  object: JsonObject,
  { group }: Definition,
  dialect: Dialect,
): DefinitionCondition | undefined {
  if (!isProtectedGroup(group, dialect)) return undefined;
  const key = approvalKey(dialect);
  const text = metadataOf(object).annotations?.[key] ?? '';
  const state = approvalOf(text);
  const [status, reason] = APPROVALS[state];
  const messages = { approved: `approved in ${text}`, bypassed: `not approved: ${JSON.stringify(text)}` };
  const message = state === 'approved' || state === 'bypassed' ? messages[state] : approvalProblem(dialect, state);
  return {
    type: `${dialect.brand.charAt(0).toUpperCase()}${dialect.brand.slice(1)}APIApprovalPolicyConformant`,
    status,
    reason,
    message,
  };
}

/** With the version that is stored now among those in which objects may lie; whoever has rewritten them takes others out. */
function storedIn(status: JsonObject, { storageVersion }: Definition): JsonObject {
  const stored = asTexts(status.storedVersions);
  if (storageVersion === '' || stored.includes(storageVersion)) return {};
  return { storedVersions: [...stored, storageVersion] };
}

/** Once established, a definition stays so. */
function establishedCondition(before: JsonObject, isAccepted: boolean): DefinitionCondition {
  const type = 'Established';
  const wasEstablished = asList(before.conditions).some((one) => {
    const condition = asObject(one);
    return condition.type === type && condition.status === 'True';
  });
  return wasEstablished || isAccepted
    ? { type, status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
    : { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

/** The names that a definition has, and the last of its conflicts with names that are taken. */
function namesOf(
  wanted: DefinedNames,
  accepted: DefinedNames,
  { resources, kinds }: TakenNames,
): { names: DefinedNames; conflict: DefinitionCondition | undefined } {
  let conflict: DefinitionCondition | undefined;
  const refuse = (reason: string, message: string): void => {
    conflict = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const isFree = (name: string, own: string, others: ReadonlySet<string>, reason: string): boolean => {
    if (name === own || !others.has(name)) return true;
    refuse(reason, `${JSON.stringify(name)} is already in use`);
    return false;
  };
  const plural = isFree(wanted.plural, accepted.plural, resources, 'PluralConflict') ? wanted.plural : accepted.plural;
  const singular = isFree(wanted.singular, accepted.singular, resources, 'SingularConflict')
    ? wanted.singular
    : accepted.singular;
  const own = new Set(accepted.shortNames);
  const inUse = wanted.shortNames.filter((name) => !own.has(name) && resources.has(name));
  if (inUse.length > 0) {
    const texts = inUse.map((name) => `${JSON.stringify(name)} is already in use`);
    refuse('ShortNamesConflict', texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);
  }
  const shortNames = inUse.length > 0 ? accepted.shortNames : wanted.shortNames;
  const kind = isFree(wanted.kind, accepted.kind, kinds, 'KindConflict') ? wanted.kind : accepted.kind;
  const listKind = isFree(wanted.listKind, accepted.listKind, kinds, 'ListKindConflict')
    ? wanted.listKind
    : accepted.listKind;
  return { names: { plural, singular, shortNames, kind, listKind, categories: wanted.categories }, conflict };
}

function writtenNames({ plural, singular, shortNames, kind, listKind, categories }: DefinedNames): JsonObject {
  return {
    plural,
    ...(singular === '' ? undefined : { singular }),
    ...(shortNames.length === 0 ? undefined : { shortNames }),
    kind,
    ...(listKind === '' ? undefined : { listKind }),
    ...(categories.length === 0 ? undefined : { categories }),
  };
}

/** The names that definitions of a group have. */
export function takenNames(all: Iterable<DefinedNames>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames, kind, listKind } of all) {
    for (const name of [plural, singular, ...shortNames]) if (name !== '') resources.add(name);
    for (const name of [kind, listKind]) if (name !== '') kinds.add(name);
  }
  return { resources, kinds };
}

/** True when who had names has not all of them any more. */
export function givesUpNames(had: Iterable<DefinedNames>, has: DefinedNames): boolean {
  const before = takenNames(had);
  const after = takenNames([has]);
  return (
    [...before.resources].some((name) => !after.resources.has(name)) ||
    [...before.kinds].some((name) => !after.kinds.has(name))
  );
}
