// Which requests go on when the audit actor cannot take their events.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { AuditTaker, type AuditTakerParts, recordingOf } from '../../../actors/auditing/audit-taker.ts';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { OrchError, type OrchErrorCode } from '../../../runtime/errors.ts';
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

const BLOCKING = { auditLogPath: 'a.log', auditLogMode: 'blocking', auditWebhookMode: 'blocking-strict' };

test('the mode of an audit backend that there is not makes no event one that must be kept', (t) => {
  const strictIn = (options: object, webhook?: object): boolean | undefined =>
    recordingOf({ audit: { policy: {}, webhook }, options } as unknown as ServerSettings)?.isStrict;
  t.false(strictIn(BLOCKING));
  t.true(strictIn(BLOCKING, {}));
  t.false(strictIn({ ...BLOCKING, auditLogPath: '', auditLogMode: 'blocking-strict', auditWebhookMode: 'batch' }, {}));
  t.true(strictIn({ ...BLOCKING, auditLogMode: 'blocking-strict' }));
});
