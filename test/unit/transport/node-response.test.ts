// What a response of the node listener hands to Node's stream, which sends it later.
import test from 'ava';
import { KeptBytes } from '../../../transport/kept-bytes.ts';
import { type NativeResponse, NodeResponse } from '../../../transport/node/response.ts';
import { UntakenAnswers } from '../../../transport/node/untaken-answers.ts';

function streaming(): { readonly response: NodeResponse; readonly written: Uint8Array[] } {
  const written: Uint8Array[] = [];
  const native: NativeResponse = {
    writableLength: 0,
    writableNeedDrain: false,
    writeHead() {},
    write: (bytes) => written.push(bytes) > 0,
    end() {},
    setTimeout() {},
    on() {},
    destroy() {},
  };
  const scope = {
    isStopping: false,
    waiting: new KeptBytes(1024),
    bodies: new KeptBytes(1024),
    untaken: new UntakenAnswers(),
    onGone() {},
    onError() {},
  };
  const response = new NodeResponse(native, { destroy() {} }, scope, false);
  response.start(200, []);
  return { response, written };
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
