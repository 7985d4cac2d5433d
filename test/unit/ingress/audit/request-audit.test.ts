import test from 'ava';
import type { UnreadAuditEvent } from '../../../../actors/audit/protocol.ts';
import { RequestAudit, type RequestAuditParts } from '../../../../actors/ingress/audit/request-audit.ts';

/** What is recorded of a request, by the stages that its policy leaves out. */
function recording(omitStages: readonly string[] = []) {
  const events: UnreadAuditEvent[] = [];
  const parts = {
    omitStages,
    request: { level: 'Metadata', auditID: 'a', verb: 'get', receivedMs: 0 },
    isRefused: false,
    isLongRunning: false,
    requestBody: undefined,
    responseBody: undefined,
    taker: {
      nowMs: () => 5,
      send: (event: UnreadAuditEvent) => void events.push(event),
      keep: (event: UnreadAuditEvent) => void events.push(event),
    },
  } as unknown as RequestAuditParts;
  return { audit: new RequestAudit(parts), events };
}

test('a request that nobody has foreseen ends with the stage Panic, and with what 1.21 says of it', (t) => {
  const { audit, events } = recording();
  void audit.received();
  audit.panicked();
  audit.started(500);
  audit.ended();
  t.deepEqual(
    events.map(({ stage }) => stage),
    ['RequestReceived', 'Panic'],
  );
  const { responseStatus } = events[1]!;
  t.is(responseStatus?.code, 500);
  t.is(responseStatus?.status, 'Failure');
  t.is(responseStatus?.reason, 'InternalError');
  t.regex(responseStatus?.message ?? '', /^APIServer panic'd: /);
});

test('a policy may leave the stage Panic out', (t) => {
  const { audit, events } = recording(['Panic']);
  audit.panicked();
  audit.started(500);
  audit.ended();
  t.deepEqual(events, []);
});
