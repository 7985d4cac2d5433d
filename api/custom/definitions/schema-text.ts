// A definition's schema out of its JSON. The numbers that a schema goes by are doubles, as in the original; what it says of
// objects (defaults, listed values) keeps every digit. Pure.
import { asDouble, hasLongNumber, parseExact } from '../../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';

/** Members of a schema that hold values, or texts: there is no schema below them. */
const VALUES: ReadonlySet<string> = new Set(['default', 'enum', 'example']);
/** Those that hold schemas by names, which mean nothing. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);

/** Throws SyntaxError. */
export function parseSchema(text: string): JsonObject {
  if (!hasLongNumber(text)) return JSON.parse(text) as JsonObject;
  return withDoubles(parseExact(text)) as JsonObject;
}

/** Changes the schema, of which nobody else knows yet. */
function withDoubles(part: unknown): unknown {
  if (Array.isArray(part)) for (const [index, one] of part.entries()) part[index] = withDoubles(one);
  else if (isJsonObject(part)) {
    const schema = part as Record<string, unknown>;
    for (const member of Object.keys(schema)) {
      if (NAMED.has(member) && isJsonObject(schema[member])) {
        const named = schema[member] as Record<string, unknown>;
        for (const name of Object.keys(named)) named[name] = withDoubles(named[name]);
      } else if (!VALUES.has(member)) schema[member] = withDoubles(schema[member]);
    }
  }
  return asDouble(part);
}
