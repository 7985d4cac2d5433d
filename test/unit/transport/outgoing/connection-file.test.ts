// Connection files as operators write them: what is read of a good one, and the line for a bad one.
import { join } from 'node:path';
import test from 'ava';
import {
  ConnectionFileError,
  isToken,
  parseConnectionFile,
  type ServiceConnection,
} from '../../../../transport/outgoing/connection-file.ts';
import { OTHER, PAIR } from './made-pairs.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/orch/ca.crt': PAIR.certPem,
  '/etc/orch/own.crt': PAIR.certPem,
  '/etc/orch/own.key': PAIR.keyPem,
  '/etc/orch/other.key': OTHER.keyPem,
  '/etc/orch/empty': '',
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');

type Fields = Readonly<Record<string, unknown>>;

function textOf(cluster: Fields, user: Fields, change: Fields = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'remote', user: 'us' } }],
    clusters: [{ name: 'remote', cluster: { server: 'https://hook.test/path/', ...cluster } }],
    users: [{ name: 'us', user }],
    ...change,
  });
}

function parsed(text: string, address?: string): ServiceConnection {
  const named = {
    resolve: (path: string) => join('/etc/orch', path),
    read: (path: string) => {
      const found = FILES[path];
      if (found === undefined) throw new Error(`no ${path}`);
      return found;
    },
  };
  return parseConnectionFile(text, named, address);
}

const PLAIN: ServiceConnection = {
  url: 'https://hook.test/path',
  caPem: '',
  insecure: false,
  serverName: '',
  certPem: '',
  keyPem: '',
  files: { ca: '', cert: '', key: '' },
  credentials: { kind: 'none' },
};

const GOOD: readonly (readonly [title: string, cluster: Fields, user: Fields, expected: Partial<ServiceConnection>])[] =
  [
    ['only an address', {}, {}, {}],
    ['plain HTTP', { server: 'http://127.0.0.1:8080' }, {}, { url: 'http://127.0.0.1:8080' }],
    [
      'an authority in a file beside it',
      { 'certificate-authority': 'ca.crt', 'tls-server-name': 'inner.test' },
      {},
      { caPem: PAIR.certPem, serverName: 'inner.test', files: { ca: '/etc/orch/ca.crt', cert: '', key: '' } },
    ],
    [
      'data, which goes before a file',
      { 'certificate-authority-data': base64(OTHER.certPem), 'certificate-authority': 'ca.crt' },
      {},
      { caPem: OTHER.certPem },
    ],
    ['no verification', { 'insecure-skip-tls-verify': true }, {}, { insecure: true }],
    [
      'a client certificate',
      {},
      { 'client-certificate': 'own.crt', 'client-key': 'own.key' },
      { ...PAIR, files: { ca: '', cert: '/etc/orch/own.crt', key: '/etc/orch/own.key' } },
    ],
    [
      'a client certificate as data',
      {},
      { 'client-certificate-data': base64(PAIR.certPem), 'client-key-data': base64(PAIR.keyPem) },
      PAIR,
    ],
    ['a token', {}, { token: 'secret' }, { credentials: { kind: 'token', token: 'secret' } }],
    [
      'a token file, which goes before a token',
      {},
      { token: 'secret', tokenFile: 'token' },
      { credentials: { kind: 'tokenFile', path: '/etc/orch/token' } },
    ],
    [
      'a name and a password',
      {},
      { username: 'us', password: 'a:b' },
      { credentials: { kind: 'basic', name: 'us', password: 'a:b' } },
    ],
  ];

test('over plain HTTP a service is shown no token, no password and no certificate', (t) => {
  for (const user of [
    { token: 'secret' },
    { tokenFile: 'token' },
    { username: 'us', password: 'a:b' },
    { 'client-certificate': 'own.crt', 'client-key': 'own.key' },
  ]) {
    const plain = { ...PLAIN, url: 'http://hook.test/path' };
    t.deepEqual(parsed(textOf({ server: 'http://hook.test/path/' }, user)), plain);
    t.deepEqual(parsed(textOf({}, user), 'http://hook.test/path'), plain, 'the address that is given counts');
    const shown = parsed(textOf({ server: 'http://hook.test' }, user), 'https://hook.test/path');
    t.deepEqual(shown, parsed(textOf({}, user)));
  }
});

for (const [title, cluster, user, expected] of GOOD) {
  test(`a file with ${title} is read`, (t) => {
    t.deepEqual(parsed(textOf(cluster, user)), { ...PLAIN, ...expected });
  });
}

