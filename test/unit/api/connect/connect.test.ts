import test from 'ava';
import { logRequest, type PodStream, streamRequest } from '../../../../api/connect/agent-request.ts';
import { agentOf, hasAddress, noEndpoints, podBackend, serviceCandidates } from '../../../../api/connect/backends.ts';
import { connectOptions } from '../../../../api/connect/connect-options.ts';
import {
  backendPath,
  backendQuery,
  forwardedRequestHeaders,
  forwardedResponseHeaders,
  sentPath,
} from '../../../../api/connect/forwarded.ts';
import { parseProxiedName } from '../../../../api/connect/proxied-name.ts';
import { addressProblem } from '../../../../api/connect/proxyable-address.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { StatusError } from '../../../../api/status/status.ts';

function refusal(run: () => unknown): { code: number | undefined; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, message: error.status.message ?? '' };
    throw error;
  }
  throw new Error('it was not refused');
}

const NAMES: readonly (readonly [
  text: string,
  parsed: readonly [scheme: string, name: string, port: string] | undefined,
])[] = [
  ['web', ['', 'web', '']],
  ['web:80', ['', 'web', '80']],
  ['web:http-alt', ['', 'web', 'http-alt']],
  ['https:web:443', ['https', 'web', '443']],
  ['http:web:', ['http', 'web', '']],
  [':web:80', ['', 'web', '80']],
  ['', undefined],
  ['web:', ['', 'web', '']],
  ['ftp:web:80', undefined],
  ['https::80', undefined],
  ['web:0', undefined],
  ['web:65536', undefined],
  ['web:-x', undefined],
  ['a:b:c:d', undefined],
  ['__proto__:web:80', undefined],
];
for (const [text, parsed] of NAMES) {
  test(`the proxied name ${JSON.stringify(text)} ${parsed === undefined ? 'is refused' : `is ${parsed.join('|')}`}`, (t) => {
    const found = parseProxiedName(text);
    t.deepEqual(found && [found.scheme, found.name, found.port], parsed as [string, string, string] | undefined);
  });
}

test('the server connects to no address of its own machine or link, however it is written', (t) => {
  const own = ['127.0.0.1', '127.9.9.9', '::1', '::', '0.0.0.0', '169.254.169.254', 'fe80::1', 'ff02::1', '224.0.0.1'];
  for (const text of [...own, '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '0127.0.0.1', 'localhost', '', '10.0.0.1:80']) {
    t.truthy(addressProblem(text), text);
  }
  for (const text of ['10.0.0.1', '192.0.2.1', '8.8.8.8', 'fd00::1', '2001:db8::1', '::ffff:10.0.0.1', '128.0.0.1']) {
    t.is(addressProblem(text), undefined, text);
  }
});

const POD: JsonObject = {
  metadata: { name: 'p', namespace: 'ns' },
  spec: {
    containers: [{ name: 'one' }, { name: 'two' }],
    initContainers: [{ name: 'init' }],
    ephemeralContainers: [{ name: 'debug' }],
  },
};
const SINGLE: JsonObject = { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: [{ name: 'one' }] } };

/** What a request with such a query asks the agent. */
function agentRequest(stream: PodStream | 'log', pod: JsonObject, query: string) {
  const parsed = parseQuery(query);
  return stream === 'log' ? logRequest(pod, parsed) : streamRequest(stream, pod, connectOptions('', parsed, ''));
}

const REQUESTS: readonly (readonly [stream: PodStream | 'log', pod: JsonObject, query: string, path: string])[] = [
  ['log', SINGLE, '', '/containerLogs/ns/p/one'],
  ['log', POD, 'container=two', '/containerLogs/ns/p/two'],
  ['log', POD, 'container=init', '/containerLogs/ns/p/init'],
  ['log', POD, 'container=debug', '/containerLogs/ns/p/debug'],
  [
    'log',
    SINGLE,
    'follow=true&previous=1&timestamps=false&sinceSeconds=5&tailLines=0&limitBytes=10',
    '/containerLogs/ns/p/one?follow=true&previous=true&tailLines=0&limitBytes=10&sinceSeconds=5',
  ],
  [
    'log',
    SINGLE,
    'sinceSeconds=%2B5&tailLines=007&limitBytes=9223372036854775807',
    '/containerLogs/ns/p/one?tailLines=7&limitBytes=9223372036854775807&sinceSeconds=5',
  ],
  ['log', SINGLE, 'sinceTime=2021-04-08T12:00:00Z', '/containerLogs/ns/p/one?sinceTime=2021-04-08T12%3A00%3A00Z'],
  [
    'exec',
    SINGLE,
    'command=sh&command=-c&command=echo%20%26&stdin=true&stdout=true&tty=1',
    '/exec/ns/p/one?input=1&output=1&tty=1&command=sh&command=-c&command=echo%20%26',
  ],
  ['attach', POD, 'container=one&stderr=true&command=no', '/attach/ns/p/one?error=1'],
  ['portforward', POD, '', '/portForward/ns/p'],
  ['portforward', POD, 'ports=80&ports=443', '/portForward/ns/p?port=80%2C443'],
];
for (const [stream, pod, query, path] of REQUESTS) {
  test(`${stream} with ${query || 'nothing'} asks the agent for ${path}`, (t) => {
    t.is(agentRequest(stream, pod, query).path, path);
  });
}

