// Whether quotas allow what a write adds, and what they have used afterwards. Decides only.
import type { JsonObject } from '../../../../api/json-value.ts';
import { partAt } from '../../../../api/object-fields.ts';
import {
  type Amounts,
  amountsOf,
  increaseOf,
  masked,
  NO_AMOUNTS,
  printed,
  sumOf,
  textsOf,
} from '../../../../api/quota/amounts.ts';
import { unsaid } from '../../../../api/quota/pods.ts';
import { isMetBy, requirementsOf, type ScopeRequirement, spoken } from '../../../../api/quota/scopes.ts';
import { isMeasured, namesOf, usageOf } from '../../../../api/quota/usage.ts';
import { unnamedError } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import type { LimitedResource } from './configuration.ts';

/** A quota, made ready. */
export interface Quota {
  readonly name: string;
  readonly revision: number;
  readonly object: JsonObject;
  readonly requirements: readonly ScopeRequirement[];
  /** What is promised, and what is wanted but not yet counted. */
  readonly hard: Amounts;
  readonly wanted: readonly string[];
  readonly used: Amounts;
}

export function quotaOf(object: JsonObject, { name, revision }: { name: string; revision: number }): Quota {
  const spec = partAt(object, 'spec');
  const status = partAt(object, 'status');
  return {
    name,
    revision,
    object,
    requirements: requirementsOf(spec),
    hard: amountsOf(partAt(status, 'hard')),
    wanted: Object.keys(partAt(spec, 'hard')),
    used: amountsOf(partAt(status, 'used')),
  };
}

/** A quota that is committed with the write. */
export interface Charge {
  readonly quota: Quota;
  /** What is used then. */
  readonly used: Amounts;
}

const NO_CHARGES: readonly Charge[] = [];

/** What a write adds to the usage of its namespace. */
export function addedBy({ object, old, type, dialect }: Attributes, nowMs: number): Amounts {
  return increaseOf(
    usageOf(type, object, dialect, nowMs),
    old === undefined ? NO_AMOUNTS : usageOf(type, old, dialect, nowMs),
  );
}

/** The quotas with what is used then. Throws what refuses the write. */
export function chargesOf(
  attributes: Attributes,
  quotas: readonly Quota[],
  limited: readonly LimitedResource[],
  added: Amounts,
  nowMs: number,
): readonly Charge[] {
  const { type, object, dialect } = attributes;
  const isPod = type.group === '' && type.plural === 'pods';
  const about = quotas.filter(({ requirements }) =>
    requirements.every((requirement) => isPod && isMetBy(requirement, object)),
  );
  const covering = about.map((quota) => ({ quota, names: namesOf(type, Object.keys(quota.hard), dialect) }));
  const counting = covering.filter(({ names }) => names.length > 0);
  for (const { quota, names } of counting) requireCountable(attributes, quota, names, isPod);
  if (Object.keys(added).length === 0) return NO_CHARGES;
  requireCovered(attributes, limited, new Set(counting.flatMap(({ names }) => names)), nowMs);
  if (isPod) requireScopesCovered(object, limited, quotas);
  const charges: Charge[] = [];
  for (const { quota, names } of covering) {
    if (names.length > 0) {
      const used = usedAfter(attributes, quota, added);
      if (used !== undefined) charges.push({ quota, used });
    } else if (namesOf(type, quota.wanted, dialect).length > 0) {
      // Nobody has counted for it yet. Who does must not miss this object: the quota changes under the count.
      charges.push({ quota, used: quota.used });
    }
  }
  return charges;
}

function requireCountable(attributes: Attributes, quota: Quota, names: readonly string[], isPod: boolean): void {
  const missing = isPod ? unsaid(attributes.object, names, attributes.dialect) : [];
  if (missing.length > 0) throw forbid(attributes, `failed quota: ${quota.name}: must specify ${missing.join(',')}`);
  if (names.some((name) => quota.used[name] === undefined)) {
    const all = [...names].sort().join(',');
    throw forbid(attributes, `status unknown for quota: ${quota.name}, resources: ${all}`);
  }
}

/** What is limited has to be in some quota: all that the object uses, whatever part of it is new. */
function requireCovered(
  attributes: Attributes,
  limited: readonly LimitedResource[],
  covered: ReadonlySet<string>,
  nowMs: number,
): void {
  const { type, object, dialect } = attributes;
  const texts = limited
    .filter(({ group, resource }) => group === type.group && resource === type.plural)
    .flatMap(({ matchContains }) => matchContains);
  if (texts.length === 0) return;
  const used = usageOf(type, object, dialect, nowMs);
  const open = Object.keys(used).filter(
    (name) => used[name]!.nano > 0n && !covered.has(name) && texts.some((text) => name.includes(text)),
  );
  if (open.length > 0) throw forbid(attributes, `insufficient quota to consume: ${open.sort().join(',')}`);
}

/** A pod in a limited scope needs a quota for that scope. The original answers an error without a reason. */
function requireScopesCovered(pod: JsonObject, limited: readonly LimitedResource[], quotas: readonly Quota[]): void {
  const needed = limited.flatMap(({ matchScopes }) => matchScopes).filter((scope) => isMetBy(scope, pod));
  if (needed.length === 0) return;
  const covered = quotas.flatMap(({ requirements }) => requirements).filter((scope) => isMetBy(scope, pod));
  const open = needed.filter(({ scopeName }) => !covered.some((scope) => scope.scopeName === scopeName));
  if (open.length === 0) return;
  const texts = open.map(spoken).join(' ');
  throw new StatusError(unnamedError(`insufficient quota to match these scopes: [${texts}]`));
}

/** Undefined: the write adds nothing that this quota counts. Throws 403. */
function usedAfter(attributes: Attributes, quota: Quota, added: Amounts): Amounts | undefined {
  const requested = masked(added, Object.keys(quota.hard));
  const names = Object.keys(requested);
  if (names.length === 0) return undefined;
  const used = sumOf(quota.used, requested);
  const exceeded = names.filter((name) => used[name]!.nano > quota.hard[name]!.nano);
  if (exceeded.length === 0) return used;
  const [asked, before, hard] = [requested, quota.used, quota.hard].map((all) => printed(masked(all, exceeded)));
  throw forbid(attributes, `exceeded quota: ${quota.name}, requested: ${asked}, used: ${before}, limited: ${hard}`);
}

/** A quota as it is stored when that much of it is used. */
export function withUsed({ object, used: before }: Quota, used: Amounts): JsonObject {
  if (used === before) return object;
  return { ...object, status: { ...partAt(object, 'status'), used: textsOf(used) } };
}

/** True where one of the quotas counts such objects, or is to. */
export function isAnyAbout({ type, dialect }: Attributes, quotas: Iterable<Quota>): boolean {
  for (const { hard, wanted } of quotas)
    if (namesOf(type, Object.keys(hard), dialect).length > 0 || namesOf(type, wanted, dialect).length > 0) return true;
  return false;
}

/** True where a write may need a quota of its namespace that is not there. */
export function isLimited(limited: readonly LimitedResource[], { type }: Attributes): boolean {
  return limited.some(
    ({ group, resource, matchScopes }) =>
      (group === type.group && resource === type.plural) || (matchScopes.length > 0 && isMeasured(type)),
  );
}
