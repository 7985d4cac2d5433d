// The bare listener on Node's own HTTPS server.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ListenerJob } from '../load-protocol.ts';
import { bodyOf, Frames, frameOf } from './floor-answers.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

const watches = new Set<ServerResponse>();

const frames = new Frames((chunk) => {
  for (const watch of watches) watch.write(chunk);
});

function publish(request: IncomingMessage, response: ServerResponse, frameBytes: number): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const object = Buffer.concat(parts);
    response.writeHead(200, { ...JSON_TYPE, 'Content-Length': object.length });
    response.end(object);
    frames.publish(frameOf(object, frameBytes));
  });
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost');
  if (pathname === '/publish') {
    publish(request, response, Number(searchParams.get('frame')));
  } else if (pathname === '/watch') {
    watches.add(response);
    response.on('close', () => watches.delete(response));
    response.writeHead(200, JSON_TYPE);
    response.write('\n');
  } else {
    const body = bodyOf(Number(searchParams.get('n')));
    response.writeHead(200, { ...JSON_TYPE, 'Content-Length': body.length });
    response.end(body);
  }
}

/** Listens on a port of the kernel's choice, and resolves to it. */
export async function listenOnNode(job: ListenerJob): Promise<number> {
  const server = createServer({ key: readFileSync(job.keyFile), cert: readFileSync(job.certFile) }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
