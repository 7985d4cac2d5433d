// Goal: what is shown to a server to be let in, and what it keeps to show others, is nowhere in what it says: its log at the
// highest verbosity, its metrics, its refusals. Method: a server on which every method is on, with secrets known to the test, is
// asked rightly and wrongly with all of them, and a thread is broken in the middle of it; then everything it said is searched.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import {
  certificateAuthority,
  certificateOf,
  connectionFile,
  httpsService,
  jsonOf,
  sendJson,
} from '../server/credentials.ts';
import { injectFault, isFaultTaken } from '../server/faults.ts';
import { type Answer, HttpsClient, type RequestSettings } from '../server/https-client.ts';
import { OpenIdIssuer } from '../server/openid-issuer.ts';
import { startServer } from '../server/server-process.ts';

const PROGRAM = fileURLToPath(new URL('../server/breakable-server.js', import.meta.url));
/** Long enough that none is a part of something else. */
const secretOf = (what: string): string => `${what}-1f9c27aa53`;

const STATIC = secretOf('static-token');
const PASSWORD = secretOf('password');
const OUTSIDE = secretOf('known-outside');
const FOR_TOKEN_SERVICE = secretOf('for-the-token-service');
const FOR_ACCESS_SERVICE = secretOf('for-the-access-service');
const FOR_CLAIMS = secretOf('for-the-claims');
const BOOTSTRAP = '1f9c27aa53bb42c7';
const STORED = secretOf('stored-in-a-secret');

/** Everything that a secret may look like in what is said. */
function shapesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(secret),
  ];
}