test('only logs can do without the certificate of the agent', (t) => {
  const query = 'insecureSkipTLSVerifyBackend=true';
  t.true(agentRequest('log', SINGLE, query).skipsVerification);
  t.false(agentRequest('log', SINGLE, '').skipsVerification);
  t.false(agentRequest('exec', SINGLE, query).skipsVerification);
});

test('a container must be named where there are several, and must be one of the pod', (t) => {
  t.deepEqual(
    refusal(() => agentRequest('log', POD, '')),
    {
      code: 400,
      message:
        'a container name must be specified for pod p, choose one of: [one two] or one of the init containers: [init]',
    },
  );
  const bare = { metadata: { name: 'p' }, spec: {} };
  t.is(refusal(() => agentRequest('exec', bare, '')).message, 'a container name must be specified for pod p');
  const unknown = refusal(() => agentRequest('attach', POD, 'container=three'));
  t.deepEqual(unknown, { code: 400, message: 'container three is not valid for pod p' });
});

const AT_MOST_ONE = '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
const BAD_LOGS: readonly (readonly [query: string, code: number, message: string])[] = [
  ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=1&sinceTime=2021-04-08T12:00:00Z', 422, AT_MOST_ONE],
  ['sinceSeconds=0&sinceTime=2021-04-08T12:00:00Z', 422, AT_MOST_ONE],
  [
    'tailLines=-9223372036854775808',
    422,
    'tailLines: Invalid value: -9223372036854775808: must be greater than or equal to 0',
  ],
  ['tailLines=9223372036854775808', 400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['limitBytes=1e3', 400, 'strconv.ParseInt: parsing "1e3": invalid syntax'],
  ['sinceSeconds=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['sinceTime=yesterday', 400, 'sinceTime "yesterday" is no time'],
  ['sinceTime=2021-99-99T12:00:00Z', 400, 'sinceTime "2021-99-99T12:00:00Z" is no time'],
];
for (const [query, code, message] of BAD_LOGS) {
  test(`log options ${query} are refused with ${code}`, (t) => {
    const said = code === 422 ? `PodLogOptions "p" is invalid: ${message}` : message;
    t.deepEqual(
      refusal(() => agentRequest('log', SINGLE, query)),
      { code, message: said },
    );
  });
}

test('a time of logs that is empty is before all of them', (t) => {
  for (const query of ['sinceTime=', 'sinceTime=null'])
    t.is(agentRequest('log', SINGLE, query).path, '/containerLogs/ns/p/one?sinceTime=0001-01-01T00%3A00%3A00Z');
});

test('ports to be forwarded are numbers', (t) => {
  const asked = (ports: string) => refusal(() => agentRequest('portforward', POD, `ports=${ports}`)).message;
  t.is(asked('http'), 'cannot convert to []int32: strconv.ParseUint: parsing "http": invalid syntax');
  t.is(asked('80,70000'), 'cannot convert to []int32: strconv.ParseUint: parsing "70000": value out of range');
});

const REACH = { addressTypes: ['Hostname', 'InternalIP'], port: 10_250, permitsLoopback: false };

test('a node is reached at the first address of the preferred types, at the port that it reports', (t) => {
  const addresses = [
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'InternalIP', address: '10.0.0.1' },
  ];
  const at = (status: object, labels: object = {}) => agentOf({ metadata: { name: 'n', labels }, status }, REACH);
  t.deepEqual(at({ addresses }), { scheme: 'https', host: '10.0.0.1', port: 10_250 });
  const named = [...addresses, { type: 'Hostname', address: 'n.test' }];
  t.is(at({ addresses: named }).host, 'n.test');
  t.is(at({ addresses }, { 'orch.io/hostname': 'labelled' }).host, '10.0.0.1', 'a label is no address');
  t.is(at({ addresses, daemonEndpoints: { orchletEndpoint: { Port: 1234 } } }).port, 1234);
  const none = refusal(() => at({ addresses: addresses.slice(0, 1) }));
  t.is(none.code, 500);
  t.regex(none.message, /ExternalIP 192\.0\.2\.1/);
  t.is(refusal(() => at({})).code, 500);
});

test('an agent is sought at no address where pods are not, nor on loopback unless that is permitted', (t) => {
  const at = (address: string, permitsLoopback: boolean) =>
    agentOf(
      {
        metadata: { name: 'n' },
        status: { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { orchletEndpoint: { Port: 443 } } },
      },
      { ...REACH, permitsLoopback },
    );
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    t.is(refusal(() => at(address, false)).code, 400, address);
    t.is(at(address, true).host, address);
  }
  for (const address of ['169.254.169.254', '0.0.0.0', '::', 'fe80::1', '0127.0.0.1', '127.1']) {
    for (const permitted of [false, true]) t.is(refusal(() => at(address, permitted)).code, 400, address);
  }
  t.is(at('10.0.0.1', false).host, '10.0.0.1');
});

