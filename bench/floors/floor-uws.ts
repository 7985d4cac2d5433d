// The bare listener on uWebSockets.js.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { UwsModule } from '../../transport/uws/binary.ts';
import type { ListenerJob } from '../load-protocol.ts';
import { bodyOf, Frames, frameOf } from './floor-answers.ts';
import { withBody } from './uws-body.ts';

const watches = new Set<HttpResponse>();

const frames = new Frames((chunk) => {
  for (const watch of watches) {
    watch.cork(() => {
      watch.write(chunk);
      // A chunk's end goes out with the next one: a client that waits for it would see every event late.
      watch.write('\n');
    });
  }
});

/** Sends a large body as fast as the socket takes it, without a copy of what it has not taken. */
function sendAll(response: HttpResponse, body: Buffer): void {
  const from = response.getWriteOffset();
  response.onAborted(() => {});
  const [, done] = response.tryEnd(body, body.length);
  if (done) return;
  response.onWritable((offset) => {
    const [ok] = response.tryEnd(body.subarray(offset - from), body.length);
    return ok;
  });
}

function publish(response: HttpResponse, request: HttpRequest): void {
  const frameBytes = Number(request.getQuery('frame')) || 0;
  response.onAborted(() => {});
  withBody(response, (object) => {
    response.cork(() => {
      response.writeHeader('Content-Type', 'application/json');
      response.end(object);
    });
    frames.publish(frameOf(object, frameBytes));
  });
}

/** Listens on a port of the kernel's choice, and resolves to it. */
export function listenOnUws(uws: UwsModule, job: ListenerJob): Promise<number> {
  const app = uws.SSLApp({ key_file_name: job.keyFile, cert_file_name: job.certFile });
  app.get('/bytes', (response, request) => {
    const body = bodyOf(Number(request.getQuery('n')));
    response.writeHeader('Content-Type', 'application/json');
    if (body.length <= 64 * 1024) response.end(body);
    else sendAll(response, body);
  });
  app.get('/watch', (response) => {
    watches.add(response);
    response.onAborted(() => {
      watches.delete(response);
    });
    response.writeHeader('Content-Type', 'application/json');
    response.write('\n');
  });
  app.put('/publish', publish);
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) reject(new Error('no port to listen on'));
      else resolve(uws.us_socket_local_port(socket));
    });
  });
}
