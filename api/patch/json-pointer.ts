// JSON pointers (RFC 6901) as JSON patches use them: text to path segments, and segments to array positions.
import { PROTOTYPE_KEY } from '../json-value.ts';

/**
 * The unescaped segments of a pointer; none for the whole document. Undefined when the text is no pointer: it does not
 * begin with a slash, has a `~` that is neither `~0` nor `~1`, or names the prototype key.
 */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
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
 * A place of `count`: digits without leading zeros. Behind a minus they count from the end, which RFC 6901 does not know and
 * clients of this API use.
 */
function placeAmong(segment: string, count: number): number {
  if (!/^(?:0|-?[1-9][0-9]{0,9})$/.test(segment)) return -1;
  const place = Number(segment) + (segment.startsWith('-') ? count : 0);
  return place < count ? place : -1;
}
