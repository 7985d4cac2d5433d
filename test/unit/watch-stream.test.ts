// The tests' own reader of watches: what a server says instead of events must end one test, not the process of all.
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import test from 'ava';
import { WatchStream } from '../server/watch-stream.ts';

const REFUSAL = 'Too many requests, please try again later.\n';

/** An answer whose body came with its head, as short ones do. */
function answered(statusCode: number, body: string): WatchStream {
  const message = Object.assign(new PassThrough(), { statusCode, headers: {}, complete: true });
  message.end(body);
  return new WatchStream(message as unknown as IncomingMessage);
}

test('a text instead of events is told to who waits for one', async (t) => {
  const watch = answered(429, REFUSAL);
  await t.throwsAsync(watch.next(), { message: /with code 429: Too many requests/ });
  t.is(await watch.ended, 'torn');
});

test('what arrives of a watch that was closed is not read', async (t) => {
  const watch = answered(429, REFUSAL);
  watch.close();
  t.is(await watch.ended, 'closed');
  t.is(await watch.next(), undefined);
});

test('events before a text are read first', async (t) => {
  const watch = answered(200, `{"type":"ADDED","object":{"metadata":{"name":"one"}}}\n${REFUSAL}`);
  t.is((await watch.next())?.object.metadata.name, 'one');
  await t.throwsAsync(watch.next(), { message: /Too many requests/ });
});
