// What is kept of what clients send, and what is answered before the cluster is known.
import test from 'ava';
import { BootstrapTokens } from '../../../actors/auth/authenticators/bootstrap-tokens.ts';
import { Remembered } from '../../../actors/webhook-call.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { FeedEvent } from '../../../storage/store-feed.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };

test('a bootstrap token is neither good nor bad until the secrets are known', (t) => {
  let isWhole = false;
  const requireWhole = (): void => {
    if (!isWhole) throw new OrchError('ActorDown', 'not yet');
  };
  const tokens = new BootstrapTokens(DIALECTS.orch, clock, { requireWhole });
  t.throws(() => tokens.owner('aaaaaa.0123456789abcdef'), { instanceOf: OrchError });
  t.is(tokens.owner('no token of this kind'), undefined, 'which does not hold up others');
  const text = (value: string): string => Buffer.from(value).toString('base64');
  const secret = {
    type: 'bootstrap.orch.io/token',
    metadata: {},
    data: {
      'token-id': text('aaaaaa'),
      'token-secret': text('0123456789abcdef'),
      'usage-bootstrap-authentication': text('true'),
    },
  };
  const event = { type: 'present', namespace: 'orch-system', name: 'bootstrap-token-aaaaaa', object: () => secret };
  tokens.onEvent(event as unknown as FeedEvent);
  isWhole = true;
  t.like(tokens.owner('aaaaaa.0123456789abcdef'), { user: { name: 'system:bootstrap:aaaaaa' } });
  t.is(tokens.owner('aaaaaa.0123456789abcdee'), undefined);
});

test('an answer to a very long question is not remembered', (t) => {
  const answers = new Remembered<string>(clock);
  const long = 'x'.repeat(20_000);
  answers.set(long, 'yes', 1000);
  answers.set('short', 'yes', 1000);
  t.is(answers.get(long), undefined);
  t.is(answers.get('short'), 'yes');
});
