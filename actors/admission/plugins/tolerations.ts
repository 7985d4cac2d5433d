// Tolerations as sets: which of two tolerates more, and sets without what is tolerated twice. A pod may have tens of thousands of them, and
// so may a namespace: none is held against all others, each is looked up where those lie that could cover it.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { setNumberAt, textAt } from '../../../api/json/object-fields.ts';

/** Those of both, without those that another one tolerates as well. Of the same two the first stays. */
export function mergedTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): readonly JsonObject[] {
  const all = [...first, ...second];
  const later = new Coverage();
  const isCoveredLater = all.toReversed().map((one) => {
    const isCovered = later.coversOtherwise(one);
    later.add(one);
    return isCovered;
  });
  isCoveredLater.reverse();
  const merged: JsonObject[] = [];
  const before = new Coverage();
  for (const [index, one] of all.entries()) {
    if (isCoveredLater[index] === true || before.covers(one)) continue;
    before.add(one);
    merged.push(one);
  }
  return merged;
}

/** Whether each of them is covered by one that is allowed. Where none are named, all are. */
export function areTolerationsAllowed(tolerations: readonly JsonObject[], allowed: readonly JsonObject[]): boolean {
  if (allowed.length === 0) return true;
  const coverage = new Coverage();
  for (const one of allowed) coverage.add(one);
  return tolerations.every((one) => coverage.covers(one));
}

/** A toleration, by what tells it from others, and for how long it lasts. */
interface Lasting {
  readonly said: string;
  readonly seconds: number;
}

/** Of those that tolerate the same but for how long: the one that lasts longest, and the longest of those that say something else. */
interface Longest {
  readonly first: Lasting;
  readonly second: Lasting | undefined;
}

/**
 * What some tolerations cover together. One covers another that says the same, and one of the same key or less, the same effect or less, as
 * long and with the same value or none.
 */
class Coverage {
  readonly #said = new Set<string>();
  /** By key, effect, operator and (but for Exists) value. */
  readonly #longest = new Map<string, Longest>();

  add(one: JsonObject): void {
    const said = identityOf(one);
    this.#said.add(said);
    const operator = textAt(one, 'operator');
    if (operator !== '' && operator !== 'Equal' && operator !== 'Exists') return;
    const effect = textAt(one, 'effect');
    const place = placeOf(textAt(one, 'key'), effect, operator, textAt(one, 'value'));
    // Only what ends a pod's time on a node asks for how long.
    const seconds = effect === 'NoExecute' ? secondsOf(one) : Number.POSITIVE_INFINITY;
    this.#longest.set(place, longestWith(this.#longest.get(place), { said, seconds }));
  }

  covers(one: JsonObject): boolean {
    return this.#said.has(identityOf(one)) || this.#isWithin(one, '');
  }

  /** By one that says something else. */
  coversOtherwise(one: JsonObject): boolean {
    return this.#isWithin(one, identityOf(one));
  }

  #isWithin(one: JsonObject, otherThan: string): boolean {
    const [key, effect, operator, value] = [
      textAt(one, 'key'),
      textAt(one, 'effect'),
      textAt(one, 'operator'),
      textAt(one, 'value'),
    ];
    const seconds = secondsOf(one);
    const isLongEnough = (place: string): boolean => {
      const longest = this.#longest.get(place);
      const other = longest?.first.said === otherThan ? longest.second : longest?.first;
      return other !== undefined && other.seconds >= seconds;
    };
    return [effect, ''].some(
      (wider) =>
        isLongEnough(placeOf(key, wider, 'Exists', '')) ||
        isLongEnough(placeOf('', wider, 'Exists', '')) ||
        (operator === 'Equal' &&
          (isLongEnough(placeOf(key, wider, 'Equal', value)) || isLongEnough(placeOf(key, wider, '', value)))),
    );
  }
}

function longestWith(longest: Longest | undefined, one: Lasting): Longest {
  if (longest === undefined) return { first: one, second: undefined };
  const { first, second } = longest;
  if (one.said === first.said) return longest;
  if (one.seconds > first.seconds) return { first: one, second: first };
  return second === undefined || one.seconds > second.seconds ? { first, second: one } : longest;
}

function placeOf(key: string, effect: string, operator: string, value: string): string {
  return [key, effect, operator, operator === 'Exists' ? '' : value].join('\u0000');
}

/** For good where none are given. */
function secondsOf(one: JsonObject): number {
  return setNumberAt(one, 'tolerationSeconds') ?? Number.POSITIVE_INFINITY;
}

function identityOf(one: JsonObject): string {
  const texts = ['key', 'effect', 'operator', 'value'].map((name) => textAt(one, name));
  return [...texts, setNumberAt(one, 'tolerationSeconds') ?? ''].join('\u0000');
}
