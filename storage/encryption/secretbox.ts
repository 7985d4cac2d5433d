// NaCl's secretbox: XSalsa20 and Poly1305 over one message. A box is the 16-byte tag and the encrypted message.
import { timingSafeEqual } from 'node:crypto';
import { poly1305 } from './poly1305.ts';
import { XSALSA20_NONCE_BYTES, xsalsa20 } from './salsa20.ts';

const TAG_BYTES = 16;
/** The key stream's first bytes are the authenticator's key. */
const TAG_KEY_BYTES = 32;

export const SECRETBOX_NONCE_BYTES = XSALSA20_NONCE_BYTES;

/** The box of a message; a nonce must serve once under a key. */
export function sealBox(message: Uint8Array, key: Uint8Array, nonce: Uint8Array): Buffer {
  const stream = Buffer.alloc(TAG_KEY_BYTES + message.length);
  stream.set(message, TAG_KEY_BYTES);
  xsalsa20(stream, key, nonce);
  const encrypted = stream.subarray(TAG_KEY_BYTES);
  return Buffer.concat([poly1305(encrypted, stream.subarray(0, TAG_KEY_BYTES)), encrypted]);
}

/** The message in a box; undefined when the box was not made with this key and nonce. */
export function openBox(box: Uint8Array, key: Uint8Array, nonce: Uint8Array): Buffer | undefined {
  if (box.length < TAG_BYTES) return undefined;
  const encrypted = box.subarray(TAG_BYTES);
  const stream = Buffer.alloc(TAG_KEY_BYTES + encrypted.length);
  stream.set(encrypted, TAG_KEY_BYTES);
  xsalsa20(stream, key, nonce);
  const tag = poly1305(encrypted, stream.subarray(0, TAG_KEY_BYTES));
  return timingSafeEqual(tag, box.subarray(0, TAG_BYTES)) ? stream.subarray(TAG_KEY_BYTES) : undefined;
}
