// The audit actor's line and count.
import test from 'ava';
import { pino } from 'pino';
import { auditActor } from '../../../actors/audit/audit.ts';
import type { AuditProtocol, AuditRecord } from '../../../actors/audit/protocol.ts';
import type { Actor } from '../../../runtime/actor.ts';
import { fakeContext, NO_METRICS } from './fake-context.ts';
import { VirtualTime } from './virtual-time.ts';

const RECORD: AuditRecord = {
  requestId: 'r1',
  user: 'alice',
  verb: 'get',
  path: '/api/v1/pods',
  code: 200,
  latencyMs: 3,
  stage: 'ResponseComplete',
};

async function audit(level: string) {
  const lines: Record<string, unknown>[] = [];
  const counts = new Map<string, number>();
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const metrics = {
    ...NO_METRICS,
    counter: (_name: string, _help: string, labels: Record<string, string> = {}) => ({
      add: (amount: number) => {
        const stage = labels.stage ?? '';
        counts.set(stage, (counts.get(stage) ?? 0) + amount);
      },
      set: () => {},
    }),
  };
  const context = { ...fakeContext(new VirtualTime(), () => Promise.reject(new Error('asks nobody'))), log, metrics };
  const actor = (await auditActor.create(context, {})) as unknown as Actor<AuditProtocol>;
  const record = (changes: Partial<AuditRecord> = {}) =>
    actor.onMessage({ type: 'record', ...RECORD, ...changes }, { send: () => {}, fail: () => {} });
  return { lines, counts, record };
}

test('a record becomes one line at debug level with all its fields', async (t) => {
  const { lines, record } = await audit('debug');
  record();
  t.is(lines.length, 1);
  t.like(lines[0], { level: 20, ...RECORD });
});

test('records are counted by stage, whatever the log level', async (t) => {
  const { lines, counts, record } = await audit('info');
  record();
  record();
  record({ stage: 'Panic' });
  t.deepEqual(lines, []);
  t.deepEqual(
    [...counts],
    [
      ['ResponseComplete', 2],
      ['Panic', 1],
    ],
  );
});
