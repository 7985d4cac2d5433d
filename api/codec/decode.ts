// Brings a JSON value that was parsed from a body into the canonical form of its type: unknown members dropped, types
// checked, spellings unified, empty members left out or written as the schema says, members in schema order. Two
// objects that mean the same have the same text afterwards. Sets no defaults (defaults.ts) and decides no validity.
import { sortRange } from '../../values/sort-range.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';
import { DecodeError, indexPart, joinPath, mismatch } from './decode-error.ts';
import type { ValueReader } from './scalar-forms.ts';
import { DEPTH_MAX, FORM_READERS, FORM_ZEROS, SCALAR_READERS, SCALAR_ZEROS } from './scalar-forms.ts';

export type JsonObject = Record<string, unknown>;

export interface Decoded {
  /** The value given, changed in place, or a new object in its stead. */
  readonly object: JsonObject;
  /** Paths of members that the type does not have, at most 100. */
  readonly unknownFields: readonly string[];
  /** Paths of lists that came empty, at most 100, of those that canonical form has null for. */
  readonly emptied: readonly string[];
}

/**
 * Checks and prunes an object against its type, in place where it can.
 *
 * Also the way to restore canonical form after defaulting or mutation added members: on an object that is canonical
 * already nothing is allocated.
 *
 * @param value parsed JSON; it is consumed, parts of it are in the result.
 * @throws DecodeError naming the first member that its type cannot hold, or nesting beyond 512 levels.
 */
export function decode(value: unknown, type: TypeSchema): Decoded {
  notes = NO_NOTES;
  depth = 0;
  orderTop = 0;
  const object = layoutOf(type).read(value);
  const decoded = { object, unknownFields: noted('unknown'), emptied: noted('emptied') };
  notes = NO_NOTES;
  return decoded;
}

const NONE: readonly string[] = [];
/** Of one kind. */
const NOTED_MAX = 100;

/** What of a place is told beside the object. */
interface Note {
  readonly what: 'unknown' | 'emptied';
  path: string;
}
const NO_NOTES: readonly Note[] = [];

// State of the call under way: decode is synchronous and does not call itself.
let notes: readonly Note[] = NO_NOTES;
/** Of the notes, by what they tell. */
const counts = { unknown: 0, emptied: 0 };
let depth = 0;
/** Stack of the member indexes met so far, of every object that is being read. */
const order: number[] = [];
let orderTop = 0;

/** Answers null, which stands for a list that came empty. */
function note(what: Note['what'], path: string): null {
  if (notes === NO_NOTES) {
    notes = [];
    counts.unknown = 0;
    counts.emptied = 0;
  }
  if (counts[what] < NOTED_MAX) (notes as Note[]).push({ what, path });
  counts[what] += 1;
  return null;
}

function prefixNoted(from: number, part: string): void {
  for (let i = from; i < notes.length; i++) notes[i]!.path = joinPath(part, notes[i]!.path);
}

function noted(what: Note['what']): readonly string[] {
  if (notes === NO_NOTES) return NONE;
  return notes.filter((note) => note.what === what).map(({ path }) => path);
}

/** The scalars of which most values are as they should be already. */
type PlainType = 'string' | 'boolean' | 'number';

/** How one member of an object is read and written. */
interface Member {
  readonly name: string;
  readonly index: number;
  /** Values of this type that `isPlain` says are canonical are kept without a call; undefined: none are. */
  readonly plain: PlainType | undefined;
  /** What the member's objects are read by, where it is one message. */
  readonly message: LazyLayout | undefined;
  /** Returns the canonical value, or undefined to leave the member out. */
  readonly read: ValueReader;
  /** What is written when the member is missing; undefined when nothing is. */
  readonly empty: (() => unknown) | undefined;
}

type MemberForm = Omit<Member, 'name' | 'index'>;

/** Of a scalar that is not zero every member keeps the value; what an integer of 32 bits is, is one of 64. */
function isPlain(value: unknown, type: PlainType | undefined): boolean {
  if (typeof value === 'string') return type === 'string' && value !== '';
  if (typeof value === 'number') return type === 'number' && value !== 0 && (value | 0) === value;
  return value === true && type === 'boolean';
}

const PLAIN_TYPES: Readonly<Partial<Record<FieldSchema['kind'], PlainType>>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
};

const layouts = new WeakMap<TypeSchema, Layout>();

function layoutOf(type: TypeSchema): Layout {
  let layout = layouts.get(type);
  if (layout === undefined) {
    layout = new Layout(type);
    layouts.set(type, layout);
  }
  return layout;
}

/** A type's layout, made when it is first needed: types contain themselves. */
class LazyLayout {
  readonly #type: TypeSchema;
  #layout: Layout | undefined;

