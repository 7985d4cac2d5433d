// Writes on their way from the client to admission.
import test from 'ava';
import type { Exchange } from '../../../actors/ingress/exchange/exchange.ts';
import { Writes } from '../../../actors/ingress/writes.ts';
import { RequestAborted } from '../../../transport/http.ts';

type Parts = ConstructorParameters<typeof Writes>;
type Served = Parameters<Writes['serve']>;

test('a write that is given up before its body is whole is not carried out when it is', async (t) => {
  const asked: unknown[] = [];
  const admission = { ask: async (message: unknown) => void asked.push(message) };
  const writes = new Writes(admission as unknown as Parts[0], {} as Parts[1], {} as Parts[2], 1000);
  let complete = (_body: Uint8Array): void => {};
  const body = new Promise<Uint8Array>((resolve) => {
    complete = resolve;
  });
  const exchange = { body, isGivenUp: false, request: { header: () => '', query: '' } };
  const serving = writes.serve(exchange as unknown as Exchange, {} as Served[1], 'create', {} as Served[3]);
  exchange.isGivenUp = true;
  complete(new Uint8Array(0));
  await t.throwsAsync(serving, { instanceOf: RequestAborted });
  t.deepEqual(asked, []);
});
