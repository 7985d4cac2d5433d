import test from 'ava';
import { logIfSlow } from '../../../../actors/ingress/pipeline/slow-requests.ts';
import { createLogger } from '../../../../runtime/logging/log.ts';
import type { HttpRequest } from '../../../../transport/http.ts';
import { exchangeOver } from '../exchanges.ts';

function logged(latencyMs: number, longRunning = false, more: object = {}): string {
  const lines: string[] = [];
  const log = createLogger('front', { level: 'info', format: 'text', skipsHeaders: true }, (line) => lines.push(line));
  const request = { path: '/api/v1/pods', header: () => 'kubectl/1\n"x"' } as Partial<HttpRequest> as HttpRequest;
  const exchange = exchangeOver({}, { request, requestNumber: 7, startedMs: 100, verb: 'list', longRunning });
  exchange.admittedMs = 110;
  exchange.begunMs = 160.4;
  logIfSlow(log, Object.assign(exchange, more), latencyMs);
  return lines.join('');
}

test('a request that took half a second is traced, with where its time went', (t) => {
  const [head, ...steps] = logged(700).trimEnd().split('\n');
  t.true(
    head!.startsWith(
      JSON.stringify('Trace[7]: "List" url:/api/v1/pods,user-agent:kubectl/1\n"x" (total time: 700ms):'),
    ),
  );
  t.deepEqual(steps, [
    'Trace[7]: ---"The user is known and may" 10ms',
    'Trace[7]: ---"Let through" 50ms',
    'Trace[7]: [700ms] [640ms] END',
  ]);
});

test('a fast request is not traced, nor is one that is meant to last', (t) => {
  t.is(logged(499), '');
  t.is(logged(9000, true), '');
});

test('of a request that was turned away before, no step is told that it did not come to, and of its agent the beginning', (t) => {
  const agent = { path: '/', header: (name: string) => (name === 'user-agent' ? 'a'.repeat(300) : '') };
  const [head, ...steps] = logged(700, false, { admittedMs: undefined, begunMs: undefined, request: agent })
    .trimEnd()
    .split('\n');
  t.regex(head!, /user-agent:a{200} \(/);
  t.deepEqual(steps, ['Trace[7]: [700ms] [700ms] END']);
});
