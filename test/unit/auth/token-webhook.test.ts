// Tokens that a service outside knows: for which audiences, and how long its answer is gone by.
import test from 'ava';
import { TokenWebhook } from '../../../actors/auth/authenticators/token-webhook.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

const apiVersion = 'authentication.orch.io/v1';

/** A service that says of every token for which audiences it is good, and what it was asked. */
function service(named: readonly string[] | undefined) {
  const time = new VirtualTime();
  const asked: unknown[] = [];
  const webhook = new TokenWebhook({
    client: {
      post: async (json) => {
        const { spec } = JSON.parse(json) as { spec: { audiences?: readonly string[] } };
        asked.push(spec.audiences);
        const audiences = named === undefined ? undefined : { audiences: named };
        const status = { authenticated: true, user: { username: 'jane' }, ...audiences };
        return { apiVersion, kind: 'TokenReview', status };
      },
    },
    environment: { clock: time, timers: time, random: { next: () => 0 } },
    apiVersion,
    cacheMs: 1000,
    audiences: ['server'],
  });
  const audiencesOf = async (...audiences: readonly string[]): Promise<unknown> => {
    const owner = await webhook.owner('token', 'digest', audiences);
    return owner.user === null ? null : owner.audiences;
  };
  return { audiencesOf, asked, time };
}

test('a token is good for those audiences that were asked about and that its service names, for all where it names none', async (t) => {
  const some = service(['a', 'c']);
  t.deepEqual(await some.audiencesOf('a', 'b'), ['a']);
  t.is(await some.audiencesOf('b'), null);
  t.is(await some.audiencesOf(), null, 'the server’s own');
  t.deepEqual(await service(undefined).audiencesOf('a', 'b'), ['a', 'b']);
});

test('an answer is gone by for a while, for the audiences that it was about', async (t) => {
  const { audiencesOf, asked, time } = service(['a', 'b']);
  t.deepEqual(await audiencesOf('a'), ['a']);
  t.deepEqual(await audiencesOf('b'), ['b']);
  t.deepEqual(await audiencesOf('a'), ['a']);
  t.deepEqual(asked, [['a'], ['b']]);
  await time.advance(1001);
  t.deepEqual(await audiencesOf('a'), ['a']);
  t.is(asked.length, 3);
});
