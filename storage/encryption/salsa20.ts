// XSalsa20 (D. J. Bernstein, "Extending the Salsa20 nonce"): the Salsa20 core and its two uses. Node's crypto has ChaCha20
// only. Knows nothing of authentication: secretbox.ts is what values are encrypted with.

const DOUBLE_ROUNDS = 10;
const BLOCK_BYTES = 64;
/** "expand 32-byte k" as four words: the diagonal of the core's square. */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

export const XSALSA20_KEY_BYTES = 32;
export const XSALSA20_NONCE_BYTES = 24;

/** Adds the key stream of `key` and a 24-byte nonce to `data`, in place: the same call encrypts and decrypts. */
export function xsalsa20(data: Uint8Array, key: Uint8Array, nonce: Uint8Array): void {
  const input = coreInput(hsalsa20(key, nonce.subarray(0, 16)));
  const nonceWords = wordsOf(nonce.subarray(16));
  input[6] = nonceWords[0]!;
  input[7] = nonceWords[1]!;
  const block = new Uint32Array(16);
  for (let at = 0, counter = 0; at < data.length; at += BLOCK_BYTES, counter++) {
    input[8] = counter;
    input[9] = Math.floor(counter / 2 ** 32);
    block.set(input);
    rounds(block);
    const end = Math.min(BLOCK_BYTES, data.length - at);
    for (let i = 0; i < end; i++) {
      const word = i >>> 2;
      data[at + i]! ^= ((block[word]! + input[word]!) >>> ((i & 3) * 8)) & 0xff;
    }
  }
}

/** The 32-byte key that a key and 16 bytes of a nonce stand for. */
export function hsalsa20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const block = coreInput(key);
  block.set(wordsOf(nonce), 6);
  rounds(block);
  const derived = Buffer.alloc(XSALSA20_KEY_BYTES);
  [0, 5, 10, 15, 6, 7, 8, 9].forEach((word, index) => {
    derived.writeUInt32LE(block[word]!, index * 4);
  });
  return derived;
}

/** The square with constants and key in place; words 6 to 9 are the caller's. */
function coreInput(key: Uint8Array): Uint32Array {
  const input = new Uint32Array(16);
  const words = wordsOf(key);
  SIGMA.forEach((word, index) => {
    input[index * 5] = word;
  });
  input.set(words.subarray(0, 4), 1);
  input.set(words.subarray(4), 11);
  return input;
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length >>> 2 }, (_, index) => source.readUInt32LE(index * 4));
}

/** Twenty rounds over the square, in place: columns, then rows, ten times. */
function rounds(x: Uint32Array): void {
  for (let i = 0; i < DOUBLE_ROUNDS; i++) {
    quarterRound(x, 0, 4, 8, 12);
    quarterRound(x, 5, 9, 13, 1);
    quarterRound(x, 10, 14, 2, 6);
    quarterRound(x, 15, 3, 7, 11);
    quarterRound(x, 0, 1, 2, 3);
    quarterRound(x, 5, 6, 7, 4);
    quarterRound(x, 10, 11, 8, 9);
    quarterRound(x, 15, 12, 13, 14);
  }
}

function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  x[b]! ^= rotated(x[a]! + x[d]!, 7);
  x[c]! ^= rotated(x[b]! + x[a]!, 9);
  x[d]! ^= rotated(x[c]! + x[b]!, 13);
  x[a]! ^= rotated(x[d]! + x[c]!, 18);
}

/** The sum's low 32 bits, rotated to the left. */
function rotated(sum: number, bits: number): number {
  const word = sum | 0;
  return (word << bits) | (word >>> (32 - bits));
}
