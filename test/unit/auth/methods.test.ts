// Which methods of authentication there are: those that are switched on, in the order in which they are tried. And names with passwords.
import test from 'ava';
import { BasicPasswords } from '../../../actors/auth/authenticators/basic.ts';
import { parsePasswordFile } from '../../../actors/auth/authenticators/token-file.ts';
import { type AuthMethods, replaceAuthorities, requestMethods, tokenMethods } from '../../../actors/auth/methods.ts';
import type { Credentials } from '../../../actors/auth/protocol.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { NO_METRICS } from '../controllers/fake-context.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const CONTEXT = { metrics: NO_METRICS, clock } as unknown as ActorContext;
const connection = { url: 'https://knows.test/', credentials: { kind: 'none' } };

const EVERY = {
  clientCaPem: '',
  proxy: { caPem: '', names: [] },
  passwords: [],
  bootstrapTokens: true,
  connect: { settings: { issuerUrl: 'https://issuer.test', algorithms: ['RS256'] }, caPem: '', caFile: '' },
  tokenWebhook: { connection, version: 'v1', cacheMs: 0 },
} as unknown as AuthMethods;

/** What is made of each part of the settings. */
const MADE: Readonly<Record<string, string>> = {
  proxy: 'AuthenticatingProxy',
  clientCaPem: 'ClientCertificates',
  passwords: 'BasicPasswords',
  bootstrapTokens: 'BootstrapTokens',
  connect: 'ConnectTokens',
  tokenWebhook: 'TokenWebhook',
};

function made(methods: AuthMethods): readonly string[] {
  const cluster = { requireWhole: () => {} };
  return [
    ...requestMethods(CONTEXT, methods, () => {}),
    ...tokenMethods(CONTEXT, DIALECTS.orch, [], undefined, cluster, methods),
  ].map((method) => method.constructor.name);
}

test('a method that is not switched on lets nobody in', (t) => {
  t.deepEqual(made({}), ['StaticTokens']);
  for (const [part, name] of Object.entries(MADE)) {
    const only = { [part]: (EVERY as Readonly<Record<string, unknown>>)[part] } as AuthMethods;
    t.deepEqual([...made(only)].sort(), ['StaticTokens', name].sort());
  }
});

test('methods are tried in their order: a proxy before certificates, and those that ask outside last', (t) => {
  t.deepEqual(made(EVERY), [
    'AuthenticatingProxy',
    'ClientCertificates',
    'BasicPasswords',
    'StaticTokens',
    'BootstrapTokens',
    'ConnectTokens',
    'TokenWebhook',
  ]);
});

test('other authorities are those of the methods that go by them, and those that are absent stay', (t) => {
  const told: string[] = [];
  const methods = requestMethods(CONTEXT, EVERY, () => {});
  for (const method of methods)
    if ('replaceAuthorities' in method)
      method.replaceAuthorities = (pem: string) => void told.push(`${method.constructor.name} ${pem}`);
  replaceAuthorities(methods, { client: 'c' });
  replaceAuthorities(methods, { proxy: 'p' });
  replaceAuthorities(methods, {});
  replaceAuthorities(methods, { client: '', proxy: '' });
  t.deepEqual(told, ['ClientCertificates c', 'AuthenticatingProxy p', 'AuthenticatingProxy ', 'ClientCertificates ']);
});

const WRONG = { error: 'the name or the password is wrong' };
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

test('a name with its password lets in, and neither by itself nor with those of others', (t) => {
  const passwords = new BasicPasswords(parsePasswordFile('secret,ann,1,"dev,ops"\na:b,bob,2\n', 'file'));
  const found = (authorization: string): unknown => passwords.user({ authorization } as Credentials);
  t.like(found(basic('ann:secret')), { name: 'ann', uid: '1', groups: ['dev', 'ops', 'system:authenticated'] });
  t.like(found(basic('bob:a:b')), { name: 'bob' });
  t.like(found(basic('ann:secret').replace('Basic', 'bAsIc  ')), { name: 'ann' });
  for (const wrong of ['ann:a:b', 'bob:secret', 'ann:', 'ann', ':secret', '', 'ann:secret ', 'Ann:secret'])
    t.deepEqual(found(basic(wrong)), wrong === '' ? undefined : WRONG, wrong);
  for (const other of ['', 'Basic', 'Basic !!!!', `Bearer ${basic('ann:secret').slice(6)}`, `x${basic('ann:secret')}`])
    t.is(found(other), undefined, other);
});
