// Why a body cannot be read as the type it names. The caller answers 400 BadRequest with the message.
import { jsonTypeOf } from '../json/unmarshal-text.ts';

export interface Mismatch {
  readonly expected: string;
  readonly value: unknown;
}

/** A value that its field cannot hold, with the place: `spec.containers[0].name`. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** Empty for the object itself. */
  path = '';
  /** What the field can hold, and the value it was given, where the value is of another JSON type. */
  readonly mismatch: Mismatch | undefined;
  readonly #complaint: string;

  constructor(complaint: string, mismatch?: Mismatch) {
    super();
    this.#complaint = complaint;
    this.mismatch = mismatch;
    this.message = complaint;
  }

  /** Called while the error passes up through the containers it was raised in. */
  within(part: string): this {
    this.path = joinPath(part, this.path);
    this.message = `${this.path}: ${this.#complaint}`;
    return this;
  }
}

const PART_LENGTH_MAX = 64;

/** Puts a field name or `[index]` before a path. Long names, which a client chose, are cut. */
export function joinPath(part: string, rest: string): string {
  const short = part.length > PART_LENGTH_MAX ? `${part.slice(0, PART_LENGTH_MAX)}…` : part;
  return rest === '' || rest.startsWith('[') ? short + rest : `${short}.${rest}`;
}

/** A map key or list index as a part of a path. */
export const indexPart = (key: string | number): string =>
  typeof key === 'number' ? `[${key}]` : `[${key.slice(0, PART_LENGTH_MAX)}]`;

/** The error for a value of the wrong JSON type. */
export const mismatch = (value: unknown, expected: string): DecodeError =>
  new DecodeError(`cannot unmarshal ${jsonTypeOf(value)} into a value of type ${expected}`, { expected, value });

/** The error for a text that is not of the form its type asks for. */
export const malformed = (text: string, expected: string): DecodeError =>
  new DecodeError(
    `cannot unmarshal ${JSON.stringify(text.slice(0, PART_LENGTH_MAX))} into a value of type ${expected}`,
  );
