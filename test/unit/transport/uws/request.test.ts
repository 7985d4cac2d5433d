// A body that is passed on while it comes, by what the binary lends.
import test from 'ava';
import { arrivingOnUws } from './fake-request.ts';

const MEGABYTE = 1024 * 1024;
const HEADERS = [['transfer-encoding', 'chunked']] as const;

/** A request whose client cannot be held back: more than `bytesMax` that wait are too much. */
function upload(bytesMax: number) {
  const hold = { waiting: (bytes: number) => bytes <= bytesMax, goOn: () => {}, gotAll: () => {} };
  const answering = { aborted: false, isAnswered: false, readWhole: () => {}, clientHold: () => hold };
  const { request, give } = arrivingOnUws(HEADERS, answering);
  const flow = request.bodyFlow();
  return { flow, lend: (bytes: number, isLast: boolean) => give(new ArrayBuffer(bytes), isLast) };
}

function receiver() {
  const heard: (number | string)[] = [];
  return {
    heard,
    onChunk: (chunk: Uint8Array) => {
      heard.push(chunk.length);
      return true;
    },
    onEnd: () => heard.push('end'),
    onLost: (reason: string) => heard.push(reason),
  };
}

test('what has come whole is kept for who takes it slowly, however much it is', (t) => {
  const { flow, lend } = upload(MEGABYTE);
  lend(MEGABYTE / 2, false);
  lend(MEGABYTE, true);
  const taking = receiver();
  flow.start(taking);
  t.deepEqual(taking.heard, [MEGABYTE / 2, MEGABYTE, 'end']);
});

test('of a client that cannot be held back, too much that waits is given up', (t) => {
  const { flow, lend } = upload(MEGABYTE);
  lend(MEGABYTE, false);
  lend(MEGABYTE, true);
  const taking = receiver();
  flow.start(taking);
  t.deepEqual(taking.heard, ['tooFast']);
});
