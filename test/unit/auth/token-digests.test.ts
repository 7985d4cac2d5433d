import { createHash } from 'node:crypto';
import test from 'ava';
import { TokenDigests } from '../../../actors/auth/authenticators/token-digests.ts';
import { tokenDigest } from '../../../actors/auth/authenticators/token-file.ts';

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');

function counting(): { readonly digests: TokenDigests; worked(): number } {
  let worked = 0;
  const digests = new TokenDigests((token) => {
    worked++;
    return tokenDigest(token);
  });
  return { digests, worked: () => worked };
}

test('the digest of a long token that is shown again is not worked out again', (t) => {
  const { digests, worked } = counting();
  const token = `eyJ${'a'.repeat(800)}0123456789abcdef`;
  for (let i = 0; i < 3; i++) t.is(digests.of(token), sha256(token));
  t.is(worked(), 1);
});

test('a token that differs anywhere from one seen before has a digest of its own', (t) => {
  const { digests } = counting();
  const token = `eyJ${'a'.repeat(800)}0123456789abcdef`;
  digests.of(token);
  for (let at = 0; at < token.length; at++) {
    const other = `${token.slice(0, at)}~${token.slice(at + 1)}`;
    t.is(digests.of(other), sha256(other));
    t.is(digests.of(token), sha256(token));
  }
  for (const other of [`a${token}`, `${token}a`, token.slice(1), `${token.slice(0, 400)}š${token.slice(401)}`]) {
    t.is(digests.of(other), sha256(other));
    t.is(digests.of(token), sha256(token));
  }
});

test('huge tokens and long ones that end in no signature are digested each time', (t) => {
  for (const token of [`eyJ${'x'.repeat(5000)}`, 'x'.repeat(800), 'é'.repeat(300)]) {
    const { digests, worked } = counting();
    t.is(digests.of(token), sha256(token));
    t.is(digests.of(token), sha256(token));
    t.is(worked(), 2);
  }
});

test('of short tokens the four that were shown last are not digested again', (t) => {
  const { digests, worked } = counting();
  const tokens = ['', 'eyJ', `eyJ${'x'.repeat(252)}`, 'é'.repeat(30)];
  for (let i = 0; i < 3; i++) for (const token of tokens) t.is(digests.of(token), sha256(token));
  t.is(worked(), 4);
  for (let i = 0; i < 10; i++) {
    const other = `another ${i}`;
    t.is(digests.of(other), sha256(other));
    for (const token of tokens.slice(2)) t.is(digests.of(token), sha256(token));
  }
  t.is(worked(), 14);
});

test('a short token that differs anywhere from one seen before has a digest of its own', (t) => {
  const { digests } = counting();
  const token = '0123456789abcdef0123456789abcdéf';
  digests.of(token);
  for (let at = 0; at < token.length; at++) {
    for (const character of ['~', '\u0130', token[at]!.toUpperCase()]) {
      const other = `${token.slice(0, at)}${character}${token.slice(at + 1)}`;
      t.is(digests.of(other), sha256(other));
    }
    t.is(digests.of(token), sha256(token));
  }
  for (const other of [`a${token}`, `${token}a`, token.slice(1), token.slice(0, -1)]) {
    t.is(digests.of(other), sha256(other));
    t.is(digests.of(token), sha256(token));
  }
});

test('of many tokens those seen first are forgotten', (t) => {
  const { digests, worked } = counting();
  const token = (i: number): string => `eyJ${'a'.repeat(800)}${String(i).padStart(16, '0')}`;
  for (let i = 0; i < 1000; i++) digests.of(token(i));
  t.is(worked(), 1000);
  t.is(digests.of(token(999)), sha256(token(999)));
  t.is(worked(), 1000);
  t.is(digests.of(token(0)), sha256(token(0)));
  t.is(worked(), 1001);
});
