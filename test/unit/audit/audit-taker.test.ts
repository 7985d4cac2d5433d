// Which requests go on when the audit actor cannot take their events.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { AuditTaker, type AuditTakerParts, recordingOf } from '../../../actors/auditing/audit-taker.ts';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { OrchError, type OrchErrorCode } from '../../../runtime/errors.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { NO_METRICS } from '../controllers/fake-context.ts';

const EVENT = { request: { auditID: 'a' } } as unknown as UnreadAuditEvent;

/** What becomes of a request that waits for its event, where the audit actor fails so. */
async function outcome(code: OrchErrorCode, isStrict: boolean): Promise<string> {
  const time = new VirtualTime();
  const taker = new AuditTaker({
    context: { clock: time, timers: time, metrics: NO_METRICS },
    audit: { askSoon: () => Promise.reject(new OrchError(code, code)) },
    dialect: DIALECTS.orch,
    requestTimeoutMs: 1000,
    waits: 'each',
    isStrict,
  } as unknown as AuditTakerParts);
  try {
    await taker.keep(EVENT);
    return 'goes on';
  } catch (error) {
    return isStatusError(error) ? `${error.status.code}` : (error as Error).message;
  }
}

test('an audit actor that starts again, or is overloaded, refuses the requests alone whose events must be kept', async (t) => {
  for (const code of ['ActorDown', 'Overloaded'] as const) {
    t.is(await outcome(code, false), 'goes on');
    t.is(await outcome(code, true), '500');
  }
  t.is(await outcome('DeadlineExceeded', false), 'DeadlineExceeded');
});

/** A taker whose audit actor answers so, and what its metrics say. */
function takerOf(waits: AuditTakerParts['waits'], isKept = true) {
  const time = new VirtualTime();
  const metrics = new MetricsRegistry();
  const taker = new AuditTaker({
    context: { clock: time, timers: time, metrics },
    audit: { askSoon: async () => ({ isKept }), tell: () => 'full' },
    dialect: DIALECTS.orch,
    requestTimeoutMs: 1000,
    policy: { rules: [{ level: 'Request', verbs: ['get'] }], omitStages: [] },
    waits,
    isStrict: true,
  } as unknown as AuditTakerParts);
  const total = (name: string): number =>
    (metrics.reading().find((family) => family.name === `apiserver_audit_${name}_total`)?.series ?? []).reduce(
      (sum, { value }) => sum + value,
      0,
    );
  return { taker, time, total };
}

test('requests whose events were not kept are refused together, and each is counted', async (t) => {
  const { taker, time, total } = takerOf('together', false);
  const waiting = [taker.keep(EVENT), taker.keep(EVENT)].map((kept) =>
    t.throwsAsync(kept!, { message: /audit event/ }),
  );
  await time.runUntilIdle();
  await Promise.all(waiting);
  t.deepEqual([total('requests_rejected'), total('event'), total('error')], [2, 2, 0]);
  const next = t.throwsAsync(taker.keep(EVENT)!);
  await time.runUntilIdle();
  await next;
  t.is(total('requests_rejected'), 3);
});

test('where nobody waits for audit events requests go on at once, and events that find no room are counted', async (t) => {
  const { taker, total } = takerOf('none');
  t.is(taker.keep(EVENT), undefined);
  taker.send(EVENT);
  taker.flush();
  t.deepEqual([total('event'), total('error'), taker.isWaitedFor], [2, 2, false]);
});

test('what an event says of who let its request in is of that request, however alike the one before', (t) => {
  const { taker } = takerOf('none');
  const said = (isAllowed: boolean, reason: string): readonly string[] =>
    Object.values(taker.answerOf(isAllowed, reason));
  t.deepEqual(taker.answerOf(true, 'a'), {
    'authorization.orch.io/decision': 'allow',
    'authorization.orch.io/reason': 'a',
  });
  t.is(taker.answerOf(true, 'a'), taker.answerOf(true, 'a'));
  t.deepEqual(said(true, 'b'), ['allow', 'b']);
  t.deepEqual(said(false, 'b'), ['forbid', 'b']);
  t.deepEqual(taker.undecided, { 'authorization.orch.io/reason': 'internal error' });
});

const BLOCKING = { auditLogPath: 'a.log', auditLogMode: 'blocking', auditWebhookMode: 'blocking-strict' };

test('the mode of an audit backend that there is not makes no event one that must be kept', (t) => {
  const strictIn = (options: object, webhook?: object): boolean | undefined =>
    recordingOf({ audit: { policy: {}, webhook }, options } as unknown as ServerSettings)?.isStrict;
  t.false(strictIn(BLOCKING));
  t.true(strictIn(BLOCKING, {}));
  t.false(strictIn({ ...BLOCKING, auditLogPath: '', auditLogMode: 'blocking-strict', auditWebhookMode: 'batch' }, {}));
  t.true(strictIn({ ...BLOCKING, auditLogMode: 'blocking-strict' }));
});

test('requests wait for a webhook each by itself, for a log together, and for nobody where both are given batches', (t) => {
  const waitsIn = (options: object, webhook?: object): unknown =>
    recordingOf({ audit: { policy: {}, webhook }, options } as unknown as ServerSettings)?.waits;
  t.is(waitsIn(BLOCKING, {}), 'each');
  t.is(waitsIn(BLOCKING), 'together');
  t.is(waitsIn({ ...BLOCKING, auditWebhookMode: 'batch' }, {}), 'together');
  t.is(waitsIn({ ...BLOCKING, auditLogPath: '' }), 'none');
  t.is(waitsIn({ ...BLOCKING, auditLogMode: 'batch' }), 'none');
  t.is(recordingOf({ audit: undefined, options: BLOCKING } as unknown as ServerSettings), undefined);
});
