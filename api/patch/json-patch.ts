// JSON patches (RFC 6902, and what clients of this API say beyond it). The document given is never changed: containers on a changed path are copied once, then
// edited in place for the rest of the patch; everything else is shared with the result.

import { deepEqual } from '../json/deep-equal.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { isJsonObject, type JsonObject, NESTING_MAX, nestingOf } from '../json/json-value.ts';
import { unmarshalText } from '../json/unmarshal-text.ts';
import { BODY_BYTES_MAX, badRequest, patchNotApplicable, tooLarge } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import { elementPosition, insertPosition, parsePointer } from './json-pointer.ts';

/** Operations one patch may have. */
const OPERATIONS_MAX = 10_000;
/** Bytes of JSON that the `copy` operations of one patch may add up to. */
const COPIED_BYTES_MAX = BODY_BYTES_MAX;
/** List elements that inserts and removals of one patch may shift, so that a patch of a huge list ends in time. */
const SHIFTED_ELEMENTS_MAX = 100_000_000;

type OperationName = 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';

/** One step of a patch, checked. */
interface Step {
  readonly operation: OperationName;
  readonly path: readonly string[];
  /** `move` and `copy`. */
  readonly from: readonly string[];
  /** `add`, `replace` and `test`; null where nothing is said. */
  readonly value: unknown;
}

/** 422 for a patch that does not apply, in the one sentence that clients are told. */
export class PatchNotApplicable extends StatusError {
  /** What of it does not, for whoever answers with a patch; empty: what it makes is no object. */
  detail = '';

  constructor() {
    super(patchNotApplicable());
  }
}

type Container = Record<string, unknown> | unknown[];

/**
 * The document with the patch applied; null is the patch that says nothing. Throws StatusError: 400 where the patch is no list of
 * operations, 413 where it is over a limit, 422 where it does not apply (in one fixed sentence, whatever the cause).
 */
