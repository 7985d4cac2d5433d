// What a provider's key makes of one value: the payload behind its prefix, in the forms Kubernetes 1.21 gives them. Knows
// nothing of where values lie.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { KeyedKind } from '../../config/encryption-configuration.ts';

/** Cryptographic random bytes, from the runtime. */
export type RandomBytes = (count: number) => Uint8Array;

/** A provider's way with values, under one key. `context` is the object's key, which a value belongs to. */
export interface ValueCipher {
  /** What stands before its payloads; empty for values that are not encrypted. */
  readonly prefix: string;
  seal(plain: Uint8Array, context: string): Uint8Array;
  /** Throws, or rejects, when the payload was not made with this key for this context. */
  open(payload: Uint8Array, context: string): Uint8Array | Promise<Uint8Array>;
}

const CBC_IV_BYTES = 16;
const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
const SECRETBOX_NONCE_BYTES = 24;
const SECRETBOX_TAG_BYTES = 16;

/** AES-CBC with PKCS#7 padding: the vector, then the blocks. Notices a wrong key only by the padding. */
function aesCbc(key: Uint8Array, freshBytes: RandomBytes): Omit<ValueCipher, 'prefix'> {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    seal(plain) {
      const iv = freshBytes(CBC_IV_BYTES);
      const cipher = createCipheriv(algorithm, key, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    },
    open(payload) {
      requireBytes(payload, 2 * CBC_IV_BYTES);
      const decipher = createDecipheriv(algorithm, key, payload.subarray(0, CBC_IV_BYTES));
      return Buffer.concat([decipher.update(payload.subarray(CBC_IV_BYTES)), decipher.final()]);
    },
  };
}

/** AES-GCM with the context as additional data: the nonce, what is encrypted, the tag. */
function aesGcm(key: Uint8Array, freshBytes: RandomBytes): Omit<ValueCipher, 'prefix'> {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  return {
    seal(plain, context) {
      const nonce = freshBytes(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: GCM_TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(payload, context) {
      requireBytes(payload, GCM_NONCE_BYTES + GCM_TAG_BYTES);
      const tagStart = payload.length - GCM_TAG_BYTES;
      const nonce = payload.subarray(0, GCM_NONCE_BYTES);
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: GCM_TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(payload.subarray(tagStart));
      return Buffer.concat([decipher.update(payload.subarray(GCM_NONCE_BYTES, tagStart)), decipher.final()]);
    },
  };
}

/** XSalsa20-Poly1305, which is NaCl's secretbox: the nonce, then the tag and what is encrypted. */
function secretbox(key: Uint8Array, freshBytes: RandomBytes): Omit<ValueCipher, 'prefix'> {
  return {
    seal(plain) {
      const nonce = freshBytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(plain)]);
    },
    open(payload) {
      requireBytes(payload, SECRETBOX_NONCE_BYTES + SECRETBOX_TAG_BYTES);
      const nonce = payload.subarray(0, SECRETBOX_NONCE_BYTES);
      return xsalsa20poly1305(key, nonce).decrypt(payload.subarray(SECRETBOX_NONCE_BYTES));
    },
  };
}

/** Each kind of keyed provider, by its name in the configuration. */
export const KEYED_CIPHERS: Readonly<
  Record<KeyedKind, (key: Uint8Array, freshBytes: RandomBytes) => Omit<ValueCipher, 'prefix'>>
> = { aescbc: aesCbc, aesgcm: aesGcm, secretbox };

/** Values as they are. */
export const IDENTITY: ValueCipher = { prefix: '', seal: (plain) => plain, open: (payload) => payload };

function requireBytes(payload: Uint8Array, bytesMin: number): void {
  if (payload.length < bytesMin) throw new Error('the payload is too short');
}
