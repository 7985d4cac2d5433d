// Entry of the admission webhook's process: allows everything, at once or under `/slow` after the time that its job says.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { WebhookJob } from '../load-protocol.ts';

function answer(request: IncomingMessage, response: ServerResponse, slowMs: number): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(parts).toString()) as { apiVersion: string; request: { uid: string } };
    const { apiVersion } = review;
    const body = { apiVersion, kind: 'AdmissionReview', response: { uid: review.request.uid, allowed: true } };
    const send = (): void => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(body));
    };
    // The caller adds how long it waits.
    if (request.url?.startsWith('/slow') === true) setTimeout(send, slowMs);
    else send();
  });
}

function listen({ certFile, keyFile, slowMs }: WebhookJob): void {
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) =>
    answer(request, response, slowMs),
  );
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
}

process.once('disconnect', () => process.exit(0));
process.once('message', listen);
