// One input of a target: named texts and bytes. What a failure prints, what a file of the corpus holds, and what --replay
// reads.

export interface Input {
  /** By the names the target gives them. */
  readonly text: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export const NO_BYTES = new Uint8Array();

/** An input with where it came from, as a file. */
export interface StoredInput {
  readonly target: string;
  readonly input: Input;
}

interface FileForm {
  readonly target: string;
  readonly text: Readonly<Record<string, string>>;
  /** The body where it is UTF-8. */
  readonly body?: string;
  /** The body in base64 where it is not. */
  readonly bytes?: string;
  readonly found?: string;
}

/** The file's text. `found` says why it was kept. */
export function inputFileText({ target, input }: StoredInput, found: string): string {
  const buffer = Buffer.from(input.body);
  const body = buffer.toString('utf8');
  const form: FileForm = {
    target,
    text: input.text,
    ...(Buffer.from(body).equals(buffer) ? { body } : { bytes: buffer.toString('base64') }),
    found,
  };
  return `${JSON.stringify(form, null, 2)}\n`;
}

/** The inverse. Throws for a text that is no such file. */
export function parseInputFile(text: string): StoredInput {
  const { target, text: texts, body = '', bytes } = JSON.parse(text) as FileForm;
  return {
    target,
    input: { text: texts, body: bytes === undefined ? Buffer.from(body) : Buffer.from(bytes, 'base64') },
  };
}

const SHOWN_MAX = 2000;

/** One line for people, everything unprintable escaped. */
export function shownInput({ text, body }: Input): string {
  const parts = Object.entries(text).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  if (body.length > 0) parts.push(`body(${body.length})=${JSON.stringify(Buffer.from(body).toString('latin1'))}`);
  const line = parts.join(' ');
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}…` : line;
}
