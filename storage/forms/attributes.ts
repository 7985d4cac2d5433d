// What selectors need to know of an object without parsing it: its labels, and the values of the fields its type lets
// clients select by. Packed into one string when the object is written, unpacked only where a selector looks.

const SEPARATOR = '\u0000';
const REPLACEMENT = '\ufffd';

export interface Attributes {
  readonly labels: Readonly<Record<string, string>>;
  /** In the order of KnownType.storedFields. */
  readonly fields: readonly string[];
}

/**
 * `<number of labels>`, then NUL before each key, value and field. Labels hold no NUL (validation sees to that); fields are
 * free text in some types, and a NUL in one must not move the others.
 */
export function packAttributes(
  labels: Readonly<Record<string, string>> | undefined,
  fields: readonly string[],
): string {
  let fieldText = '';
  for (const field of fields) fieldText += SEPARATOR + packedField(field);
  return packedOf(labels, fieldText);
}

function packedOf(labels: Readonly<Record<string, string>> | undefined, fieldText: string): string {
  let labelText = '';
  let labelCount = 0;
  if (labels !== undefined) {
    for (const key of Object.keys(labels)) {
      labelText += `${SEPARATOR}${key}${SEPARATOR}${labels[key]}`;
      labelCount++;
    }
  }
  return fieldText === '' && labelCount === 0 ? '' : `${labelCount}${labelText}${fieldText}`;
}

/** A field's value as it stands among packed attributes. */
export function packedField(field: string): string {
  return field.includes(SEPARATOR) ? field.replaceAll(SEPARATOR, REPLACEMENT) : field;
}

/** The inverse of packAttributes. */
export function unpackAttributes(packed: string): Attributes {
  // No prototype: a label key is a client's word, and `__proto__` must stay one.
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  if (packed === '') return { labels, fields: [] };
  const parts = packed.split(SEPARATOR);
  const labelEnd = 1 + 2 * Number(parts[0]);
  for (let i = 1; i < labelEnd; i += 2) labels[parts[i]!] = parts[i + 1]!;
  return { labels, fields: parts.slice(labelEnd) };
}

/** Of the labels those of the names alone, and no fields: of an object with thousands of labels a selector asks for few. */
export function unpackLabels(packed: string, names: readonly string[]): Attributes {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  const end = packed.indexOf(SEPARATOR);
  const labelCount = end < 0 ? 0 : Number(packed.slice(0, end));
  for (const name of names) {
    const at = placeOfLabel(packed, name, labelCount);
    if (at < 0) continue;
    const valueEnd = packed.indexOf(SEPARATOR, at);
    labels[name] = packed.slice(at, valueEnd < 0 ? packed.length : valueEnd);
  }
  return { labels, fields: [] };
}

/** Where the value of a label begins; -1 where there is none of the name. */
function placeOfLabel(packed: string, name: string, labelCount: number): number {
  const key = `${SEPARATOR}${name}${SEPARATOR}`;
  // Separators before the one that has been found.
  let before = 0;
  let from = 0;
  for (let at = packed.indexOf(key); at >= 0; at = packed.indexOf(key, at + 1)) {
    for (let next = packed.indexOf(SEPARATOR, from); next < at; next = packed.indexOf(SEPARATOR, next + 1)) before += 1;
    from = at;
    if (before >= 2 * labelCount) return -1;
    // What it finds may be a value.
    if (before % 2 === 0) return at + key.length;
  }
  return -1;
}

/** The packed attributes of an object whose labels alone are others. */
export function withLabels(packed: string, labels: Readonly<Record<string, string>> | undefined): string {
  // None of what is skipped holds a separator.
  let at = packed.indexOf(SEPARATOR);
  for (let skipped = 2 * Number.parseInt(packed, 10); skipped > 0; skipped--) at = packed.indexOf(SEPARATOR, at + 1);
  return packedOf(labels, at < 0 ? '' : packed.slice(at));
}
