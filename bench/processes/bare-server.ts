// Entry of the bare server's process: uWebSockets.js and LevelDB with JSON.parse and JSON.stringify between them. It answers the
// requests of the workloads that take `--bare` as the server does, and does for them what any server in this language must. What
// one of them costs here is how near to the bare listener and the bare engine a server could come that did nothing else.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { loadUws } from '../../transport/uws/binary.ts';
import { openBareEngine } from '../floors/bare-engine.ts';
import { BareObjects, type Written } from '../floors/bare-objects.ts';
import type { BareServerJob } from '../load-protocol.ts';
import { batchTotalsText } from '../server/store-batches.ts';

const JSON_TYPE = 'application/json';

/** Calls `use` with all of the body, and answers with what it is told then. */
function exchange(response: HttpResponse, success: string, use: (body: Buffer, written: Written) => void): void {
  let isGone = false;
  const parts: Buffer[] = [];
  response.onAborted(() => {
    isGone = true;
  });
  response.onData((part, isLast) => {
    // The bytes are valid during the call only.
    parts.push(Buffer.from(new Uint8Array(part).slice()));
    if (!isLast) return;
    use(parts.length === 1 ? parts[0]! : Buffer.concat(parts), (object) => {
      if (!isGone) response.cork(() => answer(response, success, object));
    });
  });
}

function answer(response: HttpResponse, success: string, object: Buffer | undefined): void {
  if (object === undefined) {
    response.writeStatus('404 Not Found').end();
    return;
  }
  response.writeStatus(success);
  response.writeHeader('Content-Type', JSON_TYPE);
  response.end(object);
}

async function listen({ keyFile, certFile, directory }: BareServerJob): Promise<void> {
  const uws = await loadUws();
  const objects = new BareObjects(await openBareEngine(directory), fail);
  const app = uws.SSLApp({ key_file_name: keyFile, cert_file_name: certFile });
  const routes = {
    create: (response: HttpResponse, request: HttpRequest) => {
      const collection = request.getUrl();
      exchange(response, '201 Created', (body, written) => objects.create(collection, body, written));
    },
    get: (response: HttpResponse, request: HttpRequest) => answer(response, '200 OK', objects.get(request.getUrl())),
    put: (response: HttpResponse, request: HttpRequest) => {
      const key = request.getUrl();
      exchange(response, '200 OK', (body, written) => objects.put(key, body, written));
    },
    patch: (response: HttpResponse, request: HttpRequest) => {
      const key = request.getUrl();
      exchange(response, '200 OK', (body, written) => objects.patch(key, body, written));
    },
    remove: (response: HttpResponse, request: HttpRequest) => {
      const key = request.getUrl();
      exchange(response, '200 OK', (_body, written) => objects.remove(key, written));
    },
  };
  app.get('/metrics', (response) => {
    response.end(batchTotalsText({ transactions: objects.batches.writes, batches: objects.batches.count }));
  });
  app.post('/*', routes.create).get('/*', routes.get).put('/*', routes.put).patch('/*', routes.patch);
  app.del('/*', routes.remove);
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) fail(new Error('no port to listen on'));
    process.send!({ port: uws.us_socket_local_port(socket) });
  });
}

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

process.once('disconnect', () => process.exit(0));
process.once('message', (job: BareServerJob) => {
  listen(job).catch(fail);
});
