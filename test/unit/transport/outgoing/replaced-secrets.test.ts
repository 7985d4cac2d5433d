// What a service outside is shown and believed by, where its files are replaced while the server runs.
import test from 'ava';
import type { ServiceConnection } from '../../../../transport/outgoing/connection-file.ts';
import { ConnectionSecrets, NoToken } from '../../../../transport/outgoing/connection-secrets.ts';
import { OTHER, PAIR } from './made-pairs.ts';

const CA = '/etc/orch/ca.crt';
const TOKEN = '/etc/orch/token';

/** Secrets whose files the test writes, and what was told of them. `next` is what goes with a call some time later. */
function secretsOf(change: Partial<ServiceConnection> = {}) {
  const files = new Map([
    [CA, PAIR.certPem],
    [TOKEN, 'one'],
  ]);
  const told: string[] = [];
  let nowMs = 0;
  const connection: ServiceConnection = {
    url: 'https://hook.test',
    caPem: PAIR.certPem,
    insecure: false,
    serverName: '',
    certPem: '',
    keyPem: '',
    files: { ca: CA, cert: '', key: '' },
    credentials: { kind: 'tokenFile', path: TOKEN },
    ...change,
  };
  const parts = {
    connection,
    readFile: async (path: string) => Buffer.from(files.get(path) ?? ''),
    nowMs: () => nowMs,
    onRefused: (problem: string) => told.push(problem),
  };
  const secrets = new ConnectionSecrets(parts, (_, { caPem }) => ({ caPem, close: () => {}, retire: () => {} }));
  const next = async () => {
    nowMs += 60_000;
    const { authorization, connections } = await secrets.current();
    return [authorization, connections.caPem];
  };
  return { files, told, next };
}

test('a token file that holds no token any more is told of once, however good the other files are', async (t) => {
  const { files, told, next } = secretsOf();
  t.deepEqual(await next(), ['Bearer one', PAIR.certPem]);
  files.set(TOKEN, '');
  for (let call = 0; call < 3; call++) t.deepEqual(await next(), ['Bearer one', PAIR.certPem]);
  t.deepEqual(told, [`${TOKEN} holds no token`]);

  files.set(CA, 'nothing');
  for (let call = 0; call < 3; call++) await next();
  t.deepEqual(told.slice(1), [`${CA} cannot be used: holds no certificates`]);

  files.set(CA, OTHER.certPem).set(TOKEN, 'two');
  t.deepEqual(await next(), ['Bearer two', OTHER.certPem]);
  t.is(told.length, 2);
});

test('a token file that was good again meanwhile is told of once more', async (t) => {
  const { files, told, next } = secretsOf({ caPem: '', files: { ca: '', cert: '', key: '' } });
  for (const token of ['one', '', 'two', '', '']) {
    files.set(TOKEN, token);
    await next();
  }
  t.deepEqual(told, [`${TOKEN} holds no token`, `${TOKEN} holds no token`]);
});

test('a token file is read before the first call, without the blanks around it, and again only after a while', async (t) => {
  let nowMs = 0;
  let text = ' one\n';
  let reads = 0;
  const connection = { credentials: { kind: 'tokenFile', path: TOKEN } } as ServiceConnection;
  const readFile = async () => {
    reads++;
    return Buffer.from(text);
  };
  const parts = { connection, readFile, nowMs: () => nowMs, onRefused: () => {} };
  const secrets = new ConnectionSecrets(parts, () => ({ close: () => {}, retire: () => {} }));
  const both = await Promise.all([secrets.current(), secrets.current()]);
  t.deepEqual(
    both.map(({ authorization }) => authorization),
    ['Bearer one', 'Bearer one'],
  );
  text = 'two';
  nowMs += 10_000;
  t.is((await secrets.current()).authorization, 'Bearer one');
  t.is(reads, 1);
  nowMs += 1;
  t.is((await secrets.current()).authorization, 'Bearer two');
  nowMs += 10_000;
  t.is((await secrets.current()).authorization, 'Bearer two');
  t.is(reads, 2);
});

test('a token file that has never been of use fails the call, and is read again with the next', async (t) => {
  const { files, told, next } = secretsOf();
  files.set(TOKEN, '');
  for (let call = 0; call < 2; call++) await t.throwsAsync(next(), { instanceOf: NoToken });
  files.set(TOKEN, 'one');
  t.deepEqual(await next(), ['Bearer one', PAIR.certPem]);
  t.deepEqual(told, []);
});

test('connections are made anew where one of their files has changed, and only then', async (t) => {
  const [CERT, KEY] = ['/etc/orch/client.crt', '/etc/orch/client.key'];
  const files = new Map([
    [CERT, PAIR.certPem],
    [KEY, PAIR.keyPem],
  ]);
  const made: string[] = [];
  const told: string[] = [];
  let retired = 0;
  let nowMs = 0;
  const { certPem, keyPem } = PAIR;
  const connection = {
    certPem,
    keyPem,
    caPem: 'as given',
    files: { ca: '', cert: CERT, key: KEY },
    credentials: { kind: 'none' },
  };
  const readFile = async (path: string) => {
    const text = files.get(path);
    if (text === undefined) throw new Error('it is not there');
    return Buffer.from(text);
  };
  const parts = {
    connection: connection as unknown as ServiceConnection,
    readFile,
    nowMs: () => nowMs,
    onRefused: (problem: string) => told.push(problem),
  };
  const secrets = new ConnectionSecrets(parts, (_, pems) => {
    made.push(pems.certPem === PAIR.certPem ? 'first' : 'other');
    t.is(pems.caPem, 'as given');
    return { close: () => {}, retire: () => void retired++ };
  });
  const next = async (): Promise<string> => {
    nowMs += 10_001;
    return (await secrets.current()).authorization;
  };
  t.is(await next(), '');
  t.deepEqual(made, ['first']);
  files.delete(KEY);
  await next();
  t.deepEqual(told, [`${CERT}, ${KEY} cannot be read`]);
  files.set(CERT, OTHER.certPem).set(KEY, PAIR.keyPem);
  await next();
  t.regex(told[1] ?? '', /^\/etc\/orch\/client.crt, \/etc\/orch\/client.key cannot be used: /);
  t.deepEqual([made, retired], [['first'], 0]);
  files.set(KEY, OTHER.keyPem);
  await next();
  await next();
  t.deepEqual([made, retired, told.length], [['first', 'other'], 1, 2]);
});
