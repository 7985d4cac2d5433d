// What the ends of calls to etcd mean to who made them.
import test from 'ava';
import { EtcdError, type EtcdErrorKind } from '../../../storage/etcd/etcd-cluster.ts';
import {
  errorOfStatus,
  errorOfToken,
  FrameReader,
  failureOf,
  needsNoToken,
  refusedMessage,
  textOfStatus,
} from '../../../storage/etcd/etcd-streams.ts';

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
  ['3', 'etcdserver: duplicate key given in txn request', 'refused'],
  ['5', 'etcdserver: requested lease not found', 'leaseOver'],
  ['11', 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
  ['12', 'unknown service etcdserverpb.KV', 'refused'],
  ['13', '', 'unknown', `${PLACE} answered with gRPC status 13`],
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

test('a token is to be asked for again where etcd knows it no more or wants one now, and for no other reason', (t) => {
  const kind = 'unknown';
  t.like(errorOfToken('16', 'etcdserver: invalid auth token'), { kind, message: 'etcdserver: invalid auth token' });
  t.like(errorOfToken('3', 'etcdserver: revision of auth store is old'), { kind });
  t.like(errorOfToken('3', 'etcdserver: user name is empty'), { kind });
  t.is(errorOfToken('7', 'etcdserver: permission denied'), undefined);
  t.is(errorOfToken(undefined, ''), undefined);
});

test('who is told that authentication is not enabled needs no token', (t) => {
  t.true(needsNoToken(new EtcdError('unknown', 'etcdserver: authentication is not enabled')));
  t.false(needsNoToken(new EtcdError('refused', 'etcdserver: authentication failed, invalid user ID or password')));
});

test('what a status says is decoded, and taken as it is where it was not encoded', (t) => {
  t.is(textOfStatus('etcdserver%3A request timed out'), 'etcdserver: request timed out');
  t.is(textOfStatus('the disk is 100% full'), 'the disk is 100% full');
  t.is(textOfStatus(undefined), '');
});

/** A message in its frame. */
function framed(message: string): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, Buffer.from(message)]);
}

test('messages are whole in whatever chunks they arrive, and what is not whole yet is counted', (t) => {
  const messages = ['one', '', 'of seven hundred bytes'.repeat(32), 'last'];
  const bytes = Buffer.concat(messages.map(framed));
  for (const size of [1, 2, FRAME_HEAD_BYTES, 7, 100, bytes.length]) {
    const told: string[] = [];
    const reader = new FrameReader((message) => told.push(message.toString()));
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    t.deepEqual(told, messages, `in pieces of ${size}`);
    t.is(reader.heldBytes, 0);
    reader.push(framed('half').subarray(0, FRAME_HEAD_BYTES + 2));
    t.is(reader.heldBytes, FRAME_HEAD_BYTES + 2);
    t.is(told.length, messages.length);
  }
});