test('a pod is reached at its address, at the port named or its first', (t) => {
  const pod = { spec: { containers: [{}, { ports: [{ containerPort: 8080 }] }] }, status: { podIP: '10.1.0.1' } };
  const at = (name: string, of: JsonObject = pod) => podBackend(of, parseProxiedName(name)!);
  t.deepEqual(at('p'), { scheme: 'http', host: '10.1.0.1', port: 8080 });
  t.deepEqual(at('https:p:9'), { scheme: 'https', host: '10.1.0.1', port: 9 });
  t.is(at('https:p:', { ...pod, spec: {} }).port, 443);
  for (const podIP of ['', '127.0.0.1', '169.254.169.254', '::1']) {
    t.is(refusal(() => at('p', { ...pod, status: { podIP } })).code, 400, podIP);
  }
  t.is(refusal(() => at('p:http')).code, 400);
});

test('a service is reached at the endpoints that are pods of its namespace', (t) => {
  const service = {
    metadata: { name: 's', namespace: 'ns' },
    spec: {
      ports: [
        { name: 'web', port: 80 },
        { name: 'db', port: 5432 },
      ],
    },
  };
  const address = (
    ip: string,
    targetRef: object | undefined = { kind: 'Pod', namespace: 'ns', name: `pod-${ip}` },
  ) => ({ ip, targetRef });
  const endpoints = {
    metadata: { name: 's', namespace: 'ns' },
    subsets: [
      { addresses: [address('10.1.0.1'), address('10.1.0.2')], ports: [{ name: 'web', port: 8080 }] },
      {
        addresses: [
          address('127.0.0.1'),
          { ip: '10.1.0.3' },
          address('10.1.0.4', { kind: 'Pod', namespace: 'other', name: 'x' }),
          address('10.1.0.5', { kind: 'Node', namespace: 'ns', name: 'x' }),
        ],
        ports: [{ name: 'web', port: 8081 }],
      },
    ],
  };
  const at = (text: string, random = 0) => {
    const name = parseProxiedName(text)!;
    return serviceCandidates(/\d/.test(name.port) ? service : undefined, endpoints, name, () => random).map(
      ({ backend }) => `${backend.host}:${backend.port}`,
    );
  };
  t.deepEqual(at('s:web'), ['10.1.0.1:8080', '10.1.0.2:8080']);
  t.deepEqual(at('s:80', 0.99), ['10.1.0.2:8080', '10.1.0.1:8080']);
  t.deepEqual(
    refusal(() => at('s:81')),
    { code: 503, message: 'no service port 81 found for service "s"' },
  );
  t.deepEqual([at('s:db'), at('s')], [[], []]);
});

test('a service without endpoints is told by its name, and one without any that can be reached as it was asked for', (t) => {
  const asked = 'https:s:web';
  const said = (endpoints: JsonObject) => noEndpoints(endpoints, parseProxiedName(asked)!, asked).message;
  t.is(said({ subsets: [] }), 'no endpoints available for service "s"');
  t.is(said({ subsets: [{}] }), 'no endpoints available for service "https:s:web"');
});

test('an endpoint counts while its pod has the address', (t) => {
  t.true(hasAddress({ status: { podIP: '10.0.0.1' } }, '10.0.0.1'));
  t.true(hasAddress({ status: { podIPs: [{ ip: 'fd00::1' }] } }, 'fd00::1'));
  t.false(hasAddress({ status: { podIP: '10.0.0.1' } }, '10.0.0.2'));
  t.false(hasAddress({}, ''));
});

