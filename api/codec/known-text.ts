// The JSON of parts of objects that are written again and again, because what is made alike has them in common. Who is given such a
// part shares it: it is frozen.
import { freezeJson } from '../json/freeze-json.ts';

const texts = new WeakMap<object, string>();

/** Freezes a part and keeps its JSON, once for all who write it. */
export function keepText(part: object, text = JSON.stringify(part)): void {
  freezeJson(part);
  texts.set(part, text);
}

/** The JSON of a part that is kept; undefined of any other value. */
export function keptTextOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined;
}
