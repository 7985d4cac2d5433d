// Continue tokens of chunked lists: the revision of the first chunk and the key of the last object sent, authenticated
// with the store's token key. They hold no state of this process, so any hub can go on, also after a restart. A store whose key is
// empty shares its lists with servers that have other tokens (open-token.ts).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Selection } from '../protocol.ts';
import { type ContinueToken, decodeOpenToken, encodeOpenToken } from './open-token.ts';

/** In place of a revision: go on at the present one, after the first chunk's revision has expired. */
export const PRESENT_REVISION = -1;

const MAC_BYTES = 12;
/** More than any address can hold: keys may be long where names may. */
const TOKEN_LENGTH_MAX = 128 * 1024;

/** Opaque text for `metadata.continue`, good for the same selection only. */
export function encodeContinueToken(token: ContinueToken, selection: Selection, key: Uint8Array): string {
  if (key.length === 0) return encodeOpenToken(token, selection.namespace);
  const body = Buffer.from(JSON.stringify([token.revision, token.after]));
  return Buffer.concat([macOf(body, selection, key), body]).toString('base64url');
}

/** The inverse; undefined for anything this store did not make for this selection. */
export function decodeContinueToken(text: string, selection: Selection, key: Uint8Array): ContinueToken | undefined {
  if (text.length > TOKEN_LENGTH_MAX) return undefined;
  if (key.length === 0) return decodeOpenToken(text, selection.namespace);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= MAC_BYTES) return undefined;
  const body = bytes.subarray(MAC_BYTES);
  if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(body, selection, key))) return undefined;
  const [revision, after] = JSON.parse(body.toString()) as [number, string];
  return { revision, after };
}

function macOf(body: Uint8Array, selection: Selection, key: Uint8Array): Buffer {
  const { storageKey, namespace, labelSelector, fieldSelector } = selection;
  return createHmac('sha256', key)
    .update(JSON.stringify([storageKey, namespace, labelSelector, fieldSelector]))
    .update(body)
    .digest()
    .subarray(0, MAC_BYTES);
}
