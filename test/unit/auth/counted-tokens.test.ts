// Uses of tokens of service accounts as they are counted: what is kept in a secret, what should have been renewed.
import { generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import type { Spoken } from '../../../actors/auth/authenticators/identities.ts';
import { ServiceAccountTokens } from '../../../actors/auth/authenticators/service-account-tokens.ts';
import { tokenDigest } from '../../../actors/auth/authenticators/token-file.ts';
import { tokenUses } from '../../../actors/auth/authenticators/token-uses.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';

const signingKeyPem = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const UIDS = new Map([
  ['core/serviceaccounts/ns/robot', 'u1'],
  ['core/pods/ns/p', 'u2'],
]);
const INJECTED_SECONDS = 3607;
const serviceAccount = { name: 'robot', uid: 'u1' };
const bound = { kind: 'pod', name: 'p', uid: 'u2' } as const;

test('uses of tokens are counted as legacy, valid or stale, and those that need no renewal not at all', async (t) => {
  const time = { nowMs: Date.parse('2026-01-01T00:00:00Z') };
  const metrics = new MetricsRegistry();
  const secretDigests: string[] = [];
  const find = ({ key }: Spoken) => ({
    uid: UIDS.get(key) ?? '',
    deletedMs: Number.POSITIVE_INFINITY,
    tokenDigest: secretDigests[0] ?? '',
  });
  const issuer = {
    issuer: 'https://issuer.test',
    audiences: ['https://issuer.test'],
    signingKeyPem,
    verificationKeyPems: [],
    keySetUri: '',
    expirationSecondsMax: 0,
    extendsExpiration: true,
    looksUpSecrets: true,
  };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0 };
  const tokens = new ServiceAccountTokens(clock, DIALECTS.orch, issuer, { find }, tokenUses(metrics));
  const use = async (token: string, audiences: readonly string[] = []) =>
    (await tokens.owner(token, tokenDigest(token), audiences))?.user !== null;
  const counts = () =>
    ['legacy', 'valid', 'stale'].map((kind) => {
      const family = metrics.reading().find(({ name }) => name === `serviceaccount_${kind}_tokens_total`);
      return family?.series[0]?.value;
    });
  const issued = async (expirationSeconds: number) =>
    (await tokens.issue({
      subject: { namespace: 'ns', serviceAccount, bound },
      audiences: [],
      expirationSeconds,
    }))!.token;
  const plain = await issued(9000);
  t.true(await use(plain));
  t.deepEqual(counts(), [0, 0, 0]);
  const injected = await issued(INJECTED_SECONDS);
  t.true(await use(injected));
  t.true(await use(injected));
  t.deepEqual(counts(), [0, 2, 0]);
  t.false(await use(injected, ['elsewhere']));
  t.deepEqual(counts(), [0, 2, 0]);
  time.nowMs += (INJECTED_SECONDS + 1) * 1000;
  t.true(await use(injected));
  t.deepEqual(counts(), [0, 2, 1]);
  const kept = (await tokens.issueKept({ namespace: 'ns', serviceAccount, secretName: 's' }))!;
  t.false(await use(kept));
  secretDigests.push(tokenDigest(kept));
  t.true(await use(kept));
  t.deepEqual(counts(), [1, 2, 1]);
});
