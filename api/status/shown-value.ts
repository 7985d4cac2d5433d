// How messages show a value that is refused: texts quoted, numbers and flags plain, nothing as `"null"`, maps, lists and label
// selectors the way the original writes its own, anything else as a short dump. Bounded, since the value is whatever a
// client sent.

/** Characters of a value, or of a value's dump, shown in a message. */
const VALUE_CHARACTERS_MAX = 512;
const DUMP_DEPTH_MAX = 4;
/** From this power of ten on, numbers that are no integers are written with an exponent. */
const FLOAT_EXPONENT_MIN = 6;

/** A value that is shown as this text, where the value itself does not say of which type it is: nothing, or empty. */
class ShownAs {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The text for a value. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : shownFloat(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value === null || value === undefined) return '"null"';
  return value instanceof ShownAs ? value.text : cut(dump(value, DUMP_DEPTH_MAX));
}

/** What is not shown is not looked at: there may be as many errors about a list as it has elements. */
function dump(value: unknown, depthLeft: number): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : showValue(value);
  if (depthLeft === 0) return '…';
  if (Array.isArray(value)) return listText(value, depthLeft);
  const object = value as Record<string, unknown>;
  return isSelector(object) ? selectorText(object, depthLeft) : objectText(object, depthLeft);
}

function listText(list: readonly unknown[], depthLeft: number): string {
  const parts = new Parts();
  let isOfTexts = true;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    isOfTexts &&= typeof item === 'string';
    if (!parts.add(dump(item, depthLeft - 1))) break;
  }
  return isOfTexts ? `[]string{${parts.joined(', ')}}` : `[${parts.joined(',')}]`;
}

function objectText(object: Readonly<Record<string, unknown>>, depthLeft: number): string {
  const parts = new Parts();
  let isOfTexts = true;
  let isEmpty = true;
  for (const key in object) {
    isEmpty = false;
    const member = object[key];
    isOfTexts &&= typeof member === 'string';
    if (!parts.add(`${quoted(key)}:${dump(member, depthLeft - 1)}`)) break;
  }
  return isOfTexts && !isEmpty ? `map[string]string{${parts.joined(', ')}}` : `{${parts.joined(',')}}`;
}

/** True for objects that have nothing but the members of a label selector. */
function isSelector(object: Readonly<Record<string, unknown>>): boolean {
  let isEmpty = true;
  for (const key in object) {
    if (key !== 'matchLabels' && key !== 'matchExpressions') return false;
    isEmpty = false;
  }
  return !isEmpty;
}

function selectorText({ matchLabels, matchExpressions }: Readonly<Record<string, unknown>>, depthLeft: number): string {
  const labels = matchLabels === undefined ? 'map[string]string(nil)' : dump(matchLabels, depthLeft - 1);
  const requirement = 'v1.LabelSelectorRequirement';
  const parts = new Parts();
  for (const term of Array.isArray(matchExpressions) ? (matchExpressions as readonly unknown[]) : []) {
    const { key = '', operator = '', values } = (term ?? {}) as Readonly<Record<string, unknown>>;
    const of = values === undefined ? '[]string(nil)' : dump(values, depthLeft - 2);
    if (!parts.add(`${requirement}{Key:${showValue(key)}, Operator:${showValue(operator)}, Values:${of}}`)) break;
  }
  const terms = matchExpressions === undefined ? `[]${requirement}(nil)` : `[]${requirement}{${parts.joined(', ')}}`;
  return `v1.LabelSelector{MatchLabels:${labels}, MatchExpressions:${terms}}`;
}

/** The parts of a dump, until it is long enough. */
class Parts {
  readonly #parts: string[] = [];
  #characters = 0;

  /** False when there is room for no more. */
  add(part: string): boolean {
    this.#parts.push(part);
    this.#characters += part.length;
    return this.#characters <= VALUE_CHARACTERS_MAX;
  }

  joined(separator: string): string {
    return this.#parts.join(separator);
  }
}

function quoted(text: string): string {
  return JSON.stringify(cut(text));
}

function cut(text: string): string {
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}

/** A number or a text, where the original has one type for both. */
export function shownIntOrString(value: number | string): unknown {
  const [type, number, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value];
  return new ShownAs(`intstr.IntOrString{Type:${type}, IntVal:${number}, StrVal:${quoted(text)}}`);
}

/** An object of texts and numbers, whose type and members the original writes before them. */
export function shownStruct(type: string, members: Readonly<Record<string, string | number>>): unknown {
  const parts = Object.entries(members).map(([name, value]) => `${name}:${showValue(value)}`);
  return new ShownAs(`${type}{${parts.join(', ')}}`);
}

/** A list, whose type the original writes before it. An empty one is none. */
export function shownList(type: string, items: readonly (string | number)[]): unknown {
  if (items.length === 0) return new ShownAs(`[]${type}(nil)`);
  // What is beyond the bound is not looked at: each item takes a character at least.
  const shown = items.slice(0, VALUE_CHARACTERS_MAX);
  return new ShownAs(cut(`[]${type}{${shown.map(showValue).join(', ')}}`));
}

/** A list of such values that is there and empty: `[]int64{}`. */
export function shownEmptyList(type: string): unknown {
  return new ShownAs(`[]${type}{}`);
}

/** A number that is no integer, as the original writes it: `1e+06`, `1.5e-07`. */
export function shownFloat(value: number): string {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < FLOAT_EXPONENT_MIN) return String(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** A map or a list of anything, as the original dumps it. Other values are shown as they are. */
export function shownJson(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? new ShownAs(cut(dumpOfAny(value))) : value;
}

function dumpOfAny(value: unknown): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value !== 'object') return showValue(value);
  const isList = Array.isArray(value);
  const object = value as Readonly<Record<string, unknown>>;
  const parts = new Parts();
  for (const key of isList ? value.keys() : Object.keys(object).sort()) {
    if (!parts.add(isList ? dumpOfAny(value[key as number]) : `${quoted(String(key))}:${dumpOfAny(object[key])}`))
      break;
  }
  return `${isList ? '[]interface {}' : 'map[string]interface {}'}{${parts.joined(', ')}}`;
}

/** No map of labels. */
export const NO_LABELS_SHOWN = new ShownAs('map[string]string(nil)');
/** A label selector without terms. */
export const EMPTY_SELECTOR_SHOWN = new ShownAs(selectorText({}, DUMP_DEPTH_MAX));
