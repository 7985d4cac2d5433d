// Writes on their way from the client to admission.
import test from 'ava';
import type { Exchange } from '../../../actors/ingress/exchange/exchange.ts';
import { Writes, type WritesParts } from '../../../actors/ingress/writes.ts';
import { RequestAborted } from '../../../transport/http.ts';

type Served = Parameters<Writes['serve']>;

const NOW_MS = 5000;
/** To a client that stays. */
const response = { aborted: false, onAborted: () => {} };

/** Of a server that gives a request a second. */
function writesTo(admission: object): Writes {
  const clock = { monotonicMs: () => NOW_MS };
  return new Writes({ context: { clock, ref: () => admission }, requestTimeoutMs: 1000 } as unknown as WritesParts);
}

test('admission is told how long a write is still waited for, by the server and by its client', async (t) => {
  const given: unknown[] = [];
  const writes = writesTo({
    ask: async ({ leftMs }: { leftMs: number }, { deadlineMs }: { deadlineMs: number }) => {
      given.push([leftMs, deadlineMs]);
      throw new RequestAborted();
    },
  });
  for (const timeoutMs of [undefined, 300]) {
    const request = { header: () => '', query: '' };
    const exchange = { timeoutMs, startedMs: NOW_MS - 200, isGivenUp: false, request, response };
    const serving = writes.serve(exchange as unknown as Exchange, {} as Served[1], 'create', {} as Served[3]);
    await t.throwsAsync(serving, { instanceOf: RequestAborted });
  }
  t.deepEqual(given, [
    [800, 800],
    [100, 100],
  ]);
});

test('a write that is given up before its body is whole is not carried out when it is', async (t) => {
  const asked: unknown[] = [];
  const admission = { ask: async (message: unknown) => void asked.push(message) };
  const writes = writesTo(admission);
  let complete = (_body: Uint8Array): void => {};
  const body = new Promise<Uint8Array>((resolve) => {
    complete = resolve;
  });
  const exchange = { body, isGivenUp: false, request: { header: () => '', query: '' }, response };
  const serving = writes.serve(exchange as unknown as Exchange, {} as Served[1], 'create', {} as Served[3]);
  exchange.isGivenUp = true;
  complete(new Uint8Array(0));
  await t.throwsAsync(serving, { instanceOf: RequestAborted });
  t.deepEqual(asked, []);
});

test('admission is told of a client that goes away while its write is under way, and not asked for one that has gone before', async (t) => {
  const told: unknown[] = [];
  const admission = {
    ask: (): Promise<never> => {
      told.push('asked');
      return Promise.reject(new RequestAborted());
    },
    tell: (message: unknown) => told.push(message),
  };
  let goAway = (): void => {};
  for (const aborted of [false, true]) {
    const exchange = {
      isGivenUp: false,
      requestNumber: 7,
      request: { header: () => '', query: '' },
      response: {
        aborted,
        onAborted: (callback: () => void) => {
          goAway = callback;
        },
      },
    };
    const serving = writesTo(admission).serve(
      exchange as unknown as Exchange,
      {} as Served[1],
      'create',
      {} as Served[3],
    );
    goAway();
    await t.throwsAsync(serving, { instanceOf: RequestAborted });
    goAway = () => {};
  }
  t.deepEqual(told, ['asked', { type: 'abandoned', requestNumber: 7 }]);
});