  constructor(type: TypeSchema) {
    this.#type = type;
  }

  get(): Layout {
    this.#layout ??= layoutOf(this.#type);
    return this.#layout;
  }
}

class Layout {
  readonly #typeName: string;
  readonly #members: readonly Member[];
  readonly #byName: ReadonlyMap<string, Member>;
  /** Members that are written even when empty. */
  readonly #emitted: readonly Member[];
  /** By place, what the last object that had so many had there: objects of a kind are mostly made alike. */
  readonly #usual: Member[] = [];

  constructor(type: TypeSchema) {
    this.#typeName = type.kind;
    const members: Member[] = [];
    const add = (name: string, member: MemberForm) => members.push({ name, index: members.length, ...member });
    if (type.hasTypeMeta) {
      for (const name of ['kind', 'apiVersion']) add(name, TEXT_MEMBER);
    }
    for (const field of type.fields) add(field.name, memberOf(field));
    this.#members = members;
    this.#byName = new Map(members.map((member) => [member.name, member]));
    this.#emitted = members.filter((member) => member.empty !== undefined);
  }

  read(value: unknown): JsonObject {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, this.#typeName);
    if (depth === DEPTH_MAX) throw new DecodeError(`nested deeper than ${DEPTH_MAX} levels`);
    const object = value as JsonObject;
    const base = orderTop;
    depth += 1;
    let isCanonical = true;
    let emitted = 0;
    let previous = -1;
    let place = 0;
    for (const name in object) {
      let member = this.#usual[place];
      if (member?.name !== name) {
        member = this.#byName.get(name);
        if (member === undefined) {
          note('unknown', joinPath(name, ''));
          isCanonical = false;
          continue;
        }
        this.#usual[place] = member;
      }
      place += 1;
      const given = object[name];
      if (!isPlain(given, member.plain)) {
        const read = readMember(member, given);
        if (read === undefined) {
          isCanonical = false;
          continue;
        }
        if (read !== given) object[name] = read;
      }
      if (member.empty !== undefined) emitted += 1;
      const { index } = member;
      if (index < previous) isCanonical = false;
      previous = index;
      order[orderTop] = index;
      orderTop += 1;
    }
    const canonical = isCanonical && emitted === this.#emitted.length ? object : this.#rebuilt(object, base, orderTop);
    orderTop = base;
    depth -= 1;
    return canonical;
  }

  /** The same members in schema order, with the missing ones that are always written. */
  #rebuilt(object: JsonObject, base: number, top: number): JsonObject {
    sortRange(order, base, top);
    const rebuilt: JsonObject = {};
    let nextEmitted = 0;
    for (let i = base; i < top; i++) {
      const index = order[i]!;
      nextEmitted = this.#emitBefore(rebuilt, nextEmitted, index);
      const { name } = this.#members[index]!;
      rebuilt[name] = object[name];
    }
    this.#emitBefore(rebuilt, nextEmitted, this.#members.length);
    return rebuilt;
  }

  #emitBefore(object: JsonObject, from: number, end: number): number {
    let next = from;
    for (; next < this.#emitted.length; next++) {
      const member = this.#emitted[next]!;
      if (member.index >= end) return member.index === end ? next + 1 : next;
      object[member.name] = member.empty!();
    }
    return next;
  }
}

function readMember(member: Member, value: unknown): unknown {
  const notedBefore = notes.length;
  let read: unknown;
  try {
    read = member.message === undefined || value === null ? member.read(value) : member.message.get().read(value);
  } catch (error) {
    throw error instanceof DecodeError ? error.within(member.name) : error;
  }
  if (notes.length !== notedBefore) prefixNoted(notedBefore, member.name);
  return read;
}

function readElement(read: ValueReader, value: unknown, key: string | number): unknown {
  const notedBefore = notes.length;
  let element: unknown;
  try {
    element = read(value);
  } catch (error) {
    throw error instanceof DecodeError ? error.within(indexPart(key)) : error;
  }
  if (notes.length !== notedBefore) prefixNoted(notedBefore, indexPart(key));
  return element;
}

/** A text that is left out when empty. */
const TEXT_MEMBER: MemberForm = {
  plain: 'string',
  message: undefined,
  read: (value) => (value === null ? undefined : SCALAR_READERS.string(value) || undefined),
  empty: undefined,
};

function memberOf(field: FieldSchema): MemberForm {
  const { cardinality, kind, type } = field;
  const plain = cardinality === 'one' ? PLAIN_TYPES[kind] : undefined;
  const message = cardinality === 'one' && type?.form === 'message' ? new LazyLayout(type) : undefined;
  return { plain, message, ...readingOf(field) };
}

