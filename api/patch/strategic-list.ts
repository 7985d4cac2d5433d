// One list under a strategic merge patch: what is taken out, what is merged in, and in which order it stands afterwards.
// Lists are indexed by key, so that a patch of a long list takes time in proportion to it.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { isSet } from '../json/object-fields.ts';
import { badRequest, failure } from '../status/failures.ts';
import { mapText } from '../status/map-text.ts';
import { StatusError } from '../status/status.ts';
import type { MemberShape } from './patch-shape.ts';

/** `$setElementOrder/f` and `$deleteFromPrimitiveList/f`, as sent. */
export interface ListDirectives {
  readonly order?: unknown;
  readonly deletions?: unknown;
}

/** Merges the patch of an element into the element, or into nothing for a new one. */
type MergeElement = (element: JsonObject | undefined, patch: JsonObject) => JsonObject;

/** In the original's words. */
const NO_MERGE_OF_LISTS = 'merging lists cannot yet be specified in the patch';

/** A list after merging, and the keys in the order its patch wants them. */
interface Merged {
  readonly list: readonly unknown[];
  readonly wanted: readonly string[];
}

export class ListPatch {
  readonly #name: string;
  readonly #member: MemberShape;
  readonly #mergeElement: MergeElement;

  constructor(name: string, member: MemberShape, mergeElement: MergeElement) {
    this.#name = name;
    this.#member = member;
    this.#mergeElement = mergeElement;
  }

  /**
   * The list afterwards: `present` itself where nothing changes, undefined where there was none and is none.
   * Throws StatusError 400 and 422.
   */
  apply(present: unknown, given: unknown, { order, deletions }: ListDirectives): unknown {
    const orderList = this.#optionalList(order, '$setElementOrder');
    const deletionList = this.#optionalList(deletions, '$deleteFromPrimitiveList');
    const patch = this.#optionalList(given, 'the patch');
    const before = Array.isArray(present) ? (present as readonly unknown[]) : undefined;
    // What is no list has nothing that could be taken out: the patch makes it a list, and is refused where it cannot be one.
    if (before === undefined && patch === undefined) return isSet(present) ? (deletionList ?? present) : undefined;
    const kept = deletionList === undefined ? (before ?? []) : this.#without(before ?? [], deletionList);
    if (!this.#member.merges) return sameAs(before, patch ?? kept);
    const { list, wanted } = this.#merged(kept, patch ?? []);
    if (orderList === undefined) return sameAs(before, this.#arranged(list, wanted, kept));
    const ordered = orderList.map((element) => this.#keyOf(element, '$setElementOrder'));
    requireConsistent(wanted, ordered, patch ?? [], orderList);
    return sameAs(before, this.#arranged(list, ordered, before ?? []));
  }

  #optionalList(value: unknown, what: string): readonly unknown[] | undefined {
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw new StatusError(badRequest(`${what} of ${this.#name} must be a list`));
    return value;
  }

  #without(list: readonly unknown[], deletions: readonly unknown[]): readonly unknown[] {
    const gone = new Set<string>();
    for (const value of deletions) {
      if (typeof value === 'object') {
        throw new StatusError(badRequest(`$deleteFromPrimitiveList of ${this.#name} may hold scalars only`));
      }
      gone.add(keyText(value));
    }
    return list.filter((element) => typeof element === 'object' || !gone.has(keyText(element)));
  }

  #merged(list: readonly unknown[], patch: readonly unknown[]): Merged {
    return this.#member.mergeKey === undefined
      ? this.#mergedScalars(list, patch)
      : this.#mergedElements(list, patch, this.#member.mergeKey);
  }

  #mergedScalars(list: readonly unknown[], patch: readonly unknown[]): Merged {
    const byKey = new Map<string, unknown>();
    for (const element of list) byKey.set(this.#keyOf(element, 'the list'), element);
    const wanted = patch.map((element) => this.#keyOf(element, 'the patch'));
    for (const [index, key] of wanted.entries()) if (!byKey.has(key)) byKey.set(key, patch[index]);
    return { list: [...byKey.values()], wanted };
  }

  #mergedElements(list: readonly unknown[], patch: readonly unknown[], mergeKey: string): Merged {
    const deletions = new Set<string>();
    const merges: JsonObject[] = [];
    let replaces = false;
    for (const element of patch) {
      if (!isJsonObject(element)) throw unprocessable(`the elements of ${this.#name} are objects with a ${mergeKey}`);
      const directive = element.$patch;
      if (directive === 'replace') replaces = true;
      else if (directive === 'delete') deletions.add(this.#keyOf(element, 'the patch'));
      else if (directive === 'merge' && list.length > 0) throw unprocessable(NO_MERGE_OF_LISTS);
      else merges.push(element);
    }
    const kept =
      deletions.size === 0
        ? list
        : list.filter((element) => !isJsonObject(element) || !deletions.has(keyText(element[mergeKey])));
    const elements = new Elements(replaces ? [] : kept, this.#member);
    const wanted: string[] = [];
    for (const element of merges) {
      const key = this.#keyOf(element, 'the patch');
      wanted.push(key);
      const at = elements.find(key, element);
      elements.put(at, key, this.#mergeElement(elements.at(at), element));
    }
    return { list: elements.list, wanted };
  }

  /**
   * The elements that the patch names in its order, and among them the others, each before the first of those that it
   * stood before.
   */
  #arranged(list: readonly unknown[], wanted: readonly string[], before: readonly unknown[]): readonly unknown[] {
    const rank = new Map<string, number>();
    for (const key of wanted) if (!rank.has(key)) rank.set(key, rank.size);
    const place = new Map<string, number>();
    for (const [index, element] of before.entries()) {
      const key = this.#looseKey(element);
      if (!place.has(key)) place.set(key, index);
    }
    const named: { readonly element: unknown; readonly key: string; readonly rank: number }[] = [];
    const others: { readonly element: unknown; readonly key: string }[] = [];
    for (const element of list) {
      const key = this.#looseKey(element);
      const at = rank.get(key);
      if (at === undefined) others.push({ element, key });
      else named.push({ element, key, rank: at });
    }
    named.sort((left, right) => left.rank - right.rank);
    const arranged: unknown[] = [];
    let next = 0;
    for (const { element, key } of named) {
      const here = place.get(key);
      for (; here !== undefined && next < others.length; next++) {
        const other = place.get(others[next]!.key);
        if (other === undefined || other >= here) break;
        arranged.push(others[next]!.element);
      }
      arranged.push(element);
    }
    for (; next < others.length; next++) arranged.push(others[next]!.element);
    return arranged;
  }

  /** What tells an element apart. Throws 422 where it has nothing of the kind. */
  #keyOf(element: unknown, where: string): string {
    const { mergeKey } = this.#member;
    const value = mergeKey === undefined ? element : isJsonObject(element) ? element[mergeKey] : undefined;
    if (value !== undefined && value !== null && typeof value !== 'object') return keyText(value);
    if (mergeKey !== undefined && isJsonObject(element)) {
      throw unprocessable(`map: ${mapText(element)} does not contain declared merge key: ${mergeKey}`);
    }
    const wants = mergeKey === undefined ? 'scalars only' : `a ${mergeKey} in each element`;
    throw unprocessable(`${where} of ${this.#name} must have ${wants}`);
  }

  /** Of elements that are stored, which may lack the key. */
  #looseKey(element: unknown): string {
    const { mergeKey } = this.#member;
    if (mergeKey === undefined) return keyText(element);
    return isJsonObject(element) ? keyText(element[mergeKey]) : '';
  }
}

/** The elements of a list by merge key. Several may share one where the list is unique by more than that. */
class Elements {
  readonly list: JsonObject[];
  readonly #mapKeys: MemberShape['mapKeys'];
  /** Elements that the patch has not spoken of yet, by merge key, the first one last. */
  readonly #free = new Map<string, number[]>();
  /** By all keys; an entry may be out of date, since a patch can change all but the merge key. */
  readonly #byAllKeys = new Map<string, number>();
  readonly #byMergeKey = new Map<string, number>();
  readonly #spokenOf = new Set<number>();

