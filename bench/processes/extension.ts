// Entry of the extension server's process: answers the discovery of its group, and the same document to everything else.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExtensionJob } from '../load-protocol.ts';

/** `/apis/<group>/<version>`. */
const DISCOVERY_PATH = /^\/apis\/[^/]+\/[^/?]+(\?|$)/;

function listen({ certFile, keyFile, host, discovery, document }: ExtensionJob): void {
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createServer(pair, (request, response) => {
    request.resume();
    const body = DISCOVERY_PATH.test(request.url ?? '') ? discovery : document;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, host, () => process.send!({ port: (server.address() as AddressInfo).port }));
}

process.once('disconnect', () => process.exit(0));
process.once('message', listen);
