// Entry of the bare server's process: uWebSockets.js and LevelDB with JSON.parse and JSON.stringify between them. It answers the
// requests of the workloads that take `--bare` as the server does, and does for them what any server in this language must. What
// one of them costs here is how near to the bare listener and the bare engine a server could come that did nothing else.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { loadUws } from '../../transport/uws/binary.ts';
import { openBareEngine } from '../floors/bare-engine.ts';
import { BareObjects, type Written } from '../floors/bare-objects.ts';
import { withBody } from '../floors/uws-body.ts';
import type { BareServerJob } from '../load-protocol.ts';
import { batchTotalsText } from '../server/store-batches.ts';

const JSON_TYPE = 'application/json';

/** Does something by the path and the body of a request, and answers with what comes of it. */
function writing(success: string, write: (path: string, body: Buffer, written: Written) => void) {
  return (response: HttpResponse, request: HttpRequest): void => {
    const path = request.getUrl();
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    const written: Written = (object) => {
      if (!isGone) response.cork(() => answer(response, success, object));
    };
    withBody(response, (body) => write(path, body, written));
  };
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
  app.get('/metrics', (response) => {
    response.end(batchTotalsText({ transactions: objects.batches.writes, batches: objects.batches.count }));
  });
  app.get('/*', (response, request) => answer(response, '200 OK', objects.get(request.getUrl())));
  app.post(
    '/*',
    writing('201 Created', (path, body, written) => objects.create(path, body, written)),
  );
  app.put(
    '/*',
    writing('200 OK', (path, body, written) => objects.put(path, body, written)),
  );
  app.patch(
    '/*',
    writing('200 OK', (path, body, written) => objects.patch(path, body, written)),
  );
  app.del(
    '/*',
    writing('200 OK', (path, _body, written) => objects.remove(path, written)),
  );
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