  constructor(list: readonly unknown[], { mergeKey, mapKeys }: MemberShape) {
    this.list = list.filter(isJsonObject);
    this.#mapKeys = mapKeys;
    for (let index = this.list.length - 1; index >= 0; index--) {
      const element = this.list[index]!;
      const key = keyText(element[mergeKey!]);
      const free = this.#free.get(key);
      if (free === undefined) this.#free.set(key, [index]);
      else free.push(index);
      this.#enter(index, key, element);
    }
  }

  at(index: number): JsonObject | undefined {
    return this.list[index];
  }

  /**
   * The element a patch speaks of, or the end of the list. Where the merge key alone is not unique (a port number, with
   * two protocols), the one whose other keys fit; else the first that this patch has not spoken of yet.
   */
  find(key: string, patch: JsonObject): number {
    if (this.#mapKeys.length < 2) return this.#byMergeKey.get(key) ?? this.list.length;
    const allKeys = this.#allKeysOf(patch);
    const exact = this.#byAllKeys.get(allKeys);
    if (exact !== undefined && this.#allKeysOf(this.list[exact]!) === allKeys) return exact;
    const free = this.#free.get(key);
    while (free !== undefined && free.length > 0) {
      const index = free.pop()!;
      if (!this.#spokenOf.has(index)) return index;
    }
    return this.list.length;
  }

  put(index: number, key: string, element: JsonObject): void {
    this.list[index] = element;
    this.#spokenOf.add(index);
    this.#enter(index, key, element);
  }

  #enter(index: number, key: string, element: JsonObject): void {
    this.#byMergeKey.set(key, index);
    if (this.#mapKeys.length > 1) this.#byAllKeys.set(this.#allKeysOf(element), index);
  }

  #allKeysOf(element: JsonObject): string {
    return JSON.stringify(this.#mapKeys.map(({ name, whenAbsent }) => element[name] ?? whenAbsent));
  }
}

/** Equal for equal scalars, different for different ones. */
function keyText(value: unknown): string {
  return typeof value === 'string' ? `"${value}` : String(value);
}

function sameAs(before: readonly unknown[] | undefined, after: readonly unknown[]): readonly unknown[] {
  if (before === undefined || before.length !== after.length) return after;
  return before.every((element, index) => element === after[index]) ? before : after;
}

function unprocessable(message: string): StatusError {
  return new StatusError(failure(422, 'Invalid', message, {}));
}

/** The patch must name its elements in the order that it asks for, and no others; an empty order asks for none. Throws 400. */
function requireConsistent(
  wanted: readonly string[],
  ordered: readonly string[],
  patch: readonly unknown[],
  order: readonly unknown[],
): void {
  if (ordered.length === 0) return;
  let at = 0;
  for (const key of ordered) if (at < wanted.length && wanted[at] === key) at++;
  if (at === wanted.length) return;
  const lists = `patch list:\n${mapText(patch)}\n doesn't match $setElementOrder list:\n${mapText(order)}\n`;
  throw new StatusError(badRequest(`The order in ${lists}`));
}
