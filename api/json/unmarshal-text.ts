// How the original says that a JSON value is not of the type it is read as.

/** What JSON calls the value's type. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** `json: cannot unmarshal number into Go value of type string`. */
export function unmarshalText(value: unknown, type: string): string {
  return `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${type}`;
}
