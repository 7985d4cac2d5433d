// Goal: a connection file leads to the right endpoint, and never off this machine. Method: tables of files and addresses.
import test from 'ava';
import { ConnectionFileError, endpointOf, parseConnectionFile } from '../../../bench/server/kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function file(cluster: string, user: string): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'current-context: here',
    'contexts: [{name: other, context: {cluster: x, user: y}}, {name: here, context: {cluster: c, user: u}}]',
    `clusters: [{name: c, cluster: {${cluster}}}]`,
    `users: [{name: u, user: {${user}}}]`,
  ].join('\n');
}

const readFile = (path: string): string => `contents of ${path}\n`;
const server = 'server: "https://127.0.0.1:7443"';

test('a token and an authority become the endpoint', (t) => {
  const text = file(`${server}, certificate-authority-data: ${base64('CA')}`, 'token: secret');
  t.deepEqual(parseConnectionFile(text, readFile), {
    host: '127.0.0.1',
    port: 7443,
    tls: { ca: 'CA' },
    authorization: 'Bearer secret',
  });
});

test('what stands in files is read from there', (t) => {
  const text = file(
    `${server}, certificate-authority: ca.pem`,
    'tokenFile: token, client-certificate: c.pem, client-key: k.pem',
  );
  const { tls, authorization } = parseConnectionFile(text, readFile);
  t.deepEqual(tls, { ca: 'contents of ca.pem\n', cert: 'contents of c.pem\n', key: 'contents of k.pem\n' });
  t.is(authorization, 'Bearer contents of token');
});

test('a server that is not to be verified has no authority', (t) => {
  const text = file(`${server}, insecure-skip-tls-verify: true, certificate-authority-data: ${base64('CA')}`, '');
  t.deepEqual(parseConnectionFile(text, readFile).tls, {});
});

test('a server whose certificate is for another name is asked for that name', (t) => {
  const text = file(`${server}, tls-server-name: a.example, certificate-authority-data: ${base64('CA')}`, '');
  t.deepEqual(parseConnectionFile(text, readFile).tls, { ca: 'CA', servername: 'a.example' });
});

const addresses: readonly (readonly [url: string, host: string, port: number, tls: boolean])[] = [
  ['https://127.0.0.1:6443', '127.0.0.1', 6443, true],
  ['https://127.9.9.9', '127.9.9.9', 443, true],
  ['http://localhost:8080/', 'localhost', 8080, false],
  ['http://localhost', 'localhost', 80, false],
  ['https://[::1]:6443', '::1', 6443, true],
];

for (const [url, host, port, tls] of addresses) {
  test(`${url} is an address of this machine`, (t) => {
    const endpoint = endpointOf(url, undefined, {});
    t.deepEqual([endpoint.host, endpoint.port, endpoint.tls !== undefined], [host, port, tls]);
  });
}

const refused = [
  'https://10.0.0.1:6443',
  'https://example.com',
  'https://127.0.0.1.example.com',
  'https://0.0.0.0:6443',
  'ftp://127.0.0.1',
  '127.0.0.1:6443',
  '',
];

for (const url of refused) {
  test(`"${url}" is not loaded`, (t) => {
    t.throws(() => endpointOf(url, undefined, {}), { instanceOf: ConnectionFileError });
  });
}

const broken: readonly (readonly [name: string, text: string])[] = [
  ['empty', ''],
  ['a bare word', 'hello'],
  ['without contexts', 'current-context: here'],
  ['with a context that is not there', 'current-context: gone\ncontexts: []'],
  ['with a cluster that is not there', 'current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]'],
  ['without a server', file('', 'token: x')],
];

for (const [name, text] of broken) {
  test(`a connection file ${name} is refused`, (t) => {
    t.throws(() => parseConnectionFile(text, readFile), { instanceOf: ConnectionFileError });
  });
}