const PATHS: readonly (readonly [rest: string, path: string])[] = [
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/b/', '/a/b/'],
  ['//a///b', '/a/b'],
  ['/../../a', '/a'],
  ['/a/../b/.', '/b/'],
  ['/a/..', '/'],
  ['/a b?c#d%', '/a%20b%3Fc%23d%25'],
  ['/ü/:@&=+$,;', '/%C3%BC/:@&=+$,;'],
];
for (const [rest, path] of PATHS) {
  test(`${rest} behind a proxy is ${path} at the backend`, (t) => {
    t.is(backendPath(rest), path);
  });
}

test('a query goes on as it was sent, and cannot end the request line', (t) => {
  t.is(backendQuery(''), '');
  t.is(backendQuery('a=b%20c&d'), '?a=b%20c&d');
  t.is(backendQuery('a= \r\nX: y'), '?a=%20%0D%0AX:%20y');
  t.is(backendQuery('a=ü\ud800'), '?a=%C3%BC%EF%BF%BD');
});

test('a path goes on as it was sent, but for what some servers take for a slash, or for no part of it', (t) => {
  for (const path of ['/apis/a.b/v1/things/a%2Fb', "/a;b=c/~d_e-f.g!$&'()*+,:@/", '//a/', '/a%3Fb'])
    t.is(sentPath(path), path);
  t.is(sentPath('/things/..\\..\\other\\things'), '/things/..%5C..%5Cother%5Cthings');
  t.is(sentPath('/things/a#b'), '/things/a%23b');
  t.is(sentPath('/a b|c"<>^`{}[]?\r\nü\ud800'), '/a%20b%7Cc%22%3C%3E%5E%60%7B%7D%5B%5D%3F%0D%0A%C3%BC%EF%BF%BD');
});

const BEARER = 'base64url.bearer.authorization.k8s.io.';

test('a token that a WebSocket client offers as a protocol is for this server alone', (t) => {
  const passedOn = (offer: string) =>
    forwardedRequestHeaders([['sec-websocket-protocol', offer]], true, BEARER)[0]?.[1];
  t.is(passedOn(`v4.channel.k8s.io, ${BEARER}c2VjcmV0`), 'v4.channel.k8s.io');
  t.is(passedOn('v5.channel.k8s.io, v4.channel.k8s.io'), 'v5.channel.k8s.io, v4.channel.k8s.io');
  t.deepEqual(forwardedRequestHeaders([['sec-websocket-protocol', `${BEARER}c2VjcmV0`]], false, BEARER), []);
});

test('headers of one connection, and those that speak to this server, are not passed on', (t) => {
  const sent = [
    ['host', 'x'],
    ['accept', 'a/b'],
    ['authorization', 'Bearer secret'],
    ['impersonate-user', 'jane'],
    ['x-remote-user', 'jane'],
    ['x-forwarded-for', '1.2.3.4'],
    ['connection', 'keep-alive, X-Drop'],
    ['x-drop', '1'],
    ['upgrade', 'websocket'],
    ['te', 'trailers'],
    ['cookie', 'a=b'],
    ['content-length', '5'],
  ] as const;
  t.deepEqual(forwardedRequestHeaders(sent, false, BEARER), [
    ['accept', 'a/b'],
    ['cookie', 'a=b'],
    ['content-length', '5'],
  ]);
  t.deepEqual(forwardedRequestHeaders(sent, true, BEARER).slice(-2), [
    ['connection', 'Upgrade'],
    ['upgrade', 'websocket'],
  ]);
  const answered = [
    ['Content-Type', 'a/b'],
    ['Connection', 'X-Drop'],
    ['X-Drop', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Access-Control-Allow-Origin', '*'],
    ['Set-Cookie', 'a=b'],
    ['Set-Cookie', 'c=d'],
  ] as const;
  t.deepEqual(forwardedResponseHeaders(answered), [
    ['Content-Type', 'a/b'],
    ['Set-Cookie', 'a=b'],
    ['Set-Cookie', 'c=d'],
  ]);
});

test('what the query of a proxied request says is not taken for options of a stream', (t) => {
  const query = parseQuery('ports=all&stdin=true&command=ls&container=c');
  t.deepEqual(connectOptions('PodProxyOptions', query, '/x'), {
    kind: 'PodProxyOptions',
    apiVersion: 'v1',
    path: '/x',
  });
  t.throws(() => connectOptions('PodPortForwardOptions', query, ''), { instanceOf: StatusError });
});
