// The line that the audit actor writes for each request.
import test from 'ava';
import { pino } from 'pino';
import { auditActor } from '../../../actors/audit/audit.ts';
import type { AuditProtocol, RequestLine } from '../../../actors/audit/protocol.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Actor } from '../../../runtime/actor.ts';
import { fakeContext } from './fake-context.ts';
import { VirtualTime } from './virtual-time.ts';

const RECORD: RequestLine = {
  requestId: 'r1',
  user: 'alice',
  verb: 'get',
  path: '/api/v1/pods',
  code: 200,
  latencyMs: 3,
};

async function audit(level: string) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const context = { ...fakeContext(new VirtualTime(), () => Promise.reject(new Error('asks nobody'))), log };
  const actor = (await auditActor.create(context, {
    backends: [],
    schema: schemaOf(DIALECTS.orch),
  })) as unknown as Actor<AuditProtocol>;
  const record = (changes: Partial<RequestLine> = {}) =>
    actor.onMessage({ type: 'record', ...RECORD, ...changes }, { send: () => {}, fail: () => {} });
  return { lines, record };
}

test('a record becomes one line at debug level with all its fields', async (t) => {
  const { lines, record } = await audit('debug');
  record();
  t.is(lines.length, 1);
  t.like(lines[0], { level: 20, ...RECORD });
});

test('no line is written where nobody wants it', async (t) => {
  const { lines, record } = await audit('info');
  record();
  t.deepEqual(lines, []);
});
