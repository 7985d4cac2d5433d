// The secrets with tokens that service accounts are given: made, named, filled, deleted; and bootstrap tokens that expire.
import test from 'ava';
import type { Write } from '../../../actors/controllers/controller.ts';
import { ServiceAccountTokens } from '../../../actors/controllers/tokens/service-account-tokens.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { DIALECT, type Fixture, objectOf, restarted, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const ACCOUNTS = 'core/serviceaccounts';
const SECRETS = 'core/secrets';
const TYPE = 'orch.io/service-account-token';
const NAME = 'orch.io/service-account.name';
const UID = 'orch.io/service-account.uid';
const WITH_TOKENS = { issuesTokens: true };

const text = (base64: unknown): string => Buffer.from(String(base64 ?? ''), 'base64').toString();

/** Names of the secrets that the account's own list names. */
function secretsOf(f: Fixture, name: string): string[] {
  const { secrets = [] } = (f.cluster.get(ACCOUNTS, 'ns', name) ?? {}) as { secrets?: { name: string }[] };
  return secrets.map((reference) => reference.name);
}

/** The token secrets of an account in the namespace `ns`. */
function tokenSecrets(f: Fixture, account: string): Stored[] {
  return f.cluster
    .names(SECRETS)
    .filter((key) => key.startsWith('ns/'))
    .map((key) => f.cluster.get(SECRETS, 'ns', key.slice('ns/'.length))!)
    .filter(({ type, metadata }) => type === TYPE && metadata.annotations?.[NAME] === account);
}

function populate(f: Fixture['cluster']): void {
  f.put('core/namespaces', objectOf('Namespace', '', 'ns'));
  f.put(ACCOUNTS, objectOf('ServiceAccount', 'ns', 'robot'));
}

function secret(name: string, annotations: Record<string, string>, rest: object = {}): Stored {
  return objectOf('Secret', 'ns', name, { metadata: { annotations }, type: TYPE, ...rest } as never);
}

test('every account is given one secret with its token, the authority and the namespace, and names it', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const [name = ''] = secretsOf(f, 'robot');
  t.regex(name, /^robot-token-[a-z0-9]{5}$/);
  const made = f.cluster.get(SECRETS, 'ns', name)!;
  const { uid } = f.cluster.get(ACCOUNTS, 'ns', 'robot')!.metadata;
  t.is(made.type, TYPE);
  t.deepEqual(made.metadata.annotations, { [NAME]: 'robot', [UID]: uid });
  const data = made.data as Record<string, string>;
  t.is(text(data.token), `token of robot ${uid} in ${name}`);
  t.is(text(data['ca.crt']), 'the authority');
  t.is(text(data.namespace), 'ns');
  t.is(tokenSecrets(f, 'robot').length, 1);
});

test('accounts of namespaces that come later are given theirs, the default ones too', async (t) => {
  const f = await started(WITH_TOKENS);
  f.cluster.put('core/namespaces', objectOf('Namespace', '', 'ns'));
  await f.time.settle();
  t.is(secretsOf(f, 'default').length, 1);
});

test('without a key nobody is given a token', async (t) => {
  const f = await started({}, populate);
  t.deepEqual(tokenSecrets(f, 'robot'), []);
  t.deepEqual(secretsOf(f, 'robot'), []);
});

test('who keeps putting another authority into a secret is given way to more and more', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const [name = ''] = secretsOf(f, 'robot');
  const theirs = Buffer.from('theirs').toString('base64');
  const before = f.cluster.writes.length;
  for (let seconds = 0; seconds < 300; seconds += 5) {
    const made = f.cluster.get(SECRETS, 'ns', name)!;
    const data = made.data as Record<string, string>;
    if (data['ca.crt'] !== theirs) f.cluster.put(SECRETS, { ...made, data: { ...data, 'ca.crt': theirs } });
    await f.time.advance(5_000);
  }
  const writes = f.cluster.writes.length - before;
  t.true(writes >= 6 && writes <= 9, `${writes}`);
  await f.time.advance(300_000);
  t.is(text((f.cluster.get(SECRETS, 'ns', name)!.data as Record<string, string>)['ca.crt']), 'the authority');
});

