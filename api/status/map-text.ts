// Values of a patch as the original's messages show them: `map[image:x name:c]`, `[a b]`. Bounded, since a client sent them.
import { isJsonObject } from '../json/json-value.ts';

const CHARACTERS_MAX = 512;
const LEVELS_MAX = 8;

/** The text for a value of a patch. */
export function mapText(value: unknown): string {
  const text = textOf(value, LEVELS_MAX);
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text;
}

function textOf(value: unknown, levelsLeft: number): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value !== 'object') return String(value);
  if (levelsLeft === 0) return '…';
  // What is beyond the bound is not looked at: each member takes a character at least.
  if (Array.isArray(value)) {
    const shown = value.slice(0, CHARACTERS_MAX);
    return `[${shown.map((item) => textOf(item, levelsLeft - 1)).join(' ')}]`;
  }
  if (!isJsonObject(value)) return String(value);
  const names = Object.keys(value).sort().slice(0, CHARACTERS_MAX);
  return `map[${names.map((name) => `${name}:${textOf(value[name], levelsLeft - 1)}`).join(' ')}]`;
}
