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

test('short tokens, huge ones and those that end in no signature are digested each time', (t) => {
  for (const token of [
    '',
    'eyJ',
    `eyJ${'x'.repeat(252)}`,
    `eyJ${'x'.repeat(5000)}`,
    'x'.repeat(800),
    'é'.repeat(300),
  ]) {
    const { digests, worked } = counting();
    t.is(digests.of(token), sha256(token));
    t.is(digests.of(token), sha256(token));
    t.is(worked(), 2);
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
