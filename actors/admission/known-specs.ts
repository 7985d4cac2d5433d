// The specs of pods that were created last: those of one template are the same bytes in every body, and come to the same. What is
// known of one is neither parsed nor made complete, held to rules and written again for each pod. Every plugin is asked all the same.
// Bounded; forgotten with the thread. Decides nothing: who does not find a spec here takes the long way, to the same end.
import { crc32 } from 'node:zlib';
import { keepFieldsOf } from '../../api/apply/created-fields.ts';
import type { OwnedType } from '../../api/apply/owned-type.ts';
import { keepText } from '../../api/codec/known-text.ts';
import { deepEqual } from '../../api/json/deep-equal.ts';
import { freezeJson } from '../../api/json/freeze-json.ts';
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { partsAt } from '../../api/json/object-fields.ts';
import type { ObjectMeta } from '../../api/metadata/object-meta.ts';
import type { Dialect } from '../../config/dialect.ts';
import { decodeBeginning, withoutBlanks } from '../../transport/body.ts';
import { keep } from '../../values/kept.ts';

/** Of so many bytes at most. */
const KNOWN_MAX = 16;
const BYTES_MAX = 16 * 1024;
/** Ends of bodies that were looked at: only what comes twice is worth to be known. */
const SEEN_MAX = 256;
/** What plugins make of a spec is remembered this often, where it is another each time. */
const OUTCOMES_MAX = 8;

const MEMBER_TEXT = ',"spec":';
const MEMBER = Buffer.from(MEMBER_TEXT);
const BRACE = 0x7b;
/** What follows a spec that is a body's last member, or its last but an empty status. */
const ENDS: readonly string[] = ['}', ',"status":{}}'];
const CLOSING = Buffer.from('}');

/** What a spec of a body stands for, and what becomes of it. */
export class KnownSpec {
  /** Decoded, with its defaults, in canonical form; frozen. */
  readonly given: JsonObject;
  /** As `DecodedObject.emptied`. */
  readonly emptied: readonly string[];
  #stays: Uint8Array | undefined;
  #before: JsonObject | undefined;
  #outcome: JsonObject | undefined;
  /** Remembered one after the other, and none of them found again. */
  #outcomes = 0;
  #isHeld = false;

  constructor(given: JsonObject, emptied: readonly string[], { rule }: OwnedType) {
    freezeJson(given);
    keepFieldsOf(given, 'spec', rule);
    this.given = given;
    this.emptied = emptied;
  }

  /**
   * What of a stored pod an update with this spec leaves as it is: its text from the brace that closes its metadata to the one that closes
   * its spec. Undefined before any is known.
   */
  get stays(): Uint8Array | undefined {
    return this.#stays;
  }

  /** Notes that an update has left that of a stored spec. */
  leave(stored: JsonObject): void {
    this.#stays = Buffer.from(`}${MEMBER_TEXT}${JSON.stringify(stored)}`);
  }

