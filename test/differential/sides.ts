// The two servers, asked the same.
import type { JsonObject } from '../../api/json-value.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import type { Asked } from './report.ts';

export interface Sides {
  readonly original: HttpsClient;
  readonly ours: HttpsClient;
}

/** The answers of the original and of this server. */
export function ask(
  { original, ours }: Sides,
  { method, path, body, contentType, accept }: Pick<Asked, 'method' | 'path' | 'body' | 'contentType' | 'accept'>,
): Promise<[Answer, Answer]> {
  const headers = {
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(accept === undefined ? {} : { accept }),
  };
  const settings = { headers, ...(body === undefined ? {} : { body }) };
  const answerOf = (client: HttpsClient): Promise<Answer> =>
    client.request(method, path, settings).catch((error: unknown) => noAnswer(error));
  return Promise.all([answerOf(original), answerOf(ours)]);
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