test('YAML is read as JSON is, and a context needs no user', (t) => {
  const yaml = `kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: remote}
clusters:
- name: remote
  cluster:
    server: https://hook.test/path
`;
  t.deepEqual(parsed(yaml), PLAIN);
});

test('what is null counts as left out, and members that nobody reads may be anything', (t) => {
  const { kind, ...rest } = JSON.parse(textOf({ 'tls-server-name': null, extensions: 1 }, { token: null }));
  t.deepEqual(parsed(JSON.stringify({ kind, preferences: [], apiVersion: null, ...rest })), PLAIN);
});

const BAD: readonly (readonly [text: string, message: RegExp])[] = [
  ['{', /neither YAML nor JSON/],
  ['[]', /kind must be Config/],
  [textOf({}, {}, { kind: 'Pod' }), /kind must be Config/],
  [textOf({}, {}, { 'current-context': '' }), /current-context is missing/],
  [textOf({}, {}, { 'current-context': 'other' }), /contexts has no "other"/],
  [textOf({}, {}, { clusters: [] }), /clusters has no "remote"/],
  [textOf({}, {}, { users: null }), /users has no "us"/],
  [textOf({ server: '' }, {}), /clusters\[\]\.cluster\.server is not an address/],
  [textOf({ server: 'ftp://x' }, {}), /must be an https address/],
  [textOf({ server: 'https://us:secret@x' }, {}), /must be an https address/],
  [textOf({ server: 'https://:secret@x' }, {}), /must be an https address/],
  [textOf({ 'proxy-url': 'http://p' }, {}), /proxy-url is not supported/],
  [textOf({ 'certificate-authority': 'empty' }, {}), /certificate-authority holds no certificates/],
  [textOf({ 'certificate-authority-data': '!!' }, {}), /certificate-authority holds no certificates/],
  [
    textOf({ 'certificate-authority': 'ca.crt', 'insecure-skip-tls-verify': true }, {}),
    /both insecure-skip-tls-verify and a certificate-authority/,
  ],
  [textOf({}, { 'client-certificate': 'own.crt' }), /client-certificate and client-key together/],
  [textOf({}, { 'client-key': 'own.key' }), /client-certificate and client-key together/],
  [
    textOf({}, { 'client-certificate': 'own.crt', 'client-key': 'other.key' }),
    /client-certificate and client-key cannot be used: the key does not belong/,
  ],
  [textOf({}, { token: 'secret', username: 'us' }), /both a token and a username/],
  [textOf({}, { token: 'sec\nret' }), /token cannot be sent in a header/],
  [textOf({}, { username: 'a:b' }), /username has a colon/],
  // Each of these once counted as left out.
  [textOf({}, { token: 5550001 }), /users\[\]\.user\.token must be a text/],
  [textOf({}, { username: 'us', password: true }), /users\[\]\.user\.password must be a text/],
  [textOf({ 'certificate-authority': 7 }, {}), /clusters\[\]\.cluster\.certificate-authority must be a text/],
  [
    textOf({ 'insecure-skip-tls-verify': 'true' }, {}),
    /clusters\[\]\.cluster\.insecure-skip-tls-verify must be a flag/,
  ],
  [textOf({}, {}, { users: { us: {} } }), /users must be a list/],
  [textOf({}, {}, { users: [{ name: 'us', user: ['secret'] }] }), /users\[\]\.user must be an object/],
  [textOf({}, {}, { users: [{ name: 'us' }, 'secret'] }), /users\[\] must be an object/],
  [textOf({}, {}, { apiVersion: 'v2' }), /apiVersion must be v1/],
  ...['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra'].map((field): readonly [string, RegExp] => [
    textOf({}, { [field]: { command: 'secret' } }),
    new RegExp(`users\\[\\]\\.user\\.${field} is not supported here`),
  ]),
];

for (const [text, message] of BAD) {
  test(`a file is refused: ${message.source}: ${text.length} ${text.slice(-90)}`, (t) => {
    const error = t.throws(() => parsed(text), { instanceOf: ConnectionFileError, message });
    t.notRegex(error.message, /secret|sec\nret/);
  });
}

test('a token is what can stand in a header', (t) => {
  for (const token of ['a', 'a.b-c_d~e+f/g=', '"{}']) t.true(isToken(token), token);
  for (const text of ['', 'a b', 'a\nb', 'a\tb', 'ü', 'a\u007f']) t.false(isToken(text), text);
});
