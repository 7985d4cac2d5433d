// Many requirements of one label selector as few questions. A client may write thousands of them into one query, and every object
// of a type is asked: what they say of one key is put together, and keys that must not be there are looked for among those that are.
import { parseInt64 } from '../../values/int64.ts';
import type { LabelRequirement, Labels } from './label-requirement.ts';

/** What a key that must be there has to have. */
interface Wanted {
  values: ReadonlySet<string> | undefined;
  above: bigint | undefined;
  below: bigint | undefined;
}

/** Values that a key must not have; undefined: it must not be there. */
type Unwanted = Set<string> | undefined;

/** More keys than these are looked for among an object's own, of which it may have many, too. */
const LOOKED_UP_MAX = 64;

/** Whether labels meet all of the requirements. */
export function meetsAll(requirements: readonly LabelRequirement[]): (labels: Labels) => boolean {
  const wanted = new Map<string, Wanted>();
  const unwanted = new Map<string, Unwanted>();
  for (const requirement of requirements) {
    const { key, operator } = requirement;
    if (operator === 'DoesNotExist') unwanted.set(key, undefined);
    else if (operator === 'NotIn') refuse(unwanted, requirement);
    else wanted.set(key, narrowed(wanted.get(key), requirement));
  }
  return (labels) => {
    for (const [key, each] of wanted) if (!isMet(each, labels[key])) return false;
    if (unwanted.size <= LOOKED_UP_MAX) {
      for (const [key, values] of unwanted) if (isRefused(values, labels[key])) return false;
      return true;
    }
    for (const key in labels) if (unwanted.has(key) && isRefused(unwanted.get(key), labels[key])) return false;
    return true;
  };
}

function refuse(unwanted: Map<string, Unwanted>, { key, values }: LabelRequirement): void {
  if (!unwanted.has(key)) unwanted.set(key, new Set());
  for (const value of values) unwanted.get(key)?.add(value);
}

function narrowed(
  { values, above, below }: Wanted = { values: undefined, above: undefined, below: undefined },
  requirement: LabelRequirement,
): Wanted {
  const { operator, bound } = requirement;
  if (operator === 'Gt') return { values, above: above === undefined || bound > above ? bound : above, below };
  if (operator === 'Lt') return { values, above, below: below === undefined || bound < below ? bound : below };
  if (operator === 'Exists') return { values, above, below };
  const kept = requirement.values.filter((value) => values === undefined || values.has(value));
  return { values: new Set(kept), above, below };
}

function isMet({ values, above, below }: Wanted, value: unknown): boolean {
  if (typeof value !== 'string' || (values !== undefined && !values.has(value))) return false;
  if (above === undefined && below === undefined) return true;
  const number = parseInt64(value);
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below);
}

function isRefused(values: Unwanted, value: unknown): boolean {
  return typeof value === 'string' && (values === undefined || values.has(value));
}
