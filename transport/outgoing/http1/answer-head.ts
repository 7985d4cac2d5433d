// The head of an HTTP/1.1 answer (RFC 9112): its status line and its fields, read strictly, for what they say of the body and of
// the connection. What else a service may say in its fields is checked for its form and not kept.
import { TOKEN } from '../../token.ts';

/** A head, or the trailer after chunks, is not longer than this. */
export const HEAD_BYTES_MAX = 16 * 1024;
const FIELDS_MAX = 128;
const LINE_END = '\r\n';

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const DIGITS = /^\d{1,15}$/;
const TEXT = /^(?:$|text\/)/i;
const KEPT_FOR = /(?:^|[,; ])timeout=(\d{1,9})/i;

/** Why what came is not taken for an answer. */
export class BadAnswer extends Error {}

/** How the end of a body is found. */
export type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** The body ends with the connection. */
  | { readonly kind: 'close' };

export interface AnswerHead {
  readonly status: number;
  readonly framing: Framing;
  /** The connection may carry another request. */
  readonly isKept: boolean;
  /** How long it stays open unused, where the service says so. */
  readonly keptForMs: number | undefined;
  /** After which time the request may come again, where the service says so in seconds. */
  readonly retryAfterMs: number | undefined;
  /** The body is text by its type, or has none. */
  readonly isText: boolean;
  /** Where else to ask; empty where nothing is said of that. */
  readonly location: string;
}

const NO_BODY: Framing = { kind: 'length', bytes: 0 };
const CHUNKED: Framing = { kind: 'chunked' };
const UNTIL_CLOSE: Framing = { kind: 'close' };

/** What the fields say that matter here, while they are read. */
interface Fields {
  length: number | undefined;
  isChunked: boolean;
  connection: string;
  keepAlive: string;
  retryAfter: string;
  type: string;
  location: string;
}

/** What was read last. Answers of one service differ in their date alone, which is the same for a second. */
let last: { readonly text: string; readonly head: AnswerHead } | undefined;

/**
 * Reads a head without the empty line at its end, each byte a character. Throws BadAnswer for what is no head of HTTP/1, and for
 * one by which two readers could find different ends of the body.
 */
export function readHead(text: string): AnswerHead {
  if (last?.text !== text) last = { text, head: headOf(text) };
  return last.head;
}

function headOf(text: string): AnswerHead {
  const lines = text.split(LINE_END, FIELDS_MAX + 2);
  const [, minor, code] = STATUS_LINE.exec(lines[0]!) ?? [];
  if (code === undefined) throw new BadAnswer('no status line of HTTP/1');
  const fields = readFields(lines);
  const status = Number(code);
  const options = fields.connection === '' ? [] : fields.connection.toLowerCase().split(/[ \t]*,[ \t]*/);
  const isKept = minor === '1' ? !options.includes('close') : options.includes('keep-alive');
  const framing = framingOf(status, fields);
  if (framing === CHUNKED && minor === '0') throw new BadAnswer('chunks in HTTP/1.0');
  const keptFor = fields.keepAlive === '' ? undefined : KEPT_FOR.exec(fields.keepAlive)?.[1];
  return {
    status,
    framing,
    isKept: isKept && framing !== UNTIL_CLOSE,
    keptForMs: keptFor === undefined ? undefined : Number(keptFor) * 1000,
    retryAfterMs: DIGITS.test(fields.retryAfter) ? Number(fields.retryAfter) * 1000 : undefined,
    isText: TEXT.test(fields.type),
    location: fields.location,
  };
}

/** Checks the fields of a trailer, without the empty line at its end; nothing of them is used. Throws BadAnswer. */
export function checkTrailer(text: string): void {
  const lines = text.split(LINE_END, FIELDS_MAX + 1);
  if (lines.length > FIELDS_MAX) throw new BadAnswer('too many fields');
  for (const line of lines) fieldEnd(line);
}

function readFields(lines: readonly string[]): Fields {
  if (lines.length > FIELDS_MAX + 1) throw new BadAnswer('too many fields');
  const fields: Fields = {
    length: undefined,
    isChunked: false,
    connection: '',
    keepAlive: '',
    retryAfter: '',
    type: '',
    location: '',
  };
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const end = fieldEnd(line);
    // By their lengths: most fields are of no interest, and need not be looked at closer.
    if (end === 8 || end === 10 || end === 11 || end === 12 || end === 14 || end === 17)
      note(fields, line.slice(0, end).toLowerCase(), valueFrom(line, end + 1));
  }
  return fields;
}

/** Where the name of a field ends. Throws BadAnswer for what is no field. */
function fieldEnd(line: string): number {
  const end = line.indexOf(':');
  if (end < 1 || !TOKEN.test(line.slice(0, end)) || !VALUE.test(line.slice(end + 1))) throw new BadAnswer('no field');
  return end;
}

function note(fields: Fields, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      if (fields.length !== undefined || !DIGITS.test(value)) throw new BadAnswer('no single length');
      fields.length = Number(value);
      return;
    case 'transfer-encoding':
      if (fields.isChunked || value.toLowerCase() !== 'chunked') throw new BadAnswer('an encoding other than chunks');
      fields.isChunked = true;
      return;
    case 'connection':
      fields.connection = fields.connection === '' ? value : `${fields.connection},${value}`;
      return;
    case 'keep-alive':
      fields.keepAlive = value;
      return;
    case 'retry-after':
      fields.retryAfter = value;
      return;
    case 'content-type':
      fields.type = value;
      return;
    case 'location':
      fields.location = value;
  }
}

function framingOf(status: number, { length, isChunked }: Fields): Framing {
  if (isChunked && length !== undefined) throw new BadAnswer('both a length and chunks');
  if (status < 200 || status === 204) {
    if (isChunked || (length ?? 0) > 0) throw new BadAnswer('a body where there can be none');
    return NO_BODY;
  }
  if (status === 304) return NO_BODY;
  if (isChunked) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : { kind: 'length', bytes: length };
}

/** Without the blanks around it. */
function valueFrom(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
