// How one step of a field's path is spelled: in managedFields (`f:image`, `k:{"name":"a"}`), and for people
// (`.image`, `[name="a"]`). Spells and reads, decides nothing.
import { parseExact } from '../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { ListKey, Scalar } from './ownership-rule.ts';

/** The step to a member. */
export function memberStep(name: string): string {
  return `f:${name}`;
}

/** The step to an element of a set, by its value; undefined for values that no set holds. */
export function valueStep(value: unknown): string | undefined {
  return isScalar(value) ? `v:${JSON.stringify(value)}` : undefined;
}

/**
 * The step to an element of a list with keys, in the order of their names; a key that is left out counts with its
 * default. Undefined where the element lacks a key that has none.
 */
export function keyStep(element: unknown, keys: readonly ListKey[]): string | undefined {
  if (!isJsonObject(element)) return undefined;
  let text = '';
  for (const key of keys) {
    const value = element[key.name] ?? key.whenAbsent;
    if (value === undefined || !isScalar(value)) return undefined;
    text += `${text === '' ? 'k:{' : ','}${key.prefix}${JSON.stringify(value)}`;
  }
  return `${text}}`;
}

/** The step to an element of a list that is owned as a whole. For messages alone: nobody owns such an element. */
export function indexStep(index: number): string {
  return `i:${index}`;
}

/** The first letters of steps. */
const STEP_KINDS = 'fkvi';

/** True for steps of kinds that are not known here. */
export function isOfOtherKind(step: string): boolean {
  return step.length > 1 && step[1] === ':' && !STEP_KINDS.includes(step[0]!);
}

/** The one spelling of a step that means the same; undefined when it is none. */
export function canonicalStep(step: string): string | undefined {
  const text = step.slice(2);
  switch (step.slice(0, 2)) {
    case 'f:':
      return step;
    case 'i:':
      return /^(?:0|[1-9][0-9]{0,8})$/.test(text) ? step : undefined;
    case 'v:': {
      return valueStep(parsed(text));
    }
    case 'k:': {
      const keys = parsed(text);
      if (!isJsonObject(keys)) return undefined;
      const names = Object.keys(keys).sort();
      if (names.length === 0 || !names.every((name) => isScalar(keys[name]))) return undefined;
      // No object in between: that would have names that look like indexes first, in the order of those.
      return `k:{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(keys[name])}`).join(',')}}`;
    }
    default:
      return undefined;
  }
}

/** A path as messages show it: `.spec.template.spec.containers[name="nginx"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join('');
}

function stepText(step: string): string {
  const text = step.slice(2);
  switch (step.slice(0, 2)) {
    case 'f:':
      return `.${text}`;
    case 'v:':
      return `[=${text}]`;
    case 'k:': {
      const keys = (parsed(text) ?? {}) as JsonObject;
      const shown = Object.keys(keys).map((name) => `${name}=${JSON.stringify(keys[name])}`);
      return `[${shown.join(',')}]`;
    }
    default:
      return `[${text}]`;
  }
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

export function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}
