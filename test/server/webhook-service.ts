// An admission webhook as an operator runs one: an HTTPS server with a certificate of an authority of its own, which behaves as the path
// says, and writes down what it is asked. Nothing here is part of a server.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { certificateAuthority, certificateOf, jsonOf, sendJson } from './credentials.ts';
import type { Scope } from './server-process.ts';

export interface ReviewRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly name?: string;
  readonly operation: string;
  readonly object: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } } | null;
  readonly [member: string]: unknown;
}

export interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: ReviewRequest;
}

/** What was asked, and how the caller showed itself. */
export interface Asked {
  readonly path: string;
  readonly review: Review;
  readonly authorization: string;
  /** The common name of the certificate that was shown; empty: none. */
  readonly shown: string;
}

export interface WebhookCall {
  readonly review: Review;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a path does. What it returns is the response of the review, under the right uid; undefined: it has answered, or never will. */
export type Behaviour = (call: WebhookCall) => object | undefined | Promise<object | undefined>;

export interface WebhookService {
  readonly url: string;
  readonly port: number;
  /** Of the authority, as configurations have it. */
  readonly caBundle: string;
  readonly asked: Asked[];
  /** Connections that were opened. */
  readonly connections: () => number;
  /** A folder for more files; the authority is `ca` in it. */
  readonly files: string;
}

/** As the response of a review has patches. */
export function patchOf(...operations: readonly object[]): object {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

/** Runs until the scope ends. `until` its certificate is valid, as openssl writes times. */
export async function webhookService(
  scope: Scope,
  behaviours: Readonly<Record<string, Behaviour>>,
  { host = '127.0.0.1', until = '20490101000000Z' } = {},
): Promise<WebhookService> {
  const files = mkdtempSync(join(tmpdir(), 'orch-webhook-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  certificateAuthority(files, 'ca');
  const names = [`IP:${host}`, 'DNS:hook.default.svc'];
  certificateOf(files, 'ca', 'hook', '/CN=hook', { usage: 'serverAuth', until, names });
  const text = (file: string): string => readFileSync(join(files, file), 'utf8');
  const asked: Asked[] = [];
  let connections = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const review = await jsonOf<Review>(request);
    const path = new URL(request.url ?? '', 'https://hook').pathname.slice(1);
    const shown = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? '';
    asked.push({ path, review, authorization: request.headers.authorization ?? '', shown: String(shown) });
    const result = await behaviours[path]?.({ review, request, response });
    if (result === undefined) return;
    sendJson(response, { ...review, request: undefined, response: { uid: review.request.uid, ...result } });
  };
  const tls = { cert: text('hook.crt'), key: text('hook.key'), ca: text('ca.crt') };
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  scope.teardown(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(text('ca.crt')).toString('base64');
  return { url: `https://${host}:${port}`, port, caBundle, asked, connections: () => connections, files };
}
