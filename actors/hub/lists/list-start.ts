// Where a list begins: at the beginning, or behind what its continue token says.
import type { Freshness, ListQuery } from '../protocol.ts';
import { decodeContinueToken, PRESENT_REVISION } from './continue-token.ts';

export interface ListStart {
  readonly freshness: Freshness;
  /** `<namespace>/<name>` that the list continues after; empty: from the beginning. */
  readonly after: string;
}

/** Where a list begins and how fresh it is; undefined for a bad token. */
export function startOf(query: ListQuery, tokenKey: Uint8Array | undefined): ListStart | undefined {
  if (query.continueToken === '') return { freshness: query.freshness, after: '' };
  const token = tokenKey && decodeContinueToken(query.continueToken, query, tokenKey);
  if (token === undefined) return undefined;
  const { revision, after } = token;
  return { after, freshness: revision === PRESENT_REVISION ? { kind: 'mostRecent' } : { kind: 'exact', revision } };
}
