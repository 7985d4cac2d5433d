// What a chain of authenticators says of a token that is no good, as token reviews show it.
import test from 'ava';
import { AuthenticationMetrics } from '../../../actors/auth/authentication-metrics.ts';
import {
  AuthenticatorChain,
  type RefusedCredentials,
  type TokenOwner,
} from '../../../actors/auth/authenticators/authenticator.ts';
import type { Credentials } from '../../../actors/auth/protocol.ts';
import type { User } from '../../../api/authorization/attributes.ts';
import { NO_METRICS } from '../controllers/fake-context.ts';

type Answer = TokenOwner | undefined | Promise<TokenOwner | undefined>;

const CLOCK = { nowMs: () => 0, monotonicMs: () => 0 };
const KNOWN: TokenOwner = { user: { name: 'a', uid: '', groups: [], extra: {} }, audiences: undefined };

function reviewed(...answers: readonly Answer[]): TokenOwner | Promise<TokenOwner> {
  const chain = new AuthenticatorChain({
    requests: [],
    tokens: answers.map((answer, index) => ({ name: String(index), owner: () => answer })),
    anonymous: false,
    digestOf: (token) => token,
    metrics: new AuthenticationMetrics(NO_METRICS, CLOCK, 'orch-system'),
  });
  return chain.token('t', []);
}

const refused = (error: string): TokenOwner => ({ user: null, error });

test('everybody who had something against a token is heard, and nobody who does not know it', async (t) => {
  const cases: readonly (readonly [answers: readonly Answer[], error: string])[] = [
    [[], 'invalid bearer token'],
    [[undefined, refused('')], 'invalid bearer token'],
    [
      [refused('Token has expired.'), undefined, Promise.resolve(refused(''))],
      '[invalid bearer token, Token has expired.]',
    ],
    [
      [Promise.resolve(refused('one')), refused('other'), Promise.resolve(undefined)],
      '[invalid bearer token, one, other]',
    ],
    [[refused('one'), refused('one')], '[invalid bearer token, one]'],
  ];
  for (const [answers, error] of cases) t.deepEqual(await reviewed(...answers), refused(error));
  t.is(await reviewed(refused('one'), KNOWN), KNOWN);
  t.is(await reviewed(Promise.resolve(refused('one')), KNOWN), KNOWN);
});

test('who shows credentials that are no good is nobody, also where who shows none is anonymous', async (t) => {
  const userOf = (found: RefusedCredentials | undefined, authorization = ''): unknown => {
    const chain = new AuthenticatorChain({
      requests: [{ user: () => found }],
      tokens: [{ owner: (token) => (token === 'good' ? KNOWN : undefined) }],
      anonymous: true,
      digestOf: (token) => token,
      metrics: new AuthenticationMetrics(NO_METRICS, CLOCK, 'orch-system'),
    });
    return (chain.user({ authorization } as Credentials) as User | null)?.name;
  };
  const expired = { error: 'the certificate is not valid now' };
  t.is(userOf(undefined), 'system:anonymous');
  t.is(userOf(expired), undefined);
  t.is(userOf(undefined, 'Bearer bad'), undefined);
  t.is(userOf(expired, 'Bearer good'), 'a', 'another method may know them');
});
