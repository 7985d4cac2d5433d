import test from 'ava';
import { prettyJson } from '../../../rendering/pretty-json.ts';
import { statusLine } from '../../../transport/http-status.ts';
import { kubeconfigText } from '../../../transport/outgoing/kubeconfig.ts';
import { isFramingHeader, isPlainJson, safeHeaderValue } from '../../../transport/response-headers.ts';
import { parseYaml } from '../../../transport/yaml/read.ts';

const DEPTH_MAX = 100;

test('a kubeconfig names the server, its authority and the user', (t) => {
  const caPem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
  const text = kubeconfigText({
    server: 'https://[::1]:6443',
    caPem,
    token: 'a: "b" #c',
    user: 'jane: #1',
    cluster: 'local',
    context: 'jane@local',
  });
  t.deepEqual(parseYaml(text, DEPTH_MAX), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: {
          server: 'https://[::1]:6443',
          'certificate-authority-data': Buffer.from(caPem).toString('base64'),
        },
      },
    ],
    users: [{ name: 'jane: #1', user: { token: 'a: "b" #c' } }],
    contexts: [{ name: 'jane@local', context: { cluster: 'local', user: 'jane: #1' } }],
    'current-context': 'jane@local',
    preferences: {},
  });
});

test('a kubeconfig says the name that the certificate is for where it is told', (t) => {
  const text = kubeconfigText({
    server: 'https://[::1]:6443',
    serverName: 'a.example',
    user: 'u',
    cluster: 'c',
    context: 'x',
  });
  t.like(parseYaml(text, DEPTH_MAX), { clusters: [{ cluster: { 'tls-server-name': 'a.example' } }] });
});

test('a kubeconfig without authority and token is one for plain HTTP', (t) => {
  const text = kubeconfigText({ server: 'http://localhost:8080', user: 'u', cluster: 'c', context: 'x' });
  t.like(parseYaml(text, DEPTH_MAX), {
    clusters: [{ name: 'c', cluster: { server: 'http://localhost:8080' } }],
    users: [{ name: 'u', user: {} }],
  });
});

test('indented JSON is what two blanks an indent make of it', (t) => {
  const values = [
    {},
    [],
    '',
    'a"\\{[,:',
    null,
    -1.5,
    { a: [], b: {}, c: [1, { d: [true, [null]] }], 'e:,{': 'x,y:z' },
    [[[]], [{}], { ü: '😀' }],
  ];
  for (const value of values) {
    const text = Buffer.from(prettyJson(Buffer.from(JSON.stringify(value)))).toString();
    t.is(text, JSON.stringify(value, null, 2));
  }
});

test('indented JSON keeps the order of names and the spelling of numbers, and drops blanks', (t) => {
  const text = '{"b":1.0,"2":"x", "1" : "0"   ,"resourceVersion":"17"      }\n';
  t.is(
    Buffer.from(prettyJson(Buffer.from(text))).toString(),
    '{\n  "b": 1.0,\n  "2": "x",\n  "1": "0",\n  "resourceVersion": "17"\n}',
  );
});

test('indented JSON does not grow with the depth of nesting beyond a bound', (t) => {
  const depth = 1000;
  const json = Buffer.from(`${'['.repeat(depth)}${'0,'.repeat(10_000)}0${']'.repeat(depth)}`);
  const pretty = prettyJson(json);
  t.true(pretty.length < json.length * 70);
  t.deepEqual(JSON.parse(Buffer.from(pretty).toString()), JSON.parse(json.toString()));
});

test('a header value cannot end its line', (t) => {
  t.is(safeHeaderValue('299 - "plain\ttext é 你好"'), '299 - "plain\ttext é 你好"');
  t.is(safeHeaderValue('a\r\nb\0c\x7f'), 'a  b c ');
});

test('framing headers are known however they are written', (t) => {
  for (const name of ['Content-Length', 'transfer-encoding', 'CONNECTION', 'Keep-Alive', 'Date'])
    t.true(isFramingHeader(name));
  for (const name of ['Content-Type', 'Warning', 'Etag', 'Vary', 'Location']) t.false(isFramingHeader(name));
});

test('only JSON that is not compressed is plain JSON', (t) => {
  t.true(isPlainJson([['content-type', 'application/json; charset=utf-8']]));
  t.false(
    isPlainJson([
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ]),
  );
  t.false(isPlainJson([['Content-Type', 'text/plain']]));
  t.false(isPlainJson([]));
});

test('a code without a phrase still makes a status line', (t) => {
  t.is(statusLine(200), '200 OK');
  t.is(statusLine(299), '299 Unknown');
  t.is(statusLine(700), '700 Unknown');
});
