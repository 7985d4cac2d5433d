// What is too short to be any cipher's payload is no value, and none of the ciphers looks into it.
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { KEYED_CIPHERS } from '../../../../storage/encryption/ciphers.ts';

/** The shortest payload of each: of an empty value. */
const SHORTEST = { aescbc: 32, aesgcm: 28, secretbox: 40 } as const;

for (const [kind, bytes] of Object.entries(SHORTEST) as readonly [keyof typeof SHORTEST, number][]) {
  test(`a payload of ${kind} has ${bytes} bytes at least`, async (t) => {
    const cipher = KEYED_CIPHERS[kind](new Uint8Array(32).fill(1), (count) => randomBytes(count));
    const empty = cipher.seal(new Uint8Array(), 'key');
    t.is(empty.length, bytes);
    t.is((await cipher.open(empty, 'key')).length, 0);
    for (const length of [0, 1, bytes - 1])
      t.throws(() => cipher.open(empty.subarray(0, length), 'key'), { message: 'the payload is too short' });
  });
}
