// What is kept of what clients send, and what is answered before the cluster is known.
import test from 'ava';
import { BootstrapTokens } from '../../../actors/auth/authenticators/bootstrap-tokens.ts';
import { ClusterFeed } from '../../../actors/auth/cluster-feed.ts';
import { Remembered } from '../../../actors/outside/webhook-call.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { PresentState } from '../../../storage/following/publication.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { fakeContext } from '../controllers/fake-context.ts';
import { VirtualTime } from '../controllers/virtual-time.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };

const text = (value: string): string => Buffer.from(value).toString('base64');

const bootstrapSecret = (more: Readonly<Record<string, string>> = {}) => ({
  type: 'bootstrap.orch.io/token',
  metadata: {},
  data: {
    'token-id': text('aaaaaa'),
    'token-secret': text('0123456789abcdef'),
    'usage-bootstrap-authentication': text('true'),
    ...more,
  },
});

function tell(tokens: BootstrapTokens, secret: object): void {
  const event = { type: 'present', namespace: 'orch-system', name: 'bootstrap-token-aaaaaa', object: () => secret };
  tokens.onEvent(event as unknown as FeedEvent);
}

test('a bootstrap token is neither good nor bad until the secrets are known', (t) => {
  let isWhole = false;
  const requireWhole = (): void => {
    if (!isWhole) throw new OrchError('ActorDown', 'not yet');
  };
  const tokens = new BootstrapTokens(DIALECTS.orch, clock, { requireWhole });
  t.throws(() => tokens.owner('aaaaaa.0123456789abcdef'), { instanceOf: OrchError });
  t.is(tokens.owner('no token of this kind'), undefined, 'which does not hold up others');
  tell(tokens, bootstrapSecret());
  isWhole = true;
  t.like(tokens.owner('aaaaaa.0123456789abcdef'), { user: { name: 'system:bootstrap:aaaaaa' } });
  t.is(tokens.owner('aaaaaa.0123456789abcdee'), undefined);
});

test('a bootstrap token whose end or groups cannot be read lets nobody in', (t) => {
  const tokens = new BootstrapTokens(DIALECTS.orch, clock, { requireWhole: () => {} });
  const letsIn = (more: Readonly<Record<string, string>>): boolean => {
    tell(tokens, bootstrapSecret(Object.fromEntries(Object.entries(more).map(([key, value]) => [key, text(value)]))));
    return Boolean(tokens.owner('aaaaaa.0123456789abcdef')?.user);
  };
  t.true(letsIn({ expiration: '2030-01-01T00:00:00Z' }));
  t.true(letsIn({ expiration: '2030-01-01T00:00:00.5+02:00' }));
  for (const expiration of ['2030-01-01', '2030', '2030-01-01T00:00:00', 'January 1, 2030', '2030-02-30T00:00:00Z'])
    t.false(letsIn({ expiration }), expiration);
  t.true(letsIn({ 'auth-extra-groups': 'system:bootstrappers:a,system:bootstrappers:b' }));
  for (const groups of ['system:bootstrappers:a,', ',system:bootstrappers:a', 'system:masters'])
    t.false(letsIn({ 'auth-extra-groups': groups }), groups);
});

test('a bootstrap token lets nobody in once its end has come, or while its secret is being deleted', (t) => {
  const time = { nowMs: () => 0, monotonicMs: () => 0 };
  const tokens = new BootstrapTokens(DIALECTS.orch, time, { requireWhole: () => {} });
  const isGood = (): boolean => Boolean(tokens.owner('aaaaaa.0123456789abcdef')?.user);
  tell(tokens, bootstrapSecret({ expiration: text('1970-01-01T00:00:10Z') }));
  const after = [9_999, 10_000, 10_001].map((nowMs) => {
    time.nowMs = () => nowMs;
    return isGood();
  });
  t.deepEqual(after, [true, false, false]);
  tell(tokens, bootstrapSecret());
  t.true(isGood());
  tell(tokens, { ...bootstrapSecret(), metadata: { deletionTimestamp: '1970-01-01T00:00:10Z' } });
  t.false(isGood());
});

test('the groups of a bootstrap token are each once, and in order', (t) => {
  const tokens = new BootstrapTokens(DIALECTS.orch, clock, { requireWhole: () => {} });
  const extra = ['b', 'a', 'b'].map((name) => `system:bootstrappers:${name}`).join();
  tell(tokens, bootstrapSecret({ 'auth-extra-groups': text(extra) }));
  const groups = ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b', 'system:authenticated'];
  t.deepEqual(tokens.owner('aaaaaa.0123456789abcdef')?.user?.groups, groups);
});

test('an answer to a very long question is not remembered', (t) => {
  const answers = new Remembered<string>(clock);
  const long = 'x'.repeat(20_000);
  answers.set(long, 'yes', 1000);
  answers.set('short', 'yes', 1000);
  t.is(answers.get(long), undefined);
  t.is(answers.get('short'), 'yes');
});

test('a large cluster is read over many turns, and nobody is judged by a part of it', async (t) => {
  const OBJECTS = 25_000;
  const present = { incarnation: 1, sequence: 1, revision: 9, sharedState: new SharedState().memory };
  const turns: (() => void)[] = [];
  const time = new VirtualTime();
  const context = {
    ...fakeContext(time, () => Promise.resolve(present as unknown as PresentState)),
    timers: { ...time.timers, soon: (turn: () => void) => void turns.push(turn) },
  };
  let told = 0;
  const feed = new ClusterFeed(context, (_context, _storageKeys, onEvent) => ({
    *begin(_present, partObjects = OBJECTS) {
      for (let i = 0; i < OBJECTS; i++) {
        if (i > 0 && i % partObjects === 0) yield;
        onEvent({ storageKey: 'things', name: String(i) } as FeedEvent);
      }
    },
    apply: () => {},
  }));
  feed.add({ storageKeys: ['things'], reset: () => (told = 0), onEvent: () => void told++ });
  feed.start();
  await time.settle();
  let most = told;
  for (let before = told; turns.length > 0; before = told) {
    t.false(feed.isWhole);
    t.throws(() => feed.requireWhole(), { instanceOf: OrchError });
    turns.shift()!();
    await time.settle();
    most = Math.max(most, told - before);
  }
  t.true(feed.isWhole);
  t.notThrows(() => feed.requireWhole());
  t.is(told, OBJECTS);
  t.true(most <= 1000, `${most} in one turn`);
  feed.onLost();
  await time.settle();
  t.false(feed.isWhole);
  t.true(told > 0 && told < OBJECTS, 'it is read again in the same way');
});
