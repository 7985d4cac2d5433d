// What the ends of calls to etcd mean to who made them.
import test from 'ava';
import type { EtcdErrorKind } from '../../../storage/etcd/etcd-cluster.ts';
import { errorOfStatus, failureOf, refusedMessage } from '../../../storage/etcd/etcd-streams.ts';

const PLACE = 'http://127.0.0.1:2379';
const FRAME_HEAD_BYTES = 5;
const MIB = 1024 * 1024;

const ENDS: readonly (readonly [status: string | undefined, text: string, kind: EtcdErrorKind, message?: string])[] = [
  [undefined, '', 'unknown', `${PLACE} did not answer`],
  [
    undefined,
    'connect ECONNREFUSED 127.0.0.1:2379',
    'unknown',
    `${PLACE} did not answer: connect ECONNREFUSED 127.0.0.1:2379`,
  ],
  ['14', 'etcdserver: request timed out', 'unknown'],
  ['3', 'etcdserver: request is too large', 'tooLarge'],
  ['3', 'etcdserver: too many operations in txn request', 'tooMany'],
  [
    '8',
    'grpc: received message larger than max (2500000 vs. 2097152)',
    'tooLarge',
    'rpc error: code = ResourceExhausted desc = grpc: received message larger than max (2500000 vs. 2097152)',
  ],
  ['8', 'etcdserver: mvcc: database space exceeded', 'full'],
  ['8', 'etcdserver: too many requests', 'unknown'],
  ['7', 'etcdserver: permission denied', 'refused'],
  ['3', 'etcdserver: user name is empty', 'refused'],
];

for (const [status, text, kind, message = text] of ENDS) {
  test(`a call that ended with status ${status ?? 'none'} and "${text}" is ${kind}`, (t) => {
    t.like(errorOfStatus(status, text, PLACE), { kind, message });
  });
}

test('a message that no member takes is not sent, in the words of clients in Go', (t) => {
  t.is(refusedMessage(Buffer.alloc(FRAME_HEAD_BYTES + 2 * MIB)), undefined);
  t.like(refusedMessage(Buffer.alloc(FRAME_HEAD_BYTES + 2 * MIB + 1)), {
    kind: 'tooLarge',
    message: 'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097153 vs. 2097152)',
  });
});

test('a stream broke off for what the machine or TLS says, and not for its own end', (t) => {
  const canceled = { code: 'ERR_HTTP2_STREAM_CANCEL' };
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:2379'), { code: 'ECONNREFUSED' });
  t.is(failureOf(Object.assign(new Error('canceled', { cause: refused }), canceled)), refused.message);
  const alert = { code: 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', reason: 'sslv3 alert bad certificate' };
  t.is(failureOf(Object.assign(new Error('error:0A000412:SSL routines'), alert)), alert.reason);
  t.is(failureOf(Object.assign(new Error('canceled'), canceled)), '');
});