test('a secret that is deleted is made anew under another name, which the account then names alone', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const [first = ''] = secretsOf(f, 'robot');
  f.cluster.delete(SECRETS, 'ns', first);
  await f.time.settle();
  const named = secretsOf(f, 'robot');
  t.is(named.length, 1);
  t.not(named[0], first);
  t.truthy(f.cluster.get(SECRETS, 'ns', named[0]!));
});

test('an account that is made to name its secret no more is given another one, and keeps to that', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const [first = ''] = secretsOf(f, 'robot');
  f.cluster.put(ACCOUNTS, { ...f.cluster.get(ACCOUNTS, 'ns', 'robot')!, secrets: [] } as Stored);
  await f.time.settle();
  const named = secretsOf(f, 'robot');
  t.is(named.length, 1);
  t.not(named[0], first);
  t.is(tokenSecrets(f, 'robot').length, 2);
  const again = await restarted(f, WITH_TOKENS);
  t.deepEqual(secretsOf(again, 'robot'), named);
  t.is(tokenSecrets(again, 'robot').length, 2);
});

test('secrets go with their account, and with one of the same name that was another', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const [first = ''] = secretsOf(f, 'robot');
  f.cluster.put(SECRETS, secret('by-hand', { [NAME]: 'robot' }));
  await f.time.settle();
  f.cluster.delete(ACCOUNTS, 'ns', 'robot');
  await f.time.settle();
  t.deepEqual(tokenSecrets(f, 'robot'), []);
  t.is(f.cluster.get(SECRETS, 'ns', first), undefined);
  f.cluster.put(ACCOUNTS, objectOf('ServiceAccount', 'ns', 'robot'));
  f.cluster.put(SECRETS, secret('stale', { [NAME]: 'robot', [UID]: 'another' }));
  await f.time.settle();
  t.is(f.cluster.get(SECRETS, 'ns', 'stale'), undefined);
  t.is(secretsOf(f, 'robot').length, 1);
});

test('a secret of the type that is made by hand is filled, keeps what it holds, and is not named by the account', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  f.cluster.put(
    SECRETS,
    secret('by-hand', { [NAME]: 'robot', own: 'kept' }, { data: { extra: 'eA==', namespace: 'eA==' } }),
  );
  await f.time.settle();
  const { uid } = f.cluster.get(ACCOUNTS, 'ns', 'robot')!.metadata;
  const filled = f.cluster.get(SECRETS, 'ns', 'by-hand')!;
  t.deepEqual(filled.metadata.annotations, { [NAME]: 'robot', own: 'kept', [UID]: uid });
  const { extra, namespace, token, 'ca.crt': ca } = filled.data as Record<string, string>;
  t.deepEqual([extra, text(namespace), text(ca)], ['eA==', 'x', 'the authority']);
  t.is(text(token), `token of robot ${uid} in by-hand`);
  t.false(secretsOf(f, 'robot').includes('by-hand'));
});

test('a secret of the type whose account is not there is deleted; other secrets are left alone', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  f.cluster.put(SECRETS, secret('orphan', { [NAME]: 'nobody' }));
  f.cluster.put(
    SECRETS,
    objectOf('Secret', 'ns', 'opaque', { metadata: { annotations: { [NAME]: 'nobody' } } } as never),
  );
  await f.time.settle();
  t.is(f.cluster.get(SECRETS, 'ns', 'orphan'), undefined);
  t.truthy(f.cluster.get(SECRETS, 'ns', 'opaque'));
});

test('secrets that users named in an account stay named', async (t) => {
  const f = await started(WITH_TOKENS, (cluster) => {
    cluster.put('core/namespaces', objectOf('Namespace', '', 'ns'));
    cluster.put(ACCOUNTS, { ...objectOf('ServiceAccount', 'ns', 'robot'), secrets: [{ name: 'mine' }] } as Stored);
  });
  const named = secretsOf(f, 'robot');
  t.is(named.length, 2);
  t.is(named[0], 'mine');
});

