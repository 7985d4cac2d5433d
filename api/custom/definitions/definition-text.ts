// Reads a stored definition without its schemas, which are nearly all of it: each stays the JSON that it is until it is used.
// Most schemas of a server are used on few of its threads or on none.
import { parseExact } from '../../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asList, asObject, partAt } from '../../json/object-fields.ts';
import { parseSchema } from './schema-text.ts';

/** How a schema begins in what the encoder writes. Within a string there would be backslashes before its quotes. */
const OPENING = '"openAPIV3Schema":{';
const MEMBER = 'openAPIV3Schema';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The object that a text is the JSON of, each of its schemas as JSON. Throws SyntaxError. */
export function parseDefinition(text: string): JsonObject {
  const schemas: string[] = [];
  // Versions often say the same: they share it.
  const known = new Map<string, string>();
  const kept = (schema: string): string => {
    const copy = known.get(schema) ?? copyOf(schema);
    known.set(copy, copy);
    return copy;
  };
  let rest = '';
  let from = 0;
  for (let at = text.indexOf(OPENING); at >= 0; at = text.indexOf(OPENING, from)) {
    const start = at + OPENING.length - 1;
    const end = endOfObject(text, start);
    rest += `${text.slice(from, start)}null`;
    schemas.push(kept(text.slice(start, end)));
    from = end;
  }
  const object = JSON.parse(rest + text.slice(from)) as JsonObject;
  const places = placesIn(object).filter((place) => place[MEMBER] === null);
  // A schema where nobody looks for one: the text is none of a definition.
  if (places.length !== schemas.length) return parseExact(text) as JsonObject;
  for (const [index, place] of places.entries()) place[MEMBER] = schemas[index];
  return object;
}

/** The same with its schemas parsed: the object as it is stored. */
export function withParsedSchemas(object: JsonObject): JsonObject {
  const spec = partAt(object, 'spec');
  const parsed = (holder: unknown): unknown => {
    const schema = asObject(holder)[MEMBER];
    return typeof schema === 'string' ? { ...asObject(holder), [MEMBER]: parseSchema(schema) } : holder;
  };
  const versions = asList(spec.versions).map((version) =>
    isJsonObject(version) && isJsonObject(version.schema) ? { ...version, schema: parsed(version.schema) } : version,
  );
  const validation = spec.validation === undefined ? {} : { validation: parsed(spec.validation) };
  return { ...object, spec: { ...spec, ...validation, ...(spec.versions === undefined ? {} : { versions }) } };
}

/** What holds schemas, in the order of the text. */
function placesIn(object: JsonObject): Record<string, unknown>[] {
  const spec = partAt(object, 'spec');
  const places: unknown[] = [];
  for (const name in spec) {
    if (name === 'validation') places.push(spec.validation);
    else if (name === 'versions') places.push(...asList(spec.versions).map((version) => asObject(version).schema));
  }
  return places.filter(isJsonObject) as Record<string, unknown>[];
}

/** Memory of its own: a part of a text keeps all of it. */
function copyOf(part: string): string {
  return Buffer.from(part).toString();
}

/** Where the object that begins at `start` is over; the end of the text where it is not. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPENING_BRACE) depth++;
    else if (code === CLOSING_BRACE && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Where the quote is that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
