// Continue tokens as the original makes them: of a store that it serves as well, either goes on with a list that the other began.
// Anybody can make one, and comes no further by it than by the list itself.
import { asObject } from '../../../api/json/object-fields.ts';
import { ORIGINAL_META_GROUP } from '../../../config/dialect.ts';

/** What every token says, in whichever form. */
export interface ContinueToken {
  readonly revision: number;
  /** `<namespace>/<name>` of the last object of the chunk before. */
  readonly after: string;
}

const FORM = `${ORIGINAL_META_GROUP}/v1`;
/** Behind the last key of a chunk: the first that may follow it. */
const NEXT = '\0';

/** `namespace`: of the list, empty for all: keys in a token begin behind that. */
export function encodeOpenToken({ revision, after }: ContinueToken, namespace: string): string {
  // Objects without a namespace have nothing before the stroke.
  const start = after.slice(namespace === '' ? Number(after.startsWith('/')) : namespace.length + 1);
  return Buffer.from(JSON.stringify({ v: FORM, rv: revision, start: start + NEXT })).toString('base64url');
}

/** The inverse; undefined for what is none. */
export function decodeOpenToken(text: string, namespace: string): ContinueToken | undefined {
  const { v, rv, start } = parsed(text);
  if (v !== FORM || !Number.isSafeInteger(rv) || rv === 0 || typeof start !== 'string') return undefined;
  if (!start.endsWith(NEXT) || start.length === NEXT.length) return undefined;
  const key = start.slice(0, -NEXT.length);
  const isWhole = namespace === '' && key.includes('/');
  return { revision: rv as number, after: isWhole ? key : `${namespace}/${key}` };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    return {};
  }
}
