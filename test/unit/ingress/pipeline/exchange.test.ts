// What an exchange says of its answer, and that it has only one.
import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { exchangeOver } from '../exchanges.ts';

test('an exchange is answered once an answer has begun, whole or in pieces, and knows its code', (t) => {
  const begin = {
    answer: [200, (exchange) => exchange.answer(200, [], 'x')],
    start: [206, (exchange) => exchange.start(206, [])],
    'web socket': [101, (exchange) => exchange.startWebSocket('', 'lines')],
    tunnel: [101, (exchange) => exchange.leaveHttp()],
  } satisfies Record<string, [number, (exchange: ReturnType<typeof exchangeOver>) => void]>;
  for (const [title, [code, answer]] of Object.entries(begin)) {
    const exchange = exchangeOver(new FakeResponse());
    t.deepEqual([exchange.isAnswered, exchange.code], [false, 0], title);
    answer(exchange);
    t.deepEqual([exchange.isAnswered, exchange.code], [true, code], title);
    t.throws(() => exchange.answer(500, [], ''), { message: /500.*after/ }, title);
  }
});

test('an answer whose body cannot be made has not begun', (t) => {
  const exchange = exchangeOver(new FakeResponse());
  const body = (): string => {
    throw new RangeError('no form for it');
  };
  t.throws(() => exchange.answer(200, [], body()));
  t.false(exchange.isAnswered);
});

test('a request is called the same in logs, traces and audit records, which its client may have named', (t) => {
  const unrecorded = exchangeOver();
  t.is(unrecorded.requestId, 'a-request');
  const recorded = exchangeOver();
  recorded.audit = { id: 'of-its-client' } as Exchange['audit'];
  t.is(recorded.requestId, 'of-its-client');
});
