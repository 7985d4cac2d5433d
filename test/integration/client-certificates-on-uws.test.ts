// Client certificates on the faster listener (SPEC.md "Client certificates", "Authenticating proxy"), which serves with them where it is
// named: who is let in is whom the other listener lets in; whom that answers 401, this one ends the handshake with.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateAuthority, certificateOf, intermediateAuthority, outcomeOf } from '../server/credentials.ts';
import { HttpsClient } from '../server/https-client.ts';
import { testOn } from '../server/listeners.ts';
import { newServer, type Scope, type ServerProcess } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const test = testOn('uws');

const REFUSED = 'no handshake';

interface World {
  readonly server: ServerProcess;
  readonly file: (name: string) => string;
  /** What comes of a request with that certificate: a code, the user who is told that they may not, or no answer. */
  outcome(name: string, headers?: Readonly<Record<string, string>>): Promise<number | string>;
}

async function world(scope: Scope): Promise<World> {
  const files = mkdtempSync(join(tmpdir(), 'orch-uws-certificates-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  for (const name of ['people', 'proxies', 'strangers']) certificateAuthority(files, name);
  intermediateAuthority(files, 'people', 'department');
  const file = (name: string): string => join(files, name);
  const server = await newServer(scope);
  const failure = await server.start([
    ...[
      '--ingress',
      'uws',
      '--client-ca-file',
      file('people.crt'),
      '--requestheader-client-ca-file',
      file('proxies.crt'),
    ],
    ...['--requestheader-username-headers', 'X-Remote-User', '--requestheader-group-headers', 'X-Remote-Group'],
    '--authorization-mode=AlwaysDeny',
  ]);
  if (failure !== undefined) throw new Error(failure.stderr);
  return {
    server,
    file,
    async outcome(name, headers = {}) {
      const read = (ending: string): string => readFileSync(file(`${name}.${ending}`), 'utf8');
      const client = new HttpsClient(server.url, server.caPem, '', { cert: read('crt'), key: read('key') });
      try {
        return outcomeOf(await client.get('/api', { headers }));
      } catch {
        return REFUSED;
      } finally {
        client.close();
      }
    },
  };
}

test('on uws a client certificate says who asks, and one that is no good ends the handshake', async (t) => {
  const { server, file, outcome } = await world(t);
  const files = file('');
  certificateOf(files, 'people', 'jane', '/CN=jane/O=dev');
  certificateOf(files, 'people', 'root', '/CN=root/O=system:masters');
  certificateOf(files, 'people', 'wrong-use', '/CN=jane', { usage: 'serverAuth' });
  certificateOf(files, 'people', 'expired', '/CN=jane', { until: '20200102000000Z' });
  certificateOf(files, 'strangers', 'stranger', '/CN=jane');
  certificateOf(files, 'department', 'june', '/CN=june');
  certificateOf(files, 'proxies', 'front', '/CN=front');
  t.is(await outcome('jane'), 'jane');
  t.is(await outcome('root'), 200);
  for (const name of ['wrong-use', 'expired', 'stranger', 'june']) t.is(await outcome(name), REFUSED, name);
  const proxied = { 'X-Remote-User': 'remy' };
  t.is(await outcome('front', proxied), 'remy');
  t.is(await outcome('front'), 401, 'a proxy by itself is nobody');
  t.is(await outcome('jane', proxied), 'jane', 'a user is themself, whatever their headers say');
  t.is((await server.client.get('/api')).status, 200, 'a token does without');
  const bare = await server.client.get('/api', { token: '', headers: proxied });
  t.is(outcomeOf(bare), 'system:anonymous', 'headers without a certificate say nothing');
});

test('on uws other authorities vouch for clients as soon as their file is another, on open connections too', async (t) => {
  const { server, file, outcome } = await world(t);
  certificateOf(file(''), 'people', 'jane', '/CN=jane');
  certificateOf(file(''), 'strangers', 'joe', '/CN=joe');
  const pair = { cert: readFileSync(file('jane.crt'), 'utf8'), key: readFileSync(file('jane.key'), 'utf8') };
  const open = new HttpsClient(server.url, server.caPem, '', pair);
  t.teardown(() => open.close());
  const openOutcome = async (): Promise<number | string> => outcomeOf(await open.get('/api'));
  t.is(await openOutcome(), 'jane');
  copyFileSync(file('strangers.crt'), file('people.crt'));
  await eventually(
    () => outcome('joe'),
    (found) => found === 'joe',
  );
  t.is(await outcome('jane'), REFUSED);
  const after = await openOutcome().catch(() => REFUSED);
  t.true(after === 401 || after === REFUSED, `the open connection is let in as ${after}`);
});

test('on uws the authority that a first start makes vouches for clients', async (t) => {
  const server = await newServer(t);
  const made = join(server.dataDirectory, 'pki', 'cluster-ca.crt');
  const failure = await server.start(['--ingress', 'uws', '--client-ca-file', made]);
  t.is(failure, undefined);
  t.is((await server.client.get('/api')).status, 200);
});

test('on uws an authority of clients that is signed by one which is not beside it stops the start', async (t) => {
  const files = mkdtempSync(join(tmpdir(), 'orch-uws-certificates-'));
  t.teardown(() => rmSync(files, { recursive: true, force: true }));
  certificateAuthority(files, 'people');
  intermediateAuthority(files, 'people', 'department');
  const server = await newServer(t);
  const failure = await server.start(['--ingress', 'uws', '--client-ca-file', join(files, 'department.crt')]);
  t.regex(failure?.stderr ?? '', /authority of clients CN=department is signed by another, which is not beside it/);
});
