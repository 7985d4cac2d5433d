// Signed tokens that clients bring: taken apart and read, whatever is in them, and never verified by a key that has not
// signed them.
import { generateKeyPairSync } from 'node:crypto';
import { isSignedBy, readJwt, signJwt, tokenKey } from '../../../api/tokens/jwt.ts';
import { claimsOf, readClaims, timeProblem, userOfSubject } from '../../../api/tokens/service-account-claims.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT } from '../generate/documents.ts';
import { junk, ODD_TEXTS } from '../generate/junk.ts';
import { mutatedText, repetition } from '../generate/mutate-text.ts';
import { mutatedValue } from '../generate/mutate-value.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { type Target, Violation } from '../target.ts';

const KEY = tokenKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const CLAIMS = claimsOf(
  { namespace: 'shop', serviceAccount: { name: 'web', uid: 'u' }, bound: { kind: 'pod', name: 'p', uid: 'q' } },
  { issuer: 'https://a', audiences: ['https://a'], issuedSeconds: 1, expirySeconds: 2 } as never,
  DIALECT,
);
const SIGNED = await signJwt(CLAIMS, KEY);
const HEADERS: readonly unknown[] = [
  { alg: 'ES256' },
  { alg: 'none' },
  { alg: 'HS256', kid: 1 },
  { alg: 'ES256', kid: KEY.id },
  null,
];

const part = (value: unknown): string => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');

function generate(dice: Dice): Input {
  let token = SIGNED;
  const roll = dice.below(8);
  if (roll === 0) token = dice.oneIn(200) ? repetition(dice, ['.', 'a', '_', 'AA.'], 30_000) : dice.pick(ODD_TEXTS);
  else if (roll < 4) token = mutatedText(SIGNED, dice, ['.', '_', '-', 'A', '=', '+']);
  else {
    const claims = dice.oneIn(10)
      ? junk(dice)
      : mutatedValue(structuredClone(CLAIMS), dice, 1 + dice.small(4), () => 'a');
    const header = dice.oneIn(4) ? junk(dice) : dice.pick(HEADERS);
    token = `${part(header)}.${part(claims)}.${SIGNED.split('.')[2]}`;
  }
  return { text: { token, isVerified: String(dice.oneIn(20)) }, body: NO_BYTES };
}

async function run({ text: { token = '', isVerified = '' } }: Input): Promise<void> {
  const parsed = await readJwt(token);
  if (parsed === undefined) return;
  const read = readClaims(parsed.claims, DIALECT);
  if (typeof read !== 'string') {
    timeProblem(read, 1000);
    JSON.stringify(userOfSubject(read.subject, DIALECT));
  }
  const isOurs = token.startsWith(SIGNED.slice(0, SIGNED.lastIndexOf('.') + 1));
  if (isVerified === 'true' && !isOurs && (await isSignedBy(parsed, [KEY])))
    throw new Violation(`nobody has signed ${token}`);
}

export const credentials: Target = { name: 'credentials', weight: 5, generate, run };
