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

/**
 * The position a segment names in a list of `length` elements: digits without leading zeros, or `-` for the place after
 * the last. Answers -1 where it is neither or lies beyond `length`. `length` itself is a place to insert at, not an
 * element.
 */
export function arrayPosition(segment: string, length: number): number {
  if (segment === '-') return length;
  if (!/^(?:0|[1-9][0-9]{0,9})$/.test(segment)) return -1;
  const position = Number(segment);
  return position <= length ? position : -1;
}
