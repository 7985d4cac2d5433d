// JSON pointers (RFC 6901) as JSON patches use them: text to path segments, and segments to array positions.
import { PROTOTYPE_KEY } from '../json/json-value.ts';

/**
 * The unescaped segments of a pointer; none for the whole document. Undefined when the text is no pointer: it does not
 * begin with a slash, or names the prototype key. A `~` that is neither `~0` nor `~1` stands for itself.
 */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/')) return undefined;
  const segments = text.slice(1).split('/');
  if (text.includes('~')) {
    for (let index = 0; index < segments.length; index++) {
      segments[index] = segments[index]!.replaceAll('~1', '/').replaceAll('~0', '~');
    }
  }
  return segments.includes(PROTOTYPE_KEY) ? undefined : segments;
}

/** The position of the element that a segment names in a list of `length`; -1 where there is none. */
export function elementPosition(segment: string, length: number): number {
  return placeAmong(segment, length);
}

/** The position to insert at that a segment names, `-` being the one after the last element; -1 where there is none. */
export function insertPosition(segment: string, length: number): number {
  return segment === '-' ? length : placeAmong(segment, length + 1);
}

/**
 * A place of `count`: digits, also behind a plus and with zeros in front. Behind a minus they count from the end, which RFC 6901 does not
 * know and clients of this API use.
 */
function placeAmong(segment: string, count: number): number {
  if (!/^[+-]?[0-9]{1,19}$/.test(segment)) return -1;
  const number = Number(segment);
  const place = number < 0 ? number + count : Math.abs(number);
  return place < count ? place : -1;
}
