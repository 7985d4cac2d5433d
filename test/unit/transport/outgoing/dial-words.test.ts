// Why a backend could not be reached, as clients of Kubernetes know it.
import test from 'ava';
import { DialTimeout, dialWords } from '../../../../transport/outgoing/dial-words.ts';

const failed = (code: string, message = ''): Error => Object.assign(new Error(message), { code });

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
  ['10.0.0.1', failed('HPE_INVALID_CONSTANT'), '10.0.0.1:80 cannot be reached: HPE_INVALID_CONSTANT'],
  ['10.0.0.1', new Error('the proxy said 502'), '10.0.0.1:80 cannot be reached: the proxy said 502'],
];

for (const [host, error, words] of CASES) {
  test(`a failed connection is told as: ${words}`, (t) => t.is(dialWords(host, 80, error), words));
}
