// What a fuzz target is: it makes inputs by dice and puts them to a part of the server, which may refuse them in the ways
// that become an answer of class 4xx, and in no other.
import { DecodeError } from '../../api/codec/decode-error.ts';
import { httpCode, isStatusError } from '../../api/status/status.ts';
import { BodyError } from '../../transport/body.ts';
import type { Dice } from './generate/dice.ts';
import type { Input } from './input.ts';

export interface Target {
  readonly name: string;
  /** Its part of a mixed run, against the weights of the others. */
  readonly weight: number;
  /** Once, before the first input. */
  readonly start?: () => Promise<void>;
  readonly stop?: () => Promise<void>;
  /** Texts of its inputs, or `body`, that stay as they are when a failing input is cut down. */
  readonly fixed?: readonly string[];
  /** Inputs at a time; 1 when absent. With more, the time that one takes is not looked at. */
  readonly concurrency?: number;
  /** How many times a run does what the server does once with an input: it may take as many times longer. 1 when absent. */
  readonly passes?: number;
  /** After each batch. Throws when the server is not what it was. */
  readonly check?: () => Promise<void>;
  readonly generate: (dice: Dice) => Input;
  /** Throws, or rejects, when the server's part does what it must not. */
  readonly run: (input: Input) => Promise<void> | void;
}

/** A promise of the server's that an input has broken. */
export class Violation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Violation';
  }
}

/** What `step` answers; undefined where it refuses the input properly. */
export function accepted<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    requireRefusal(error);
    return undefined;
  }
}

/** Throws what is no refusal: everything that would have been answered by a code of class 5xx. */
function requireRefusal(error: unknown): void {
  if (error instanceof DecodeError || error instanceof BodyError) return;
  if (!isStatusError(error)) throw error;
  const code = httpCode(error.status);
  if (code < 400 || code > 499) throw new Violation(`refused with ${code}: ${error.message}`);
}

/** Throws unless both texts are the same. */
export function requireSame(actual: string | undefined, expected: string | undefined, what: string): void {
  if (actual === expected) return;
  throw new Violation(`${what}: ${actual?.slice(0, 500)} is not ${expected?.slice(0, 500)}`);
}

/** Protobuf has one empty value for bytes, JSON has two: an empty text and null. */
export function withoutNulls(json: string): string {
  return json.replaceAll('null', '""');
}