test('an account names a secret with a token no more when that is deleted, whoever made it; others stay named', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const own = secretsOf(f, 'robot');
  f.cluster.put(SECRETS, secret('by-hand', { [NAME]: 'robot' }));
  await f.time.settle();
  const account = f.cluster.get(ACCOUNTS, 'ns', 'robot')!;
  const secrets = ['mine', 'by-hand', ...own].map((name) => ({ name }));
  f.cluster.put(ACCOUNTS, { ...account, secrets } as Stored);
  await f.time.settle();
  t.deepEqual(secretsOf(f, 'robot'), ['mine', 'by-hand', ...own]);
  f.cluster.delete(SECRETS, 'ns', 'by-hand');
  await f.time.settle();
  t.deepEqual(secretsOf(f, 'robot'), ['mine', ...own]);
});

test('a token that cannot be signed now is asked for again', async (t) => {
  let isDown = true;
  const f = await started(WITH_TOKENS);
  f.onIssue(() => {
    if (isDown) throw new Error('down');
    return { token: 'late' };
  });
  populate(f.cluster);
  await f.time.settle();
  t.deepEqual(secretsOf(f, 'robot'), []);
  isDown = false;
  await f.time.advance(5_000);
  t.is(secretsOf(f, 'robot').length, 1);
});

test('an account made anew while the token of the first is signed is given one of its own', async (t) => {
  const f = await started(WITH_TOKENS);
  const signed: (() => void)[] = [];
  f.onIssue(
    ({ serviceAccount: { uid } }) => new Promise((resolve) => signed.push(() => resolve({ token: `token of ${uid}` }))),
  );
  populate(f.cluster);
  f.cluster.put(SECRETS, secret('by-hand', { [NAME]: 'robot' }));
  await f.time.settle();
  f.cluster.put(ACCOUNTS, objectOf('ServiceAccount', 'ns', 'robot', { metadata: { name: 'robot', uid: 'second' } }));
  await f.time.settle();
  for (const go of signed) go();
  await f.time.settle();
  const tokens = tokenSecrets(f, 'robot').map(({ data }) => text((data as Record<string, string>).token));
  t.deepEqual(tokens, ['token of second', 'token of second']);
});

test('where another controller names a secret of its own while one is made, the one that was made goes again', async (t) => {
  const f = await started(WITH_TOKENS);
  let isAhead = true;
  f.cluster.fault = ({ verb, target, payload }) => {
    if (!isAhead || verb !== 'create' || target.resource !== 'secrets') return undefined;
    const { metadata } = JSON.parse(new TextDecoder().decode(payload)) as Stored;
    if (metadata.annotations?.[NAME] !== 'robot') return undefined;
    isAhead = false;
    f.cluster.put(SECRETS, secret('theirs', metadata.annotations));
    f.cluster.put(ACCOUNTS, { ...f.cluster.get(ACCOUNTS, 'ns', 'robot')!, secrets: [{ name: 'theirs' }] } as Stored);
    return undefined;
  };
  populate(f.cluster);
  await f.time.settle();
  t.false(isAhead);
  t.deepEqual(secretsOf(f, 'robot'), ['theirs']);
  const names = tokenSecrets(f, 'robot').map(({ metadata }) => metadata.name);
  t.deepEqual(names, ['theirs']);
});

test('a restart in between makes no second secret', async (t) => {
  const f = await started(WITH_TOKENS);
  f.cluster.fault = ({ verb, target }) =>
    verb === 'update' && target.resource === 'serviceaccounts' ? new Error('lost') : undefined;
  populate(f.cluster);
  await f.time.settle();
  t.deepEqual(secretsOf(f, 'robot'), []);
  f.cluster.fault = () => undefined;
  const again = await restarted(f, WITH_TOKENS);
  t.is(secretsOf(again, 'robot').length, 1);
  t.is(tokenSecrets(again, 'robot').length, 1);
});

