// Whether quotas allow what a write adds, and what they have used afterwards. Decides only.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt } from '../../../../api/json/object-fields.ts';
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
import type { KnownType } from '../../../../api/resources/resource-table.ts';
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
  /** By types that have been asked about. */
  readonly ofTypes: Map<KnownType, TypeNames>;
  readonly used: Amounts;
}

/** The names of a quota that objects of a type count for. */
interface TypeNames {
  readonly hard: readonly string[];
  readonly wantsAny: boolean;
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
    ofTypes: new Map(),
    used: amountsOf(partAt(status, 'used')),
  };
}

function namesFor({ hard, wanted, ofTypes }: Quota, { type, dialect }: Attributes): TypeNames {
  let names = ofTypes.get(type);
  if (names === undefined) {
    names = {
      hard: namesOf(type, Object.keys(hard), dialect),
      wantsAny: namesOf(type, wanted, dialect).length > 0,
    };
    ofTypes.set(type, names);
  }
  return names;
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
  const { type, object } = attributes;
  const isPod = type.group === '' && type.plural === 'pods';
  const about = quotas.filter(({ requirements }) =>
    requirements.every((requirement) => isPod && isMetBy(requirement, object)),
  );
  for (const quota of about) requireCountable(attributes, quota, namesFor(quota, attributes).hard, isPod);
  if (Object.keys(added).length === 0) return NO_CHARGES;
  if (limited.length > 0) {
    const covered = new Set(about.flatMap((quota) => namesFor(quota, attributes).hard));
    requireCovered(attributes, limited, covered, nowMs);
    if (isPod) requireScopesCovered(object, limited, quotas);
  }
  const charges: Charge[] = [];
  for (const quota of about) {
    const names = namesFor(quota, attributes);
    if (names.hard.length > 0) {
      const used = usedAfter(attributes, quota, added);
      if (used !== undefined) charges.push({ quota, used });
    } else if (names.wantsAny) {
      // Nobody has counted for it yet. Who does must not miss this object: the quota changes under the count.
      charges.push({ quota, used: quota.used });
    }
  }
  return charges;
}

const NOTHING: readonly string[] = [];

function requireCountable(attributes: Attributes, quota: Quota, names: readonly string[], isPod: boolean): void {
  if (names.length === 0) return;
  const missing = isPod ? unsaid(attributes.object, names) : NOTHING;
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
  const { hard } = quota;
  const requested = masked(added, Object.keys(hard));
  const names = Object.keys(requested);
  if (names.length === 0) return undefined;
  const used = sumOf(quota.used, requested);
  if (names.every((name) => used[name]!.nano <= hard[name]!.nano)) return used;
  const exceeded = names.filter((name) => used[name]!.nano > hard[name]!.nano);
  const [asked, before, limit] = [requested, quota.used, hard].map((all) => printed(masked(all, exceeded)));
  throw forbid(attributes, `exceeded quota: ${quota.name}, requested: ${asked}, used: ${before}, limited: ${limit}`);
}

/** A quota as it is stored when that much of it is used. */
export function withUsed({ object, used: before }: Quota, used: Amounts): JsonObject {
  if (used === before) return object;
  return { ...object, status: { ...partAt(object, 'status'), used: textsOf(used) } };
}

/** True where one of the quotas counts such objects, or is to. */
export function isAnyAbout(attributes: Attributes, quotas: Iterable<Quota>): boolean {
  for (const quota of quotas) {
    const { hard, wantsAny } = namesFor(quota, attributes);
    if (hard.length > 0 || wantsAny) return true;
  }
  return false;
}

/** True where a write may need a quota of its namespace that is not there. */
export function isLimited(limited: readonly LimitedResource[], { type }: Attributes): boolean {
  return limited.some(
    ({ group, resource, matchScopes }) =>
      (group === type.group && resource === type.plural) || (matchScopes.length > 0 && isMeasured(type)),
  );
}
