// What a service outside is shown and believed by, where its files are replaced while the server runs.
import test from 'ava';
import type { ServiceConnection } from '../../../../transport/outgoing/connection-file.ts';
import { ConnectionSecrets } from '../../../../transport/outgoing/connection-secrets.ts';
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
