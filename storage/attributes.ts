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
  let labelText = '';
  let labelCount = 0;
  if (labels !== undefined) {
    for (const key of Object.keys(labels)) {
      labelText += `${SEPARATOR}${key}${SEPARATOR}${labels[key]}`;
      labelCount++;
    }
  }
  if (fields.length === 0 && labelCount === 0) return '';
  let packed = `${labelCount}${labelText}`;
  for (const field of fields) packed += SEPARATOR + packedField(field);
  return packed;
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

/** The packed attributes of an object whose labels alone are others. */
export function withLabels(packed: string, labels: Readonly<Record<string, string>> | undefined): string {
  return packAttributes(labels, unpackAttributes(packed).fields);
}