test('an account that is looked at again before its secret is heard of is given no second one', async (t) => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const settings = { dialect: DIALECT, caPem: '', random: new SeededRandom(1), issue: async () => 'token' };
  const tokens = new ServiceAccountTokens(clock, { add: () => {} }, settings);
  const event = (type: 'put' | 'delete', storageKey: string, object: Stored): void =>
    tokens.onEvent({ type, storageKey, namespace: 'ns', name: object.metadata.name, object: () => object } as never);
  const account = objectOf('ServiceAccount', 'ns', 'robot', { metadata: { name: 'robot', uid: 'u' } });
  const planned = async (): Promise<Write | undefined> => {
    tokens.plan('account ns/robot');
    await Promise.resolve();
    return tokens.plan('account ns/robot').writes[0];
  };
  const answered = (write: Write, code: number): void =>
    tokens.onOutcome('account ns/robot', write, { ok: code === 201, code, message: '', body: undefined });
  event('put', ACCOUNTS, account);
  const first = await planned();
  t.is(first?.verb, 'create');
  answered(first!, 201);
  event('put', ACCOUNTS, account);
  t.is(await planned(), undefined);
  // Whoever deletes it as soon as it is there has another one made.
  const made = secret('made', { [NAME]: 'robot', [UID]: 'u' });
  event('put', SECRETS, made);
  event('delete', SECRETS, made);
  const second = await planned();
  t.is(second?.verb, 'create');
  answered(second!, 409);
  t.is((await planned())?.verb, 'create', 'and where somebody else has the name, under another');
});

test('a namespace that ends is given nothing any more', async (t) => {
  const f = await started(WITH_TOKENS, populate);
  const before = f.writesOf('create secrets').length;
  const [first = ''] = secretsOf(f, 'robot');
  const ending = objectOf('Namespace', '', 'ns', {
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.test/held'] },
  } as never);
  f.cluster.put('core/namespaces', ending);
  f.cluster.delete(SECRETS, 'ns', first);
  await f.time.settle();
  t.is(f.writesOf('create secrets').length, before);
});

const bootstrapToken = (name: string, expiration: string): Stored =>
  objectOf('Secret', 'orch-system', name, {
    type: 'bootstrap.orch.io/token',
    data: expiration === '' ? {} : { expiration: Buffer.from(expiration).toString('base64') },
  } as Partial<Stored>);

test('bootstrap tokens are deleted when they expire, and nothing else is', async (t) => {
  const f = await started();
  const inMs = (ms: number): string => new Date(f.time.clock.nowMs() + ms).toISOString();
  f.cluster.put(SECRETS, bootstrapToken('past', inMs(-1000)));
  f.cluster.put(SECRETS, bootstrapToken('unreadable', 'soon'));
  f.cluster.put(SECRETS, bootstrapToken('later', inMs(60_000)));
  f.cluster.put(SECRETS, bootstrapToken('renewed', inMs(60_000)));
  f.cluster.put(SECRETS, bootstrapToken('never', ''));
  f.cluster.put(SECRETS, { ...bootstrapToken('opaque', inMs(-1000)), type: 'Opaque' } as Stored);
  const left = (): string[] =>
    ['past', 'unreadable', 'later', 'renewed', 'never', 'opaque'].filter(
      (name) => f.cluster.get(SECRETS, 'orch-system', name) !== undefined,
    );
  await f.time.settle();
  t.deepEqual(left(), ['later', 'renewed', 'never', 'opaque']);
  // One that was given more time meanwhile stays.
  const asSeen = /^\{"uid":"[^"]+","resourceVersion":"\d+"\}$/;
  for (const { body } of f.writesOf('delete secrets')) t.regex(JSON.stringify(body?.preconditions), asSeen);
  f.cluster.put(SECRETS, bootstrapToken('renewed', inMs(600_000)));
  await f.time.advance(61_000);
  t.deepEqual(left(), ['renewed', 'never', 'opaque']);
});