  /** What is stored of what plugins have made of it, where they made the same before; frozen. */
  outcomeOf(made: JsonObject): JsonObject | undefined {
    if (this.#before === undefined || !deepEqual(made, this.#before)) return undefined;
    this.#outcomes = 0;
    return this.#outcome;
  }

  /** Whether a pod that has it is known to be valid: its annotations may say some of what fields say. */
  isHeld({ spec, metadata }: JsonObject, { labelDomain }: Dialect): boolean {
    return this.#isHeld && spec === this.#outcome && saysNothing(metadata, labelDomain);
  }

  /** Notes that a pod is valid. */
  hold({ spec, metadata }: JsonObject, { labelDomain }: Dialect): void {
    if (spec === this.#outcome && saysNothing(metadata, labelDomain)) this.#isHeld = true;
  }

  /** Remembers that. `made` is a copy, of which nobody changes anything from here on. */
  remember(made: JsonObject, stored: JsonObject): void {
    if (this.#outcomes === OUTCOMES_MAX) {
      this.#before = undefined;
      return;
    }
    this.#outcomes++;
    this.#before = made;
    this.#outcome = stored;
    this.#isHeld = false;
    keepText(stored);
  }
}

function saysNothing(metadata: unknown, domain: string): boolean {
  const { annotations = {} } = metadata as ObjectMeta;
  for (const key in annotations) if (key.includes(domain)) return false;
  return true;
}

/** A body of which the spec is known. */
export interface KnownBody {
  readonly known: KnownSpec;
  /** The value of what comes before it, which is the object without it if it is one. */
  readonly head: unknown;
}

/** Decodes the body and makes its object complete; no object where that does not follow from the body alone. Throws what refuses it. */
export type Completed = () => { readonly object: JsonObject | undefined; readonly emptied: readonly string[] };

interface Entry {
  readonly bytes: Uint8Array;
  readonly known: KnownSpec;
}

export class KnownSpecs {
  /** Those asked for last come last. */
  #entries: Entry[] = [];
  /** By the checksum of a body's end, whether it was looked at twice and cannot be known. */
  readonly #seen = new Map<number, boolean>();

  /** The spec of a body that creates a pod, if it is known; from its second appearance on it is. */
  find(payload: Uint8Array, owned: OwnedType, completed: Completed): KnownBody | undefined {
    const { buffer, byteOffset, byteLength } = withoutBlanks(payload);
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const at = bytes.indexOf(MEMBER);
    const from = at + MEMBER.length;
    if (at < 0 || bytes[from] !== BRACE) return undefined;
    const entry = this.#entryAt(bytes, from) ?? this.#learned(bytes, from, owned, completed);
    return entry && { known: entry.known, head: decodeBeginning(bytes.subarray(0, at), CLOSING) };
  }

  #entryAt(bytes: Buffer, from: number): Entry | undefined {
    for (let index = this.#entries.length - 1; index >= 0; index--) {
      const entry = this.#entries[index]!;
      const end = from + entry.bytes.length;
      if (
        end < bytes.length &&
        bytes.compare(entry.bytes, 0, entry.bytes.length, from, end) === 0 &&
        isEnd(bytes, end)
      ) {
        if (index < this.#entries.length - 1) this.#entries.push(...this.#entries.splice(index, 1));
        return entry;
      }
    }
    return undefined;
  }

  #learned(bytes: Buffer, from: number, owned: OwnedType, completed: Completed): Entry | undefined {
    if (bytes.length - from > BYTES_MAX) return undefined;
    const tail = crc32(bytes.subarray(from));
    const isInVain = this.#seen.get(tail);
    if (isInVain === undefined) keep(this.#seen, SEEN_MAX, tail, false);
    if (isInVain !== false) return undefined;
    const end = endOf(bytes, from);
    const made = end < 0 ? undefined : madeBy(completed);
    this.#seen.set(tail, made === undefined);
    if (made === undefined) return undefined;
    const known = new KnownSpec(made.spec, made.emptied, owned);
    const entry = { bytes: Uint8Array.from(bytes.subarray(from, end)), known };
    this.#entries.push(entry);
    if (this.#entries.length > KNOWN_MAX) this.#entries = this.#entries.slice(1);
    return entry;
  }
}

/** Undefined where it is refused, as it will be again where that is answered. */
function madeBy(completed: Completed): { readonly spec: JsonObject; readonly emptied: readonly string[] } | undefined {
  try {
    const { object, emptied } = completed();
    const spec = object?.spec;
    return isJsonObject(spec) && isOfEveryPod(spec) ? { spec, emptied } : undefined;
  } catch {
    return undefined;
  }
}

/** Volumes that are made for a pod have its name in theirs, by which they may be valid or not. */
function isOfEveryPod(spec: JsonObject): boolean {
  return partsAt(spec, 'volumes').every(({ ephemeral }) => ephemeral === undefined);
}

/** Where the body's last member is over; -1 where another follows. */
function endOf(bytes: Buffer, from: number): number {
  const ends = ENDS.map((text) => bytes.length - text.length);
  return ends.find((end) => end > from && isEnd(bytes, end) && isWhole(bytes.toString('utf8', from, end))) ?? -1;
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a body is over behind its spec. */
function isEnd(bytes: Buffer, at: number): boolean {
  const left = bytes.length - at;
  return ENDS.some((end) => end.length === left && bytes.toString('latin1', at) === end);
}
