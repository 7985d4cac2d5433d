// Poly1305 (RFC 8439 section 2.5): the one-time authenticator, in limbs of 13 bits, whose products and sums doubles hold
// exactly. Node's crypto offers it only inside ChaCha20-Poly1305.

const LIMBS = 10;
const LIMB_BITS = 13;
const LIMB_MASK = 0x1fff;
const BLOCK_BYTES = 16;
const PRIME = 2n ** 130n - 5n;
const TWO_128 = 2n ** 128n;
/** The bits of the first half of the key that are cleared before it multiplies. */
const CLAMP = [255, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15] as const;

/** The 16-byte tag of a message under a 32-byte key that authenticates nothing else. */
export function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const r = limbsOf(key.subarray(0, BLOCK_BYTES).map((byte, index) => byte & CLAMP[index]!));
  const sum = new Float64Array(LIMBS);
  const product = new Float64Array(LIMBS);
  // A limb beyond the block's last byte is read as well.
  const block = new Uint8Array(BLOCK_BYTES + 3);
  for (let at = 0; at < message.length; at += BLOCK_BYTES) {
    const part = message.subarray(at, at + BLOCK_BYTES);
    block.fill(0);
    block.set(part);
    block[part.length] = 1;
    addBlock(sum, block);
    multiply(product, sum, r);
    sum.set(product);
  }
  let total = 0n;
  for (let limb = LIMBS - 1; limb >= 0; limb--) total = total * 2n ** BigInt(LIMB_BITS) + BigInt(sum[limb]!);
  return littleEndian(((total % PRIME) + numberOf(key.subarray(BLOCK_BYTES, 2 * BLOCK_BYTES))) % TWO_128);
}

function addBlock(sum: Float64Array, block: Uint8Array): void {
  for (let limb = 0; limb < LIMBS; limb++) {
    const bit = limb * LIMB_BITS;
    const at = bit >>> 3;
    const bits = block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16);
    sum[limb]! += (bits >>> (bit & 7)) & LIMB_MASK;
  }
}

/** a times b modulo the prime, limbs carried: 2^130 is 5. */
function multiply(product: Float64Array, a: Float64Array, b: Float64Array): void {
  let carry = 0;
  for (let k = 0; k < LIMBS; k++) {
    let low = carry;
    let high = 0;
    for (let i = 0; i <= k; i++) low += a[i]! * b[k - i]!;
    for (let i = k + 1; i < LIMBS; i++) high += a[i]! * b[k + LIMBS - i]!;
    const limb = low + 5 * high;
    carry = Math.floor(limb / (LIMB_MASK + 1));
    product[k] = limb - carry * (LIMB_MASK + 1);
  }
  // What is left over is small: one limb takes it and stays far below what a product may hold.
  product[0]! += 5 * carry;
}

function limbsOf(bytes: Uint8Array): Float64Array {
  const limbs = new Float64Array(LIMBS);
  const block = new Uint8Array(BLOCK_BYTES + 3);
  block.set(bytes);
  addBlock(limbs, block);
  return limbs;
}

function numberOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = value * 256n + BigInt(bytes[i]!);
  return value;
}

function littleEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(BLOCK_BYTES);
  bytes.writeBigUInt64LE(value % 2n ** 64n, 0);
  bytes.writeBigUInt64LE(value / 2n ** 64n, 8);
  return bytes;
}
