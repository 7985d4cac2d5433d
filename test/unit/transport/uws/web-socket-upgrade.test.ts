// How an answer on a uws socket becomes a WebSocket.
import type { us_socket_context_t } from 'uWebSockets.js';
import test from 'ava';
import { KeptBytes } from '../../../../transport/kept-bytes.ts';
import { Cork } from '../../../../transport/uws/cork.ts';
import { UwsResponse } from '../../../../transport/uws/response.ts';
import { FakeLoop, FakeSocket } from './fake-uws.ts';

const SCOPE = {
  isStopping: false,
  ongoing: 0,
  outstanding: 0,
  parked: new Set<never>(),
  waiting: { bytes: 0 },
  bodies: new KeptBytes(0),
  cork: new Cork(),
  onError: () => {},
};
const OFFER = { key: 'key', context: {} as us_socket_context_t };

/** Whether the binary holds a cork while it makes a WebSocket of the response. */
function isCorkedAtUpgrade(begin: (response: UwsResponse) => void): boolean | undefined {
  const loop = new FakeLoop();
  let isCorked: boolean | undefined;
  const upgrade = (): void => {
    isCorked = loop.corked !== undefined;
  };
  const response = new UwsResponse(Object.assign(new FakeSocket(loop, 0).native, { upgrade }), SCOPE);
  response.belongsTo({ method: 'GET', isEager: false, offer: OFFER });
  begin(response);
  return isCorked;
}

// Behind a cork of its own the binary reads the memory of the response, which is no response any more: what it takes for the state of one
// may say that the connection is to be closed.
test('a watch becomes a WebSocket outside of a cork', (t) => {
  t.false(isCorkedAtUpgrade((response) => response.startWebSocket('', 'lines')));
});

test('a connection that is handed over becomes a WebSocket outside of a cork', (t) => {
  const head = { reason: '', rawHeaders: [] };
  t.false(isCorkedAtUpgrade((response) => void response.handOver(head)));
});