function readingOf(field: FieldSchema): Pick<Member, 'read' | 'empty'> {
  const { emitEmpty } = field;
  if (field.cardinality !== 'one') {
    const read = field.cardinality === 'list' ? listReader(field) : mapReader(field);
    if (!emitEmpty) return { read: (value) => (value === null ? undefined : read(value)), empty: undefined };
    return { read: (value) => (value === null ? null : (read(value) ?? note('emptied', ''))), empty: () => null };
  }
  const read = elementReader(field);
  const zero = zeroOf(field);
  if (field.optional) {
    // One that is written even so is null where it is not there.
    const absent = emitEmpty ? null : undefined;
    const empty = emitEmpty ? () => null : undefined;
    return { read: (value) => (value === null ? absent : (read(value) ?? absent)), empty };
  }
  if (emitEmpty) return { read: (value) => (value === null ? zero() : read(value)), empty: zero };
  if (field.kind === 'string') return TEXT_MEMBER;
  const dropped = field.kind === 'bytes' ? '' : zero();
  return {
    read: (value) => {
      if (value === null) return undefined;
      const canonical = read(value);
      return canonical === dropped ? undefined : canonical;
    },
    empty: undefined,
  };
}

/** Reads one value of the field: itself, a list element or a map value. Not called with null. */
function elementReader(field: FieldSchema): ValueReader {
  if (field.kind !== 'message') return SCALAR_READERS[field.kind];
  const type = field.type!;
  const form = FORM_READERS[type.form];
  if (form !== undefined) return form;
  if (type.form !== 'message') return alternativesReader(type);
  const layout = new LazyLayout(type);
  return (value) => layout.get().read(value);
}

function zeroOf(field: FieldSchema): () => unknown {
  if (field.kind !== 'message') {
    const zero = SCALAR_ZEROS[field.kind];
    return () => zero;
  }
  const type = field.type!;
  if (type.form === 'message') return () => layoutOf(type).read({});
  const zero = FORM_ZEROS[type.form];
  return () => zero;
}

/**
 * What null stands for inside a list or a map: for what a message gives back, which knows one empty value. No bytes are an
 * empty text there, and no texts an empty list.
 */
function elementZero(field: FieldSchema): () => unknown {
  if (field.kind === 'bytes') return () => '';
  return field.type?.form === 'stringList' ? () => [] : zeroOf(field);
}

function listReader(field: FieldSchema): ValueReader {
  const read = elementReader(field);
  const zero = elementZero(field);
  const isText = field.kind === 'string';
  const expected = `list of ${field.type?.kind ?? field.kind}`;
  return (value) => {
    if (!Array.isArray(value)) throw mismatch(value, expected);
    for (let i = 0; i < value.length; i++) {
      const given: unknown = value[i];
      if (isText && typeof given === 'string') continue;
      const element = given === null ? zero() : readElement(read, given, i);
      if (element !== given) value[i] = element;
    }
    return value.length === 0 ? undefined : value;
  };
}

function mapReader(field: FieldSchema): ValueReader {
  const read = elementReader(field);
  const zero = elementZero(field);
  const isText = field.kind === 'string';
  const expected = `map of ${field.type?.kind ?? field.kind}`;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, expected);
    const map = value as JsonObject;
    let previous = '';
    let isSorted = true;
    let isEmpty = true;
    for (const key in map) {
      isEmpty = false;
      if (key < previous) isSorted = false;
      previous = key;
      const given = map[key];
      if (isText && typeof given === 'string') continue;
      const element = given === null ? zero() : readElement(read, given, key);
      if (element !== given) setOwn(map, key, element);
    }
    if (isEmpty) return undefined;
    return isSorted ? map : sorted(map);
  };
}

function sorted(map: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(map).sort()) setOwn(copy, key, map[key]);
  return copy;
}

/** Sets a member under a key that a client chose. */
function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** The forms of a JSON schema's parts: a schema, or else a flag, a list of schemas, or a list of names. */
function alternativesReader(type: TypeSchema): ValueReader {
  const schemaField = type.wireFields.find((field) => field.name === 'schema')!;
  const readSchema = elementReader(schemaField);
  if (type.form === 'schemaOrBool') {
    return (value) => (typeof value === 'boolean' ? value : readSchema(value));
  }
  const readItem = type.form === 'schemaOrArray' ? readSchema : SCALAR_READERS.string;
  return (value) => {
    if (!Array.isArray(value)) return readSchema(value);
    for (let i = 0; i < value.length; i++) value[i] = readElement(readItem, value[i], i);
    return value;
  };
}
