// Tokens that a service outside knows: for which audiences, and how long its answer is gone by.
import test from 'ava';
import { TokenWebhook } from '../../../actors/auth/authenticators/token-webhook.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { ServiceCallFailed, ServiceRefused } from '../../../transport/outgoing/service-client.ts';

const apiVersion = 'authentication.orch.io/v1';

/** A service that says of every token for which audiences it is good, and what it was asked. */
function service(named: readonly string[] | undefined) {
  const time = new VirtualTime();
  const asked: unknown[] = [];
  const webhook = new TokenWebhook({
    client: {
      url: 'https://judge/',
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

test('a token is good for those audiences that were asked about and that its service names, and for this server’s where it names none', async (t) => {
  const some = service(['a', 'c']);
  t.deepEqual(await some.audiencesOf('a', 'b'), ['a']);
  t.is(await some.audiencesOf('b'), null);
  t.is(await some.audiencesOf(), null, 'the server’s own');
  const silent = service(undefined);
  t.is(await silent.audiencesOf('a', 'b'), null, 'it may never have heard of audiences');
  t.deepEqual(await silent.audiencesOf('a', 'server'), ['server']);
  t.deepEqual(await silent.audiencesOf(), ['server']);
});

test('a review that is sent has all its members, as services in Go would read them back', async (t) => {
  const time = new VirtualTime();
  let sent: unknown;
  const post = async (json: string): Promise<object> => {
    sent = JSON.parse(json);
    return { apiVersion, kind: 'TokenReview', status: { authenticated: false } };
  };
  const environment = { clock: time, timers: time, random: { next: () => 0 } };
  const client = { url: 'https://judge/', post };
  const webhook = new TokenWebhook({ client, environment, apiVersion, cacheMs: 1000, audiences: ['server'] });
  await webhook.owner('token', 'digest', []);
  t.deepEqual(sent, {
    kind: 'TokenReview',
    apiVersion,
    metadata: { creationTimestamp: null },
    spec: { token: 'token', audiences: ['server'] },
    status: { user: {} },
  });
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

/** Who a token is, by what its service answers one time after the other, or why nobody knows. */
async function ownersBy(...answers: readonly unknown[]): Promise<readonly string[]> {
  const time = new VirtualTime();
  const left = [...answers];
  const post = async (): Promise<unknown> => {
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const webhook = new TokenWebhook({
    client: { url: 'https://judge/', post },
    environment: { clock: time, timers: time, random: { next: () => 0 } },
    apiVersion,
    cacheMs: 120_000,
    audiences: [],
  });
  const owners: string[] = [];
  for (const _ of answers) {
    const owner = await webhook.owner('token', 'digest', []);
    owners.push(owner.user === null ? owner.error : owner.user.name);
  }
  return owners;
}

async function ownerBy(answer: unknown): Promise<string> {
  return (await ownersBy(answer))[0]!;
}

const JANE = { status: { authenticated: true, user: { username: 'jane' } } };

test('what keeps a service from judging a token is over with the answer that says so, and what it has judged is gone by', async (t) => {
  const away = new ServiceCallFailed('EOF', false);
  t.deepEqual(await ownersBy(away, JANE, away), ['Post "https://judge/": EOF', 'jane', 'jane']);
  const ailing = { status: { authenticated: false, error: 'the directory is down' } };
  t.deepEqual(await ownersBy(ailing, JANE), ['the directory is down', 'jane']);
  t.deepEqual(await ownersBy({ kind: 'Pod' }, JANE), ['the service that knows tokens answered something else', 'jane']);
  t.deepEqual(await ownersBy({ status: { authenticated: false } }, JANE), ['', '']);
});

test('a review whose status has a member of another type is believed in nothing, and the next one is asked for', async (t) => {
  const user = { username: 'jane' };
  for (const [status, told] of [
    [{ authenticated: 'true', user }, 'authenticated: json: cannot unmarshal string into Go value of type bool'],
    [{ authenticated: false, error: 7 }, 'error: json: cannot unmarshal number into Go value of type string'],
    [{ authenticated: true, user: 'jane' }, 'user: json: cannot unmarshal string into Go value of type object'],
    [
      { authenticated: true, user: { ...user, groups: 'staff' } },
      'user.groups: json: cannot unmarshal string into Go value of type list',
    ],
    [
      { authenticated: true, user: { ...user, extra: { scopes: ['a', 7] } } },
      'user.extra: json: cannot unmarshal number into Go value of type string',
    ],
  ] as const) {
    const words = `Post "https://judge/": the service answered a review that cannot be read: status.${told}`;
    t.deepEqual(await ownersBy({ status }, JANE), [words, 'jane']);
  }
  const nulls = { authenticated: true, error: null, audiences: null, user: { ...user, groups: [null], extra: null } };
  t.is(await ownerBy({ status: nulls }), 'jane');
});

test('a service that does not say what it answers is understood, and one that says something else is not', async (t) => {
  const { status } = JANE;
  const other = 'the service that knows tokens answered something else';
  t.is(await ownerBy({ status }), 'jane');
  t.is(await ownerBy({ kind: 'TokenReview', apiVersion: '', status }), 'jane');
  t.is(await ownerBy({ kind: 'TokenReview', apiVersion: 'v9', status }), other);
  t.is(await ownerBy({ kind: 'Pod', status }), other);
  t.is(await ownerBy([{ status }]), other);
  t.is(await ownerBy(null), '');
});

test('a review of a token says why its service could not be asked, and nothing that nobody foresaw', async (t) => {
  t.is(await ownerBy(new ServiceRefused(404, 'no')), 'the server could not find the requested resource');
  t.is(await ownerBy(new ServiceCallFailed('EOF', false)), 'Post "https://judge/": EOF');
  t.is(await ownerBy(new Error('the token')), 'the service that knows tokens could not be asked');
});