/** As soon as the threads that were broken are back. */
async function metrics(client: HttpsClient): Promise<string> {
  for (;;) {
    const answer = await client.get('/metrics').catch(() => undefined);
    if (answer?.status === 200) return answer.text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const format of ['text', 'json']) {
  test(`no secret is in what a server says (log in ${format})`, async (t) => {
    const files = mkdtempSync(join(tmpdir(), 'orch-secrets-'));
    t.teardown(() => rmSync(files, { recursive: true, force: true }));
    const file = (name: string): string => join(files, name);
    certificateAuthority(files, 'people');
    certificateOf(files, 'people', 'jane', '/CN=jane/O=dev');
    const issuer = await OpenIdIssuer.start(t, files, 'issuer');
    const services = await httpsService(t, files, 'services', (request, response) => {
      void jsonOf<{ apiVersion: string; kind: string; spec: { token?: string } }>(request).then((review) => {
        if (review.kind === 'SubjectAccessReview')
          response.writeHead(403).end(`not with ${JSON.stringify(request.headers)}`);
        else if (review.spec.token === OUTSIDE) {
          const status = { authenticated: true, user: { username: 'outsider', groups: ['system:masters'] } };
          sendJson(response, { apiVersion: review.apiVersion, kind: review.kind, status });
        } else response.writeHead(403).end(`not ${JSON.stringify([request.headers, review])}`);
      });
    });
    writeFileSync(file('tokens.csv'), `${STATIC},tom,1,"dev"\n`);
    writeFileSync(file('passwords.csv'), `${PASSWORD},ali,1\n`);
    for (const name of ['tokens', 'access']) writeFileSync(file(`${name}.crt`), readFileSync(file('services.crt')));
    const server = await startServer(t, {
      placement: 'default',
      program: PROGRAM,
      args: [
        '-v=10',
        `--logging-format=${format}`,
        '--authorization-mode=RBAC,Webhook',
        `--authorization-webhook-config-file=${connectionFile(files, 'access', services, FOR_ACCESS_SERVICE)}`,
        `--authentication-token-webhook-config-file=${connectionFile(files, 'tokens', services, FOR_TOKEN_SERVICE)}`,
        `--client-ca-file=${file('people.crt')}`,
        `--token-auth-file=${file('tokens.csv')}`,
        `--basic-auth-file=${file('passwords.csv')}`,
        '--enable-bootstrap-token-auth',
        `--oidc-issuer-url=${issuer.url}`,
        '--oidc-client-id=orch',
        '--oidc-groups-claim=groups',
        '--oidc-signing-algs=ES256',
        `--oidc-ca-file=${file('issuer.crt')}`,
      ],
    });
    const said: string[] = [];
    const keep = async (answer: Promise<Answer>): Promise<Answer> => {
      const { status, headers, text } = await answer;
      if (status >= 300) said.push(JSON.stringify(headers), text);
      return answer;
    };
    const send = (method: string, path: string, settings: RequestSettings): Promise<Answer> =>
      keep(server.client.request(method, path, settings));

    const bootstrap = {
      metadata: { name: 'bootstrap-token-aaaaaa' },
      type: 'bootstrap.orch.io/token',
      stringData: { 'token-id': 'aaaaaa', 'token-secret': BOOTSTRAP, 'usage-bootstrap-authentication': 'true' },
    };
    t.is((await send('POST', '/api/v1/namespaces/orch-system/secrets', { body: bootstrap })).status, 201);
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await send('POST', accounts, { body: { metadata: { name: 'robot' } } });
    const issued = await send('POST', `${accounts}/robot/token`, { body: { spec: {} } });
    const { token: ofRobot } = issued.json.status as { token: string };
    const claims = { sub: 'sue', groups: ['dev'] };
    const ofSue = await issuer.sign(claims);
    issuer.others.set('/claims', { body: await issuer.sign({ groups: ['a'] }), authorization: 'Bearer another' });
    const source = { endpoint: `${issuer.url}/claims`, access_token: FOR_CLAIMS };
    const elsewhere = { sub: 'sue', _claim_names: { groups: 's' }, _claim_sources: { s: source } };
    const ofElsewhere = await issuer.sign(elsewhere);
    const late = await issuer.sign(claims, { expires: '1s ago' });

    const tokens = [STATIC, OUTSIDE, ofRobot, ofSue, ofElsewhere, late, `aaaaaa.${BOOTSTRAP}`, server.token];
    const everybody: readonly RequestSettings[] = [
      ...tokens.map((token) => ({ token })),
      ...tokens.map((token) => ({ token: `${token}x` })),
      ...tokens.map((token) => ({ token: '', headers: { Authorization: `Basic ${token}` } })),
      ...tokens.map((token) => ({ token: '', headers: { Authorization: token } })),
      ...[`ali:${PASSWORD}`, `bob:${PASSWORD}`, PASSWORD].map((text) => ({
        token: '',
        headers: { Authorization: `Basic ${Buffer.from(text).toString('base64')}` },
      })),
    ];
    const key = readFileSync(file('jane.key'), 'utf8');
    const jane = new HttpsClient(server.url, server.caPem, '', { cert: readFileSync(file('jane.crt'), 'utf8'), key });
    t.teardown(() => jane.close());
    const askEverything = async (): Promise<void> => {
      const reviews = '/apis/authentication.orch.io/v1/tokenreviews';
      const asked = [
        ...everybody.flatMap((who) => [
          send('GET', '/api/v1/namespaces/default/secrets', who),
          send('GET', '/no/such/path', who),
        ]),
        keep(jane.get('/api/v1/secrets')),
        ...tokens.flatMap((token) => [
          send('POST', reviews, { body: { spec: { token: { [token]: 1 } } } }),
          send('POST', reviews, { body: `{"spec":{"token":"${token}` }),
        ]),
      ];
      // Some end with their thread.
      await Promise.allSettled(asked);
    };
    const wrongSecrets: readonly object[] = [
      { metadata: { name: 'S' }, stringData: { key: STORED } },
      { metadata: { name: 's' }, data: { key: `!${STORED}` } },
      { metadata: { name: 's' }, data: { key: { [STORED]: 1 } } },
      { metadata: { name: 's' }, type: 'orch.io/dockerconfigjson', stringData: { '.dockerconfigjson': STORED } },
    ];
    for (const body of wrongSecrets)
      t.true((await send('POST', '/api/v1/namespaces/default/secrets', { body })).status >= 400);
    await askEverything();
    for (const actor of ['auth', 'admission']) {
      injectFault(server.dataDirectory, actor, { type: 'break' });
      while (!isFaultTaken(server.dataDirectory, actor)) await new Promise((resolve) => setTimeout(resolve, 10));
      await askEverything();
    }
    said.push(await metrics(server.client), server.stdout, server.stderr);
    t.true(server.stdout.length + server.stderr.length > 1_000, 'it has said something');
    const all = said.join('\n');
    const signatures = [ofRobot, ofSue, ofElsewhere, late].map((token) => token.split('.')[2]!);
    const ownKeys = ['service-account.key', 'pki/tls.key'].flatMap((name) => {
      try {
        return readFileSync(join(server.dataDirectory, name), 'utf8').split('\n').slice(1, -2);
      } catch {
        return [];
      }
    });
    t.true(ownKeys.length > 0);
    const secrets = [STATIC, PASSWORD, OUTSIDE, FOR_TOKEN_SERVICE, FOR_ACCESS_SERVICE, FOR_CLAIMS, BOOTSTRAP, STORED];
    for (const secret of [...secrets, ...signatures, ...ownKeys, key.split('\n')[1]!, server.token])
      for (const shape of shapesOf(secret)) {
        const at = all.indexOf(shape);
        t.is(at, -1, `${secret}: ${all.slice(Math.max(0, at - 300), at + 100)}`);
      }
  });
}
