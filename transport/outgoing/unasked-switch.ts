// A server that goes over to another protocol though nobody asked for it: without a listener Node drops the request, and tells nobody, not
// even when its time is over.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Ends the connection then, and calls `told` with the protocol, as the server names it. For every request that asks for none. */
export function onUnaskedSwitch(outgoing: ClientRequest, told: (protocol: string | undefined) => void): void {
  outgoing.once('upgrade', ({ headers }: IncomingMessage, socket: Duplex) => {
    socket.destroy();
    told(headers.upgrade);
  });
}
