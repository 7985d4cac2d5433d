// Goal: the line of a request is the original's, and nothing that a client sends makes another of it. Method: exchanges with
// requests made by hand, and the lines read back.
import test from 'ava';
import type { RequestAudit } from '../../../../actors/auditing/request-audit.ts';
import { loggedArrival, logRequest } from '../../../../actors/ingress/pipeline/httplog.ts';
import { createLogger } from '../../../../runtime/logging/log.ts';
import type { LogLevel } from '../../../../runtime/logging/log-options.ts';
import type { HttpRequest } from '../../../../transport/http.ts';
import { exchangeOver } from '../exchanges.ts';

interface Sent {
  readonly agent?: string;
  readonly query?: string;
  readonly auditId?: string;
  readonly code?: number;
}

function logged(format: 'text' | 'json', { agent = 'kubectl/v1.21.0', query = '', auditId, code = 200 }: Sent): string {
  const lines: string[] = [];
  const put = (line: string): void => void lines.push(line);
  const log = createLogger('front', { level: 'debug', format, skipsHeaders: true }, put).child({ actor: 'ingress' });
  const request = {
    method: 'GET',
    path: '/api/v1/pods',
    query,
    remoteAddress: '10.0.0.1',
    header: (name: string) => (name === 'user-agent' ? agent : ''),
  } as Partial<HttpRequest> as HttpRequest;
  const exchange = exchangeOver({ respond: () => {} }, { request, requestNumber: 7, verb: 'list' });
  exchange.arrival = loggedArrival(log, request);
  if (auditId !== undefined) exchange.audit = { id: auditId, started: () => {} } as unknown as RequestAudit;
  exchange.user = { name: 'ann', uid: '', groups: [], extra: {} };
  exchange.answer(code, [], '');
  logRequest(log, exchange, 1.2344999);
  return lines.join('');
}

const REST = 'user="ann" thread="front" actor="ingress" requestNumber=7';

test('the line of a request has what the original has, in its order, then whose it was', (t) => {
  t.is(
    logged('text', { query: 'limit=500&labelSelector=a%3Db', auditId: 'an-id' }),
    `"HTTP" verb="GET" URI="/api/v1/pods?limit=500&labelSelector=a%3Db" latency="1.234ms" userAgent="kubectl/v1.21.0" audit-ID="an-id" srcIP="10.0.0.1" resp=200 ${REST}\n`,
  );
});

test('a request that is not audited has no audit ID, one that left HTTP no code, and a long ID is cut', (t) => {
  t.is(
    logged('text', { code: 101 }),
    `"HTTP" verb="GET" URI="/api/v1/pods" latency="1.234ms" userAgent="kubectl/v1.21.0" srcIP="10.0.0.1" hijacked=true ${REST}\n`,
  );
  t.regex(logged('text', { auditId: 'x'.repeat(100) }), / audit-ID="x{64}" /);
});

test('as JSON the line of a request has the same members', (t) => {
  const { ts: _ts, caller, ...rest } = JSON.parse(logged('json', { auditId: 'an-id' })) as Record<string, unknown>;
  t.regex(caller as string, /^httplog\.[jt]s:\d+$/);
  t.deepEqual(rest, {
    level: 20,
    severity: 'debug',
    v: 3,
    thread: 'front',
    actor: 'ingress',
    verb: 'GET',
    URI: '/api/v1/pods',
    latency: '1.234ms',
    userAgent: 'kubectl/v1.21.0',
    'audit-ID': 'an-id',
    srcIP: '10.0.0.1',
    resp: 200,
    user: 'ann',
    requestNumber: 7,
    msg: 'HTTP',
  });
});

/** What begins a line or a field for some reader: also for one that knows Unicode, and for a terminal. */
const FORGED =
  'x" resp=999 user="root"\nI0101 00:00:00.000000 1 a.ts:1] "HTTP" \r\v\f\u0085\u009b31m\u2028\u2029\u202e\u007f\\';
const PAIR = /([\w-]+)=("(?:[^"\\]|\\.)*"|[\w]+)/g;

test('nothing that a client sends makes a second line or another field', (t) => {
  for (const sent of [{ agent: FORGED }, { query: FORGED }, { auditId: FORGED }]) {
    const text = logged('text', sent);
    t.regex(text, /^[\x20-\x7e]+\n$/);
    const pairs = [...text.matchAll(PAIR)].map(([, name, value]) => [name!, JSON.parse(value!) as unknown] as const);
    t.deepEqual(
      pairs.map(([name]) => name).filter((name) => name !== 'audit-ID'),
      ['verb', 'URI', 'latency', 'userAgent', 'srcIP', 'resp', 'user', 'thread', 'actor', 'requestNumber'],
    );
    const fields = Object.fromEntries(pairs);
    t.deepEqual([fields.resp, fields.user], [200, 'ann']);
    if (sent.agent !== undefined) t.is(fields.userAgent, FORGED);
    const json = logged('json', sent);
    t.regex(json, /^[\x20-\x7e]+\n$/);
    t.like(JSON.parse(json), { resp: 200, user: 'ann' });
  }
});

test('a parameter that is a secret by its name is cut out of the URI', (t) => {
  const query = 'token=abc&limit=5&access_token=def&Client-Secret=ghi&fieldSelector=a%3Db';
  t.regex(
    logged('text', { query }),
    /URI="\/api\/v1\/pods\?token=\[redacted\]&limit=5&access_token=\[redacted\]&Client-Secret=\[redacted\]&fieldSelector=a%3Db"/,
  );
});

test('what a parameter holds is cut out of the line, however the name is written', (t) => {
  const query = '%74oken=abc&access%5Ftoken=def&x=1;token=ghi;y=2&%zz=3&client%2dsecret=jkl';
  t.regex(
    logged('text', { query }),
    /URI="\/api\/v1\/pods\?%74oken=\[redacted\]&access%5Ftoken=\[redacted\]&x=1;token=\[redacted\];y=2&%zz=3&client%2dsecret=\[redacted\]"/,
  );
});

test('a long query without parameters is written in time in proportion to it', (t) => {
  const query = '7'.repeat(1_000_000);
  t.true(logged('text', { query }).includes(query));
});

test('nothing is asked of a request whose line is not wanted', (t) => {
  const lines: string[] = [];
  const unasked = new Proxy({} as HttpRequest, {
    get: (_, name) => t.fail(`asked for ${String(name)}`),
  });
  for (const level of ['info', 'warn'] as LogLevel[]) {
    const log = createLogger('front', { level, format: 'text' }, (line) => lines.push(line));
    const exchange = exchangeOver();
    exchange.arrival = loggedArrival(log, unasked);
    logRequest(log, exchange, 1);
    t.is(exchange.arrival, undefined);
  }
  t.deepEqual(lines, []);
});
