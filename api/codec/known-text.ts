// The JSON of parts of objects that are written again and again, because what is made from one template has them in common. Who
// is given such a part shares it: it is frozen.
import { freezeJson } from '../freeze-json.ts';

const texts = new WeakMap<object, string>();

/** Freezes a part and makes its JSON, once for all who write it. */
export function keepText(part: object): void {
  freezeJson(part);
  texts.set(part, JSON.stringify(part));
}

/** The JSON of a value. */
export function textOf(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? texts.get(value) : undefined;
  return known ?? JSON.stringify(value);
}
