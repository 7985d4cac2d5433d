// Why a backend could not be reached, as clients of Kubernetes know it.
import test from 'ava';
import { type CallError, callWords, DialTimeout, dialWords } from '../../../../transport/outgoing/dial-words.ts';
import { isTlsFailure, isUnbelieved } from '../../../../transport/outgoing/tls-failures.ts';

const failed = (code: string, message = ''): Error => Object.assign(new Error(message), { code });

/** Who shows a certificate that is another's. */
const stranger = (host: string, subjectaltname?: string) =>
  Object.assign(failed('ERR_TLS_CERT_ALTNAME_INVALID'), { host, cert: { subjectaltname } });

const CASES: readonly (readonly [host: string, error: Error, words: string])[] = [
  ['10.0.0.1', failed('ECONNREFUSED'), 'dial tcp 10.0.0.1:80: connect: connection refused'],
  ['fd00::1', failed('EHOSTUNREACH'), 'dial tcp [fd00::1]:80: connect: no route to host'],
  ['10.0.0.1', new DialTimeout(), 'dial tcp 10.0.0.1:80: i/o timeout'],
  ['node-1', failed('ENOTFOUND'), 'dial tcp: lookup node-1: no such host'],
  ['10.0.0.1', failed('ECONNRESET', 'socket hang up'), 'EOF'],
  ['10.0.0.1', failed('ECONNRESET', 'read ECONNRESET'), 'read: connection reset by peer'],
  ['10.0.0.1', failed('DEPTH_ZERO_SELF_SIGNED_CERT'), 'x509: certificate signed by unknown authority'],
  [
    '10.0.0.1',
    failed('EPROTO', 'ssl3_get_record:wrong version number'),
    'http: server gave HTTP response to HTTPS client',
  ],
  [
    '10.0.0.1',
    stranger('web.default.svc', 'DNS:other.default.svc'),
    'x509: certificate is valid for other.default.svc, not web.default.svc',
  ],
  ['10.0.0.1', failed('HPE_INVALID_CONSTANT'), '10.0.0.1:80 cannot be reached: HPE_INVALID_CONSTANT'],
  ['10.0.0.1', new Error('the proxy said 502'), '10.0.0.1:80 cannot be reached: the proxy said 502'],
];

for (const [host, error, words] of CASES) {
  test(`a failed connection is told as: ${words}`, (t) => t.is(dialWords(host, 80, error), words));
}

const refused = (address: string) => Object.assign(failed('ECONNREFUSED'), { address, port: 443 });

const CALLS: readonly (readonly [error: CallError, words: string | undefined])[] = [
  [refused('10.0.0.1'), 'dial tcp 10.0.0.1:443: connect: connection refused'],
  [
    Object.assign(new AggregateError([refused('::1'), refused('127.0.0.1')]), { code: 'ECONNREFUSED' }),
    'dial tcp 127.0.0.1:443: connect: connection refused',
  ],
  [Object.assign(failed('ENOTFOUND'), { hostname: 'web.svc' }), 'dial tcp: lookup web.svc: no such host'],
  [failed('ECONNRESET', 'the connection was closed'), 'EOF'],
  [failed('ERR_SSL_WRONG_VERSION_NUMBER'), 'http: server gave HTTP response to HTTPS client'],
  [failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'x509: certificate signed by unknown authority'],
  [
    stranger('web.svc', 'DNS:a.svc, DNS:b.svc, IP Address:10.0.0.1'),
    'x509: certificate is valid for a.svc, b.svc, not web.svc',
  ],
  [stranger('web.svc'), 'x509: certificate is not valid for any names, but wanted to match web.svc'],
  [stranger('10.0.0.2', 'IP Address:10.0.0.1'), 'x509: certificate is valid for 10.0.0.1, not 10.0.0.2'],
  [
    stranger('10.0.0.2', 'DNS:a.svc'),
    "x509: cannot validate certificate for 10.0.0.2 because it doesn't contain any IP SANs",
  ],
  [failed('EMFILE'), undefined],
];

test('a call that fails is told in the same words, with the place that the error itself names', (t) => {
  for (const [error, words] of CALLS) t.is(callWords(error), words);
});

test('which failures are of TLS, and which of them of the certificate, is known by their codes', (t) => {
  for (const [code, isOfTls, isOfCertificate] of [
    ['CERT_HAS_EXPIRED', true, true],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', true, true],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true, true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', true, true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', true, false],
    ['EPROTO', true, false],
    ['ECONNRESET', false, false],
    ['ECONNREFUSED', false, false],
  ] as const)
    t.deepEqual([isTlsFailure(code), isUnbelieved(code)], [isOfTls, isOfCertificate], code);
});
