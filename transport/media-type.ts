// Media types as they stand in Content-Type and Accept headers (RFC 9110 8.3.1, 12.5.1): a type and its parameters.
// Knows the grammar only; which types mean what is decided in negotiation.ts and body.ts.

/** One media type. The type and the parameters' names are in lower case. */
export interface MediaType {
  /** `application/json`; empty when the header is empty or no media type. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parameters of one media type; what comes after is not read. */
const PARAMETERS_MAX = 16;

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();
const NONE: MediaType = { type: '', parameters: NO_PARAMETERS };

const TYPE = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Reads a Content-Type header, or one clause of an Accept header. Parameters that are malformed are left out. */
export function parseMediaType(header: string): MediaType {
  const semicolon = header.indexOf(';');
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  if (!TYPE.test(type)) return NONE;
  if (semicolon < 0) return { type, parameters: NO_PARAMETERS };
  const parameters = new Map<string, string>();
  for (const part of splitOutsideQuotes(header.slice(semicolon + 1), ';', PARAMETERS_MAX)) {
    const equals = part.indexOf('=');
    if (equals <= 0) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (name !== '' && !parameters.has(name)) parameters.set(name, unquote(part.slice(equals + 1).trim()));
  }
  return { type, parameters };
}

/** The type that a Content-Type header says, without parameters; what is no media type as it stands, to be refused as what it is. */
export function bareMediaType(header: string): string {
  return parseMediaType(header).type || header.trim();
}

/** The parts of `text` between separators that stand outside quoted strings, at most `partsMax` of them. */
export function splitOutsideQuotes(text: string, separator: ',' | ';', partsMax: number): string[] {
  if (!text.includes('"')) return text.split(separator, partsMax);
  const parts: string[] = [];
  let start = 0;
  let inQuotes = false;
  for (let i = 0; i < text.length && parts.length < partsMax; i++) {
    const character = text[i];
    if (inQuotes && character === '\\') i++;
    else if (character === '"') inQuotes = !inQuotes;
    else if (character === separator && !inQuotes) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  if (parts.length < partsMax) parts.push(text.slice(start));
  return parts;
}

function unquote(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value;
  return value.slice(1, -1).replace(/\\(.)/g, '$1');
}
