// secretbox against the vectors of NaCl's own tests (secretbox, core) and of RFC 8439.
import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { hsalsa } from '@noble/ciphers/salsa.js';
import test from 'ava';
import { KEYED_CIPHERS } from '../../../../storage/encryption/ciphers.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

const KEY = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const NONCE = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const MESSAGE = hex(`
  be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129
  6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde
  048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705`);
const BOX = hex(`
  f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a
  c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
  90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74
  e355a5`);

const { seal, open } = KEYED_CIPHERS.secretbox(KEY, () => NONCE);
const PAYLOAD = Buffer.concat([NONCE, BOX]);

test('a payload is a nonce and the box NaCl makes with it, and opens to what was put in', (t) => {
  t.deepEqual(Buffer.from(seal(MESSAGE, '')), PAYLOAD);
  t.deepEqual(Buffer.from(opened(PAYLOAD)), MESSAGE);
});

test("a shared secret's first key is the one NaCl derives", (t) => {
  const shared = words('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742');
  const derived = new Uint32Array(8);
  hsalsa(words(Buffer.from('expand 32-byte k').toString('hex')), shared, new Uint32Array(4), derived);
  t.deepEqual(Buffer.from(derived.buffer), KEY);
});

test('the authenticator answers as RFC 8439 says', (t) => {
  const key = hex('85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b');
  const message = Buffer.from('Cryptographic Forum Research Group');
  t.deepEqual(Buffer.from(poly1305(message, key)), hex('a8061dc1305136c6c22b8baf0c0127a9'));
});

/** RFC 8439 appendix A.3, vectors 7 to 11: sums at the edge of the prime. */
const EDGES: readonly (readonly [r: string, message: string, tag: string])[] = [
  ['01', `${'ff'.repeat(16)}f0${'ff'.repeat(15)}11${'00'.repeat(15)}`, `05${'00'.repeat(15)}`],
  ['01', `${'ff'.repeat(16)}fb${'fe'.repeat(15)}${'01'.repeat(16)}`, '00'.repeat(16)],
  ['02', `fd${'ff'.repeat(15)}`, `fa${'ff'.repeat(15)}`],
];

test('the authenticator is right at the edges of its prime', (t) => {
  for (const [r, message, tag] of EDGES) {
    t.is(Buffer.from(poly1305(hex(message), hex(r.padEnd(64, '0')))).toString('hex'), tag);
  }
});

test('every length around the edges of a block comes back whole', (t) => {
  for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 4095]) {
    const message = Buffer.alloc(length, 'orch');
    t.deepEqual(Buffer.from(opened(seal(message, ''))), message);
  }
});

test('a payload of another key, of another nonce, changed anywhere or cut short does not open', (t) => {
  const other = Buffer.from(KEY);
  other[31]! ^= 1;
  t.throws(() => KEYED_CIPHERS.secretbox(other, () => NONCE).open(PAYLOAD, ''));
  for (let at = 0; at < PAYLOAD.length; at++) {
    const changed = Buffer.from(PAYLOAD);
    changed[at]! ^= 0x40;
    t.throws(() => open(changed, ''));
  }
  for (const length of [0, 23, 24, 39, 40, PAYLOAD.length - 1]) t.throws(() => open(PAYLOAD.subarray(0, length), ''));
});

function opened(payload: Uint8Array): Uint8Array {
  const plain = open(payload, '');
  if (plain instanceof Promise) throw new TypeError('a local key opens at once');
  return plain;
}

function words(text: string): Uint32Array {
  return new Uint32Array(new Uint8Array(hex(text)).buffer);
}
