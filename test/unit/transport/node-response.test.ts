// What a response of the node listener hands to Node's stream, which sends it later.
import test from 'ava';
import { KeptBytes } from '../../../transport/kept-bytes.ts';
import { type NativeResponse, NodeResponse } from '../../../transport/node/response.ts';
import { UntakenAnswers } from '../../../transport/node/untaken-answers.ts';

const MEGABYTE = 1024 * 1024;
/** No client of a stream's connection may have more waiting. */
const OF_CONNECTION = 256;

type Event = 'close' | 'drain' | 'error';

/** A listener, as far as its responses share it. */
function sharing() {
  return {
    isStopping: false,
    isOutdated: () => false,
    waiting: new KeptBytes(1024 * MEGABYTE),
    bodies: new KeptBytes(1024),
    untaken: new UntakenAnswers(),
    onGone() {},
    onError() {},
  };
}

/** A streamed answer by HTTP/2 to a client that takes `isTaken`. */
function streaming({ isTaken = true, scope = sharing(), connection = { destroy() {} } } = {}) {
  const written: Uint8Array[] = [];
  const heard = new Map<Event, (() => void)[]>();
  const native: NativeResponse = {
    writableLength: 0,
    writableNeedDrain: false,
    writeHead() {},
    write: (bytes) => written.push(bytes) > 0 && isTaken,
    end() {},
    setTimeout() {},
    on: (event, callback) => heard.set(event, [...(heard.get(event) ?? []), callback]),
    destroy() {},
  };
  const response = new NodeResponse(native, connection, scope, false);
  response.start(200, []);
  const emit = (event: Event): void => {
    for (const callback of heard.get(event) ?? []) callback();
  };
  return { response, written, emit };
}

/** A connection on which many answers wait, and that counts how often it was ended. */
function slowConnection(scope = sharing()) {
  const connection = {
    ended: 0,
    destroy(): void {
      this.ended++;
    },
  };
  return { connection, answer: () => streaming({ isTaken: false, scope, connection }) };
}

test('what may be used again is copied before it is handed over', (t) => {
  const { response, written } = streaming();
  const chunk = new Uint8Array(new SharedArrayBuffer(3));
  chunk.set([1, 2, 3]);
  response.write(chunk);
  chunk.fill(0);
  t.deepEqual([...written[0]!], [1, 2, 3]);
});

test('what never changes is handed over as it is: many clients get the same bytes', (t) => {
  const { response, written } = streaming();
  const chunk = Uint8Array.of(1, 2, 3);
  response.write(chunk, true);
  t.is(written[0], chunk);
});

test('chunks that a client leaves on many streams of its connection end it when they are too many', (t) => {
  const { connection, answer } = slowConnection();
  for (let i = 0; i < OF_CONNECTION; i++) answer().response.write(new Uint8Array(MEGABYTE));
  t.is(connection.ended, 0);
  const { response, written } = answer();
  t.false(response.write(new Uint8Array(MEGABYTE)));
  t.is(connection.ended, 1);
  t.is(written.length, 0);
});

test('a chunk that was taken, and one whose stream is gone, wait no more', (t) => {
  const { connection, answer } = slowConnection();
  for (const event of ['drain', 'close'] as const)
    for (let i = 0; i < OF_CONNECTION; i++) {
      const { response, emit } = answer();
      response.write(new Uint8Array(MEGABYTE));
      emit(event);
    }
  for (let i = 0; i < OF_CONNECTION; i++) answer().response.write(new Uint8Array(MEGABYTE));
  t.is(connection.ended, 0);
});

test('what goes to many clients is not counted as kept for each of them', (t) => {
  const { connection, answer } = slowConnection();
  const chunk = new Uint8Array(MEGABYTE);
  for (let i = 0; i < 2 * OF_CONNECTION; i++) answer().response.write(chunk, true);
  t.is(connection.ended, 0);
});
