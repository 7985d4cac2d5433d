// A real server on each listener under connections that say anything: it goes on, and answers everyone else rightly.
import test from 'ava';
import { testOn } from '../server/listeners.ts';
import { findingText } from './findings.ts';
import { runSockets } from './run-threads.ts';
import { answersIn } from './sockets/answers.ts';
import { Violation } from './target.ts';
import { SOCKET_TARGETS } from './targets.ts';

const CONNECTIONS = 300;

for (const target of SOCKET_TARGETS) {
  const test = testOn(target.name === 'sockets-uws' ? 'uws' : 'node');
  test.serial(`${target.name}: a server stands ${CONNECTIONS} connections`, async (t) => {
    const { findings, inputs } = await runSockets(target, 1, CONNECTIONS);
    t.deepEqual(findings.map(findingText), []);
    t.is(inputs, CONNECTIONS);
  });
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

test('answers are told apart, whole or not', (t) => {
  const twice = answersIn(Buffer.from(OK + OK), ['GET', 'GET'], false);
  t.deepEqual(
    twice.map(({ status, state }) => [status, state]),
    [
      [200, 'whole'],
      [200, 'whole'],
    ],
  );
  t.is(answersIn(Buffer.from(OK.slice(0, -1)), ['GET'], false)[0]?.state, 'open');
  t.is(answersIn(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'), ['HEAD'], false)[0]?.state, 'whole');
  t.deepEqual(answersIn(Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${OK}`), ['PUT'], false).length, 1);
  const chunked =
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n';
  t.is(answersIn(Buffer.from(chunked), ['GET'], false)[0]?.state, 'open');
});

for (const [what, bytes] of [
  ['a failure', 'HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n'],
  ['no status line', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['no HTTP', '<h1>'],
  ['a header that is none', 'HTTP/1.1 200 OK\r\nA B\r\n\r\n'],
  ['broken JSON', OK.replace('{}', '{]')],
]) {
  test(`an answer that is ${what} is a violation`, (t) => {
    t.throws(() => answersIn(Buffer.from(bytes!), ['GET'], true), { instanceOf: Violation });
  });
}
