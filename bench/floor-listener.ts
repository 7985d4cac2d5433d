// Entry of the bare listener's process: uWebSockets.js with TLS and nothing behind it. What it does is the least any
// server on this listener must do, so it is the floor of reads, lists and watches.
//   GET /bytes?n=COUNT        that many bytes of JSON text
//   GET /watch                stays open
//   PUT /publish?frame=BYTES  answers, then sends the body as one event of that size to every open watch
import type { HttpResponse } from 'uWebSockets.js';
import uws from 'uWebSockets.js';
import type { ListenerJob } from './load-protocol.ts';
import { fillerText } from './objects.ts';

const BYTES_MAX = 256 * 1024 * 1024;
const OPENING = '{"type":"MODIFIED","object":';
const CLOSING = '}\n';

const bodies = new Map<number, Buffer>();
const watches = new Set<HttpResponse>();

function bodyOf(bytes: number): Buffer {
  let body = bodies.get(bytes);
  if (body === undefined) {
    const kept = Math.min(Math.max(0, bytes), BYTES_MAX);
    body = Buffer.alloc(kept, fillerText(Math.min(kept, 64 * 1024)) || ' ');
    bodies.clear();
    bodies.set(bytes, body);
  }
  return body;
}

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

function frameOf(object: Buffer, frameBytes: number): Buffer {
  const bytes = Math.max(frameBytes, OPENING.length + object.length + CLOSING.length);
  const frame = Buffer.alloc(bytes, ' ');
  frame.write(OPENING, 0, 'latin1');
  object.copy(frame, OPENING.length);
  frame.write(CLOSING, bytes - CLOSING.length, 'latin1');
  return frame;
}

/** Frames of this turn: what arrives together is sent together, as the server does with a commit's events. */
let frames: Buffer[] = [];

function publish(frame: Buffer): void {
  // Within the request's callback the writer's socket is corked, and only one can be: the others would write piecemeal.
  if (frames.length === 0) setImmediate(sendFrames);
  frames.push(frame);
}

function sendFrames(): void {
  const chunk = Buffer.concat(frames);
  frames = [];
  for (const watch of watches) {
    watch.cork(() => {
      watch.write(chunk);
      // A chunk's end goes out with the next one: a client that waits for it would see every event late.
      watch.write('\n');
    });
  }
}

function listen(job: ListenerJob): void {
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
  app.put('/publish', (response, request) => {
    const frameBytes = Math.min(BYTES_MAX, Number(request.getQuery('frame')) || 0);
    const parts: Buffer[] = [];
    response.onAborted(() => {});
    response.onData((part, isLast) => {
      // The bytes are valid during the call only.
      parts.push(Buffer.from(new Uint8Array(part).slice()));
      if (!isLast) return;
      const object = Buffer.concat(parts);
      response.cork(() => {
        response.writeHeader('Content-Type', 'application/json');
        response.end(object);
      });
      publish(frameOf(object, frameBytes));
    });
  });
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) process.exit(1);
    process.send!({ port: uws.us_socket_local_port(socket) });
  });
}

process.once('disconnect', () => process.exit(0));
process.once('message', listen);