export function applyJsonPatch(document: JsonObject, patch: unknown): JsonObject {
  if (patch === null) return document;
  if (!Array.isArray(patch)) throw otherThan('jsonpatch.Patch', patch);
  const other: unknown = patch.find((entry) => entry !== null && !isJsonObject(entry));
  if (other !== undefined) throw otherThan('jsonpatch.Operation', other);
  if (patch.length > OPERATIONS_MAX) {
    const text = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${patch.length}`;
    throw new StatusError(tooLarge(text));
  }
  const editor = new Editor(document);
  for (const entry of patch) {
    try {
      const step = parseStep(entry);
      OPERATIONS[step.operation](editor, step);
    } catch (error) {
      if (error instanceof PatchNotApplicable) error.detail = whyNot(isJsonObject(entry) ? entry : {});
      throw error;
    }
  }
  return editor.result();
}

/** Of an operation that does not apply. */
function whyNot({ op, path, from }: JsonObject): string {
  if (!isOperation(op)) return `Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`;
  if (op === 'test') return `testing value ${String(path)} failed: test failed`;
  const missing = NEEDS_FROM.has(op) ? `from path: ${JSON.stringify(from)} or path` : 'path';
  return `${op} operation does not apply: doc is missing ${missing}: ${JSON.stringify(path)}: missing value`;
}

const OPERATIONS: Readonly<Record<OperationName, (editor: Editor, step: Step) => void>> = {
  add: (editor, { path, value }) => editor.add(path, value, nestingOf(value)),
  replace: (editor, { path, value }) => editor.replace(path, value),
  remove: (editor, { path }) => editor.remove(path),
  move: (editor, { from, path }) => editor.move(from, path),
  copy: (editor, { from, path }) => editor.copy(from, path),
  test: (editor, { path, value }) => editor.test(path, value),
};
const NEEDS_FROM: ReadonlySet<OperationName> = new Set(['move', 'copy']);

function isOperation(name: unknown): name is OperationName {
  return typeof name === 'string' && Object.hasOwn(OPERATIONS, name);
}

function parseStep(entry: unknown): Step {
  const { op, path, from, value = null } = isJsonObject(entry) ? entry : {};
  if (!isOperation(op)) throw notApplicable();
  return { operation: op, path: segments(path), from: NEEDS_FROM.has(op) ? segments(from) : [], value };
}

function segments(pointer: unknown): readonly string[] {
  const parsed = typeof pointer === 'string' ? parsePointer(pointer) : undefined;
  if (parsed === undefined) throw notApplicable();
  return parsed;
}

/** The document under edit. A container in `owned` was made here and is reachable by one path only. */
class Editor {
  private root: unknown;
  private readonly owned = new WeakSet<Container>();
  private copiedBytes = 0;
  private shiftedElements = 0;
  /** Moved values keep their depth but change their place: the result is measured. */
  private moved = false;

  constructor(document: JsonObject) {
    this.root = document;
  }

  result(): JsonObject {
    if (!isJsonObject(this.root)) throw notApplicable();
    if (!this.moved) return this.root;
    if (nestingOf(this.root) > NESTING_MAX) throw tooDeep();
    // What was moved is the document's own still, and will be read as something else where it now stands.
    return jsonCopy(this.root) as JsonObject;
  }

  add(path: readonly string[], value: unknown, valueNesting: number): void {
    if (path.length + valueNesting > NESTING_MAX) throw tooDeep();
    const key = path.at(-1);
    if (key === undefined) {
      this.root = value;
      return;
    }
    const parent = this.editableParent(path);
    if (!Array.isArray(parent)) {
      parent[key] = value;
      return;
    }
    const position = insertPosition(key, parent.length);
    if (position < 0) throw notApplicable();
    this.shift(parent.length - position);
    parent.splice(position, 0, value);
  }

  replace(path: readonly string[], value: unknown): void {
    if (path.length + nestingOf(value) > NESTING_MAX) throw tooDeep();
    const key = path.at(-1);
    if (key === undefined) {
      this.root = value;
      return;
    }
    const parent = this.editableParent(path);
    if (Array.isArray(parent)) parent[elementAt(parent, key)] = value;
    // Unlike in RFC 6902 a member need not be there: objects leave out what is empty, and clients say of it that they replace it.
    else parent[key] = value;
  }

  /** Answers what was removed. */
  remove(path: readonly string[]): unknown {
    const key = path.at(-1);
    if (key === undefined) throw notApplicable();
    const parent = this.editableParent(path);
    if (Array.isArray(parent)) {
      const position = elementAt(parent, key);
      this.shift(parent.length - position);
      return parent.splice(position, 1)[0];
    }
    if (!Object.hasOwn(parent, key)) throw notApplicable();
    const removed = parent[key];
    delete parent[key];
    return removed;
  }

  move(from: readonly string[], path: readonly string[]): void {
    if (from.length <= path.length && from.every((segment, index) => segment === path[index])) {
      // Moving a value onto itself changes nothing; into itself is not possible (RFC 6902, 4.4).
      if (from.length < path.length) throw notApplicable();
      this.read(path);
      return;
    }
    this.moved = true;
    this.add(path, this.remove(from), 0);
  }

  copy(from: readonly string[], path: readonly string[]): void {
    // Unlike in RFC 6902 a member that is not there is copied as null.
    const { value, nesting } = this.duplicate(this.isAbsentMember(from) ? null : this.read(from), NESTING_MAX);
    this.add(path, value, nesting);
  }

  test(path: readonly string[], value: unknown): void {
    // A test for null also holds where the member is absent: clients use it to say "not there yet".
    if (value === null && this.isAbsentMember(path)) return;
    if (!deepEqual(this.read(path), value)) throw notApplicable();
  }

  /** Of an object that is there. */
  private isAbsentMember(path: readonly string[]): boolean {
    if (path.length === 0) return false;
    const parent = this.read(path.slice(0, -1));
    return isJsonObject(parent) && !Object.hasOwn(parent, path.at(-1)!);
  }

  private read(path: readonly string[]): unknown {
    let current = this.root;
    for (const segment of path) {
      if (Array.isArray(current)) current = current[elementAt(current, segment)];
      else if (isJsonObject(current) && Object.hasOwn(current, segment)) current = current[segment];
      else throw notApplicable();
    }
    return current;
  }

  /** The container of the last segment, with everything above it, made safe to edit. */
  private editableParent(path: readonly string[]): Container {
    let current = this.editable(this.root);
    this.root = current;
    for (let index = 0; index < path.length - 1; index++) {
      const segment = path[index]!;
      if (Array.isArray(current)) {
        const position = elementAt(current, segment);
        const child: Container = this.editable(current[position]);
        current[position] = child;
        current = child;
      } else {
        if (!Object.hasOwn(current, segment)) throw notApplicable();
        const child: Container = this.editable(current[segment]);
        current[segment] = child;
        current = child;
      }
    }
    return current;
  }

  private editable(value: unknown): Container {
    if (typeof value !== 'object' || value === null) throw notApplicable();
    if (this.owned.has(value as Container)) return value as Container;
    const copy: Container = Array.isArray(value) ? value.slice() : { ...value };
    this.owned.add(copy);
    return copy;
  }

  /**
   * A deep copy, since an owned container must not be reachable twice. It stops at the byte limit, which also bounds
   * patches that copy the document into itself over and over.
   */
  private duplicate(value: unknown, levelsLeft: number): { readonly value: unknown; readonly nesting: number } {
    if (typeof value !== 'object' || value === null) {
      this.charge(typeof value === 'string' ? value.length + 2 : 4);
      return { value, nesting: 0 };
    }
    if (levelsLeft === 0) throw tooDeep();
    this.charge(2);
    let nesting = 0;
    const take = (member: unknown): unknown => {
      const copied = this.duplicate(member, levelsLeft - 1);
      if (copied.nesting > nesting) nesting = copied.nesting;
      return copied.value;
    };
    if (Array.isArray(value)) return { value: value.map(take), nesting: nesting + 1 };
    const copy: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      this.charge(key.length + 4);
      Object.defineProperty(copy, key, { value: take(member), enumerable: true, writable: true, configurable: true });
    }
    return { value: copy, nesting: nesting + 1 };
  }

  private charge(bytes: number): void {
    this.copiedBytes += bytes;
    if (this.copiedBytes > COPIED_BYTES_MAX) {
      throw new StatusError(tooLarge(`copy operations add more than ${COPIED_BYTES_MAX} bytes`));
    }
  }

  private shift(elements: number): void {
    this.shiftedElements += elements;
    if (this.shiftedElements > SHIFTED_ELEMENTS_MAX) {
      throw new StatusError(tooLarge(`the patch moves more than ${SHIFTED_ELEMENTS_MAX} list elements`));
    }
  }
}

/** The position of an element that is there. */
function elementAt(list: readonly unknown[], segment: string): number {
  const position = elementPosition(segment, list.length);
  if (position < 0) throw notApplicable();
  return position;
}

/** The error for what is no patch, or no operation of one. */
function otherThan(type: string, value: unknown): StatusError {
  return new StatusError(badRequest(unmarshalText(value, type)));
}

function notApplicable(): StatusError {
  return new PatchNotApplicable();
}

function tooDeep(): StatusError {
  return new StatusError(tooLarge(`objects are nested at most ${NESTING_MAX} levels deep`));
}
