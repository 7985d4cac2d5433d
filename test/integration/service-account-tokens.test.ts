// Tokens of service accounts on a real server, made with its own key by somebody who should not have it: what is wrong with one
// is 401 however well it is signed. And what takes a good one back.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { outcomeOf, unsignedToken } from '../server/credentials.ts';
import { sharedServer, startServer } from '../server/server-process.ts';

const server = sharedServer(test, { args: ['--authorization-mode', 'AlwaysDeny'] });
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const ROBOT = 'system:serviceaccount:default:robot';
const ISSUER = 'https://orch.default.svc';

const withToken = async (token: string): Promise<number | string> =>
  outcomeOf(await server().client.get('/api', { token }));

/** A new account of the name, and a token for it. */
async function issued(name: string, spec: object = {}): Promise<string> {
  const { client } = server();
  await client.request('POST', ACCOUNTS, { body: { metadata: { name } } });
  const { status, json, text } = await client.request('POST', `${ACCOUNTS}/${name}/token`, { body: { spec } });
  if (status !== 201) throw new Error(text);
  return (json.status as { token: string }).token;
}

interface Changes {
  readonly claims?: object;
  readonly header?: object;
  readonly key?: 'another' | 'public as secret';
}

/** A token like a good one but for the changes, signed with the server's own key where no other is named. */
async function forged(good: string, { claims = {}, header = {}, key }: Changes): Promise<string> {
  const own = createPrivateKey(readFileSync(join(server().dataDirectory, 'service-account.key')));
  const publicPem = createPublicKey(own).export({ type: 'spki', format: 'pem' });
  const another = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const token = new SignJWT({ ...decodeJwt(good), ...claims });
  const { alg = '', kid = '' } = decodeProtectedHeader(good);
  const signer = key === 'another' ? another : key === undefined ? own : Buffer.from(publicPem);
  return token
    .setProtectedHeader({ alg: key === 'public as secret' ? 'HS256' : alg, kid, ...header })
    .sign(signer, { crit: { exp2: true } });
}

const own = (changes: object) => (good: string) => ({
  claims: { 'orch.io': { ...(decodeJwt(good)['orch.io'] as object), ...changes } },
});
const NOW = Math.floor(Date.now() / 1000);

const CASES: readonly (readonly [
  why: string,
  changes: Changes | ((good: string) => Changes),
  outcome: number | string,
])[] = [
  ['is as it was issued', {}, ROBOT],
  ['names no key', { header: { kid: undefined } }, ROBOT],
  ['is for several, the server among them', { claims: { aud: ['vault', ISSUER] } }, ROBOT],
  ['has expired', { claims: { exp: NOW - 120 } }, 401],
  ['never expires', { claims: { exp: undefined } }, 401],
  ['is not valid yet', { claims: { nbf: NOW + 600 } }, 401],
  ['is for another audience', { claims: { aud: ['vault'] } }, 401],
  ['is for nobody', { claims: { aud: undefined } }, 401],
  ['is of another issuer', { claims: { iss: 'https://elsewhere' } }, 401],
  ['is of no issuer', { claims: { iss: undefined } }, 401],
  ['is signed with another key', { key: 'another' }, 401],
  ['is signed with the public key as a secret', { key: 'public as secret' }, 401],
  ['calls the key otherwise', { header: { kid: 'another' } }, ROBOT],
  ['asks for what tokens have not', { header: { crit: ['exp2'], exp2: 1 } }, 401],
  ['speaks for another account', { claims: { sub: 'system:serviceaccount:default:other' } }, 401],
  ['names an account that was', own({ serviceaccount: { name: 'robot', uid: 'before' } }), 401],
  ['names no account', own({ serviceaccount: undefined }), 401],
  ['is bound to a pod that is not', own({ pod: { name: 'none', uid: 'u' } }), 401],
  ['is bound to a secret that is not', own({ secret: { name: 'none', uid: 'u' } }), 401],
  ['is of another namespace', own({ namespace: 'kube-system' }), 401],
  ['is too long', { claims: { filler: 'x'.repeat(9_000) } }, ROBOT],
];

for (const [why, changes, outcome] of CASES) {
  test(`a token that ${why} is ${outcome}`, async (t) => {
    const good = await issued('robot');
    t.is(await withToken(await forged(good, typeof changes === 'function' ? changes(good) : changes)), outcome);
  });
}

test('what is not whole is no token', async (t) => {
  const good = await issued('robot');
  const [header, payload, signature] = good.split('.');
  const broken: readonly (readonly [why: string, token: string])[] = [
    ['unsigned', unsignedToken(decodeJwt(good))],
    ['without its signature', `${header}.${payload}.`],
    ['with half a signature', good.slice(0, -40)],
    ['with another signature', `${header}.${payload}.${'A'.repeat(signature!.length)}`],
    ['without a header', `.${payload}.${signature}`],
    ['in padded base64', `${header}.${payload}=.${signature}`],
    ['with four parts', `${good}.${signature}`],
    ['with more behind it', `${good}${'x'.repeat(12_000)}`],
  ];
  for (const [why, token] of broken) t.is(await withToken(token), 401, why);
});

test('a token is taken back with its account, and does not come again with another of the name', async (t) => {
  const { client } = server();
  const token = await issued('taken-back');
  for (let i = 0; i < 3; i++) t.is(await withToken(token), 'system:serviceaccount:default:taken-back');
  await client.request('DELETE', `${ACCOUNTS}/taken-back`);
  t.is(await withToken(token), 401);
  const next = await issued('taken-back');
  t.is(await withToken(token), 401);
  t.is(await withToken(next), 'system:serviceaccount:default:taken-back');
});

test('a change of an account or a pod does not take its tokens back', async (t) => {
  const { client } = server();
  const token = await issued('changing');
  const merge = { 'Content-Type': 'application/merge-patch+json' };
  for (const value of ['1', '2', '3']) {
    const body = { metadata: { labels: { value } } };
    const { status } = await client.request('PATCH', `${ACCOUNTS}/changing`, { body, headers: merge });
    t.is(status, 200);
    t.is(await withToken(token), 'system:serviceaccount:default:changing');
  }
});

test('several key files verify, the key that signs is one of them, and one that is taken away counts no more', async (t) => {
  const at = await startServer(t, { args: ['--authorization-mode', 'AlwaysDeny'] });
  const file = (name: string): string => join(at.dataDirectory, name);
  for (const name of ['old', 'new']) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(file(`${name}.key`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  const ask = async (token: string): Promise<number | string> => outcomeOf(await at.client.get('/api', { token }));
  const issue = async (): Promise<string> => {
    const { json } = await at.client.request('POST', `${ACCOUNTS}/robot/token`, { body: { spec: {} } });
    return (json.status as { token: string }).token;
  };
  const keys = (signing: string, ...verifying: string[]): string[] => [
    `--service-account-signing-key-file=${file(`${signing}.key`)}`,
    ...verifying.map((name) => `--service-account-key-file=${file(`${name}.key`)}`),
  ];
  await at.client.request('POST', ACCOUNTS, { body: { metadata: { name: 'robot' } } });
  const restartedWith = async (args: readonly string[]): Promise<void> => {
    await at.stop();
    await at.restart(args);
  };
  await restartedWith(keys('old', 'old'));
  const old = await issue();
  t.is(await ask(old), ROBOT);
  await restartedWith(keys('new', 'old', 'new'));
  t.is(await ask(old), ROBOT);
  const next = await issue();
  t.is(await ask(next), ROBOT);
  await restartedWith(keys('new', 'new'));
  t.is(await ask(old), 401);
  t.is(await ask(next), ROBOT);
});
