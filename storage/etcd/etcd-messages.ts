// etcd's messages as bytes: which field of which number says what (etcd's rpc.proto and kv.proto, version 3).
import type {
  EtcdCompare,
  EtcdEvent,
  EtcdOperation,
  EtcdPair,
  EtcdResult,
  EtcdStatus,
  EtcdTransaction,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
} from './etcd-cluster.ts';
import { readFields, WireWriter } from './etcd-wire.ts';

/** What gRPC puts before a message: whether it is compressed, and its length. */
export const FRAME_HEAD_BYTES = 5;
const HEADER = 1;
const HEADER_REVISION = 3;
const TARGETS = { version: 0, modRevision: 2 } as const;
const TARGET_FIELDS = { version: 4, modRevision: 6 } as const;
const REMOVAL = 1;

/** What a watch says. */
export interface WatchAnswer {
  readonly isCanceled: boolean;
  readonly compactRevision: number;
  readonly reason: string;
  readonly events: readonly EtcdEvent[];
}

/** A message in its frame. */
function framed(write: (message: WireWriter) => void): Buffer {
  const message = new WireWriter(FRAME_HEAD_BYTES);
  write(message);
  const bytes = message.finish();
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - FRAME_HEAD_BYTES, 1);
  return bytes;
}

export function rangeBytes(request: RangeRequest): Buffer {
  return framed((message) => putRange(message, request));
}

export function transactionBytes(transaction: EtcdTransaction): Buffer {
  return framed((message) => putTransaction(message, transaction));
}

export function compactionBytes(revision: number): Buffer {
  return framed((message) => message.integer(1, revision));
}

export function leaseBytes(lease: number, seconds: number): Buffer {
  return framed((message) => message.integer(1, seconds).integer(2, lease));
}

export function emptyBytes(): Buffer {
  return framed(() => {});
}

export function credentialBytes(name: string, password: string): Buffer {
  return framed((message) => message.bytes(1, name).bytes(2, password));
}

export function watchBytes(key: string, end: string, fromRevision: number): Buffer {
  return framed((message) => {
    message.message(1, (create) => create.bytes(1, key).bytes(2, end).integer(3, fromRevision));
  });
}

function putRange(message: WireWriter, { key, end, revision, limit }: RangeRequest): void {
  message.bytes(1, key).bytes(2, end).integer(3, limit).integer(4, revision);
}

function putTransaction(message: WireWriter, { compare, success, failure }: EtcdTransaction): void {
  for (const one of compare) message.message(1, (inner) => putCompare(inner, one));
  for (const one of success) message.message(2, (inner) => putOperation(inner, one));
  for (const one of failure) message.message(3, (inner) => putOperation(inner, one));
}

/** Equal is the result of number 0, which is left out. */
function putCompare(message: WireWriter, { key, target, value }: EtcdCompare): void {
  message.integer(2, TARGETS[target]).bytes(3, key).integer(TARGET_FIELDS[target], value);
}

function putOperation(message: WireWriter, operation: EtcdOperation): void {
  if ('range' in operation) message.message(1, (inner) => putRange(inner, operation.range));
  else if ('put' in operation) {
    const { key, value, lease } = operation.put;
    message.message(2, (inner) => inner.bytes(1, key).bytes(2, value).integer(3, lease));
  } else if ('delete' in operation) {
    message.message(3, (inner) => inner.bytes(1, operation.delete.key).bytes(2, operation.delete.end));
  } else message.message(4, (inner) => putTransaction(inner, operation.txn));
}

export function readRange(message: Buffer): RangeAnswer {
  let revision = 0;
  let more = false;
  const pairs: EtcdPair[] = [];
  readFields(message, {
    integer: (field, value) => {
      if (field === 3) more = value !== 0;
    },
    bytes: (field, value) => {
      if (field === HEADER) revision = revisionOf(value);
      else if (field === 2) pairs.push(readPair(value));
    },
  });
  return { revision, pairs, more };
}

export function readTransaction(message: Buffer): TransactionAnswer {
  let revision = 0;
  let succeeded = false;
  const results: EtcdResult[] = [];
  readFields(message, {
    integer: (field, value) => {
      if (field === 2) succeeded = value !== 0;
    },
    bytes: (field, value) => {
      if (field === HEADER) revision = revisionOf(value);
      else if (field === 3) results.push(readResult(value));
    },
  });
  return { revision, succeeded, results };
}

export function readWatch(message: Buffer): WatchAnswer {
  let isCanceled = false;
  let compactRevision = 0;
  let reason = '';
  const events: EtcdEvent[] = [];
  readFields(message, {
    integer: (field, value) => {
      if (field === 4) isCanceled = value !== 0;
      else if (field === 5) compactRevision = value;
    },
    bytes: (field, value) => {
      if (field === 6) reason = value.toString();
      else if (field === 11) events.push(readEvent(value));
    },
  });
  return { isCanceled, compactRevision, reason, events };
}

export function readStatus(message: Buffer): EtcdStatus {
  let version = '';
  let databaseBytes = 0;
  readFields(message, {
    integer: (field, value) => {
      if (field === 3) databaseBytes = value;
    },
    bytes: (field, value) => {
      if (field === 2) version = value.toString();
    },
  });
  return { version, databaseBytes };
}

/** What of the database is in an answer of a snapshot. */
export function readBlob(message: Buffer): Buffer {
  let blob = Buffer.alloc(0);
  readFields(message, {
    bytes: (field, value) => {
      if (field === 3) blob = value as Buffer<ArrayBuffer>;
    },
  });
  return blob;
}

export function readToken(message: Buffer): string {
  let token = '';
  readFields(message, {
    bytes: (field, value) => {
      if (field === 2) token = value.toString();
    },
  });
  return token;
}

function revisionOf(header: Buffer): number {
  let revision = 0;
  readFields(header, {
    integer: (field, value) => {
      if (field === HEADER_REVISION) revision = value;
    },
  });
  return revision;
}

function readPair(message: Buffer): EtcdPair {
  const pair = { key: '', createRevision: 0, modRevision: 0, version: 0, value: Buffer.alloc(0) };
  readFields(message, {
    integer: (field, value) => {
      if (field === 2) pair.createRevision = value;
      else if (field === 3) pair.modRevision = value;
      else if (field === 4) pair.version = value;
    },
    bytes: (field, value) => {
      if (field === 1) pair.key = value.toString();
      else if (field === 5) pair.value = value as Buffer<ArrayBuffer>;
    },
  });
  return pair;
}

function readResult(message: Buffer): EtcdResult {
  let result: EtcdResult = { kind: 'other' };
  readFields(message, {
    bytes: (field, value) => {
      if (field === 1) result = { kind: 'range', pairs: readRange(value).pairs };
      else if (field === 4) result = { kind: 'txn', succeeded: readTransaction(value).succeeded };
    },
  });
  return result;
}

function readEvent(message: Buffer): EtcdEvent {
  let isRemoval = false;
  let pair: EtcdPair | undefined;
  readFields(message, {
    integer: (field, value) => {
      if (field === 1) isRemoval = value === REMOVAL;
    },
    bytes: (field, value) => {
      if (field === 2) pair = readPair(value);
    },
  });
  const { key = '', createRevision = 0, modRevision = 0, value } = pair ?? {};
  return { key, createRevision, modRevision, value: isRemoval ? undefined : value };
}
