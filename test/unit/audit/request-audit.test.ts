import test from 'ava';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { RequestAudit, type RequestAuditParts } from '../../../actors/auditing/request-audit.ts';
import type { Status } from '../../../api/status/status.ts';

/** What is recorded of a request, by the stages that its policy leaves out. */
function recording(omitStages: readonly string[] = [], more: object = {}) {
  const events: UnreadAuditEvent[] = [];
  const parts = {
    omitStages,
    request: { level: 'RequestResponse', auditID: 'a', verb: 'get', receivedMs: 0 },
    isRefused: false,
    isLongRunning: false,
    requestBody: undefined,
    responseBody: undefined,
    taker: {
      nowMs: () => 5,
      send: (event: UnreadAuditEvent) => void events.push(event),
      keep: (event: UnreadAuditEvent) => void events.push(event),
    },
    ...more,
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

const REFUSAL: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'secrets "a" is invalid: data: Invalid value: "hunter2"',
  reason: 'Invalid',
  details: { name: 'a' },
  code: 422,
};

test('of an answer that is a Status, its words are recorded in the answer alone', (t) => {
  const { audit, events } = recording([], { isLongRunning: true });
  audit.answerStatus(REFUSAL);
  audit.started(422);
  audit.ended();
  t.deepEqual(
    events.map(({ stage, responseStatus, responseObject }) => [stage, responseStatus, responseObject]),
    ['ResponseStarted', 'ResponseComplete'].map((stage) => [
      stage,
      { status: 'Failure', reason: 'Invalid', code: 422 },
      REFUSAL,
    ]),
  );
});

test('below the level RequestResponse the answer is not recorded', (t) => {
  const request = { level: 'Request', auditID: 'a', verb: 'get', receivedMs: 0 };
  const { audit, events } = recording([], { request });
  audit.answerStatus(REFUSAL);
  audit.started(422);
  audit.ended();
  t.is(events.at(-1)?.responseObject, undefined);
});

test('the body of a request that may not be made is not recorded', (t) => {
  const { audit, events } = recording([], { requestBody: new Promise(() => {}) });
  audit.refused();
  audit.started(403);
  audit.ended();
  t.is(events.at(-1)?.requestBody, undefined);
});

test('a request whose client goes before it is answered is recorded as closed early, a long-running one with a beginning of its answer', (t) => {
  const closed = { status: 'Success', message: 'Connection closed early', code: 200 };
  for (const [isLongRunning, stages] of [
    [false, ['ResponseComplete']],
    [true, ['ResponseStarted', 'ResponseComplete']],
  ] as const) {
    const { audit, events } = recording([], { isLongRunning });
    audit.ended();
    t.deepEqual(
      events.map(({ stage, responseStatus }) => [stage, responseStatus]),
      stages.map((stage) => [stage, closed]),
    );
  }
});

test('a request of nobody has one event, the beginning of its answer', (t) => {
  const { audit, events } = recording([], { isRefused: true });
  audit.started(401);
  audit.ended();
  t.deepEqual(
    events.map(({ stage, responseStatus }) => [stage, responseStatus]),
    [['ResponseStarted', { code: 401 }]],
  );
});

test('what is said first of a request holds, and what belongs to a higher level than its own is left out', (t) => {
  const request = { level: 'Metadata', auditID: 'a', verb: 'get', receivedMs: 0 };
  const { audit, events } = recording([], { request });
  audit.annotate({ a: 'first' });
  audit.annotate({ a: 'second', b: 'first' });
  audit.annotateBy([
    { key: 'c', value: 'metadata', level: 'Metadata' },
    { key: 'd', value: 'request', level: 'Request' },
  ]);
  audit.started(200);
  audit.ended();
  t.deepEqual(events[0]?.annotations, { a: 'first', b: 'first', c: 'metadata' });
});

test('the end of an answer is held for its event, and let go where there is none or the body may still be to come', (t) => {
  const released = (omitStages: readonly string[], requestBody: unknown): boolean => {
    let isReleased = false;
    const held = {
      release: () => {
        isReleased = true;
      },
    };
    const { audit } = recording(omitStages, { requestBody, held });
    audit.started(200);
    audit.ended();
    return isReleased;
  };
  t.false(released([], undefined));
  t.true(released(['ResponseComplete'], undefined));
  t.true(released([], new Promise(() => {})));
});
