// The two servers, asked the same.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import type { Asked } from './report.ts';

export interface Sides {
  readonly original: HttpsClient;
  readonly ours: HttpsClient;
}

/** What of a case is sent. */
type Sent = Pick<Asked, 'method' | 'path' | 'body' | 'contentType' | 'accept' | 'token'>;

/** The answers of the original and of this server. */
export function ask(sides: Sides, sent: Sent): Promise<[Answer, Answer]> {
  return askEach(sides, { original: sent, ours: sent });
}

/** As `ask`, of requests that name what each server has drawn. */
export function askEach(
  { original, ours }: Sides,
  sent: { readonly original: Sent; readonly ours: Sent },
): Promise<[Answer, Answer]> {
  return Promise.all([answerOf(original, sent.original), answerOf(ours, sent.ours)]);
}

function answerOf(client: HttpsClient, { method, path, body, contentType, accept, token }: Sent): Promise<Answer> {
  const headers = {
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(accept === undefined ? {} : { accept }),
  };
  const settings = {
    headers,
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  };
  return client.request(method, path, settings).catch((error: unknown) => noAnswer(error));
}

/** A server that breaks over a request closes its connection. */
function noAnswer(error: unknown): Answer {
  const message = `no answer: ${String(error)}`;
  return { status: 599, headers: {}, bytes: Buffer.from(message), text: message, json: { metadata: {}, message } };
}

/** Creates an object on both sides. True where both took it; where only one did, it is there on neither. */
export async function keep(sides: Sides, path: string, body: JsonObject, name: string): Promise<boolean> {
  const [one, other] = await ask(sides, { method: 'POST', path, body });
  const [isThere, isHere] = [one.status < 300, other.status < 300];
  if (isThere !== isHere) await ask(sides, { method: 'DELETE', path: `${path}/${name}` });
  return isThere && isHere;
}
