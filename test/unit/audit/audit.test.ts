// What the audit actor answers whoever waits for an event to be recorded.
import test from 'ava';
import { type AuditMode, type AuditOptions, auditActor } from '../../../actors/audit/audit.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { type AuditSink, EventsLost } from '../../../actors/audit/sinks.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Actor, ActorContext } from '../../../runtime/actor.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

type Write = AuditSink['write'];
const HEAP_BYTES_MAX = 1_000_000;

type Backend = readonly [mode: AuditMode, write: Write];

const good: Write = () => undefined;
const bad: Write = () => Promise.reject(new Error('no'));
const slowlyGood: Write = () => Promise.resolve();
const badAtOnce: Write = () => {
  throw new Error('at once');
};

/** An audit actor over backends, each with its mode and what it does with events; `closed`: hears of a backend that is closed. */
function actorOver(backends: readonly Backend[], closed: () => Promise<void> = () => Promise.resolve()) {
  const time = new VirtualTime();
  const said: object[] = [];
  const log = { warn: (line: object) => void said.push(line) };
  const metrics = new MetricsRegistry();
  const context = { clock: time, timers: time, metrics, log } as unknown as ActorContext;
  const options = {
    schema: schemaOf(DIALECTS.orch),
    gate: () => false,
    heapBytesMax: HEAP_BYTES_MAX,
    backends: backends.map(([mode, write]) => ({
      mode,
      limits: { bufferMax: 10, batchMax: 1, waitMs: 0, throttle: undefined, underWayMax: 1 },
      open: () => ({ name: 'webhook', isImmediate: false, write, close: closed }),
    })),
  } as AuditOptions;
  const actor = auditActor.create(context, options) as unknown as Actor<AuditProtocol>;
  /** How many events are counted as lost, by who lost them. */
  const lost = (): Readonly<Record<string, number>> => {
    const family = metrics.reading().find(({ name }) => name === 'apiserver_audit_error_total');
    return Object.fromEntries((family?.series ?? []).map(({ labels, value }) => [labels.plugin, value]));
  };
  const tell = (events: readonly UnreadAuditEvent[]): void =>
    actor.onMessage({ type: 'events', events }, { isAwaited: false, send: () => {}, fail: () => {} });
  return { actor, time, lost, said, tell };
}

/** Asks an audit actor over backends to keep events. */
function audit(...backends: readonly Backend[]) {
  const { actor } = actorOver(backends);
  /** Whether so many events were kept. */
  return (count = 1, event = {} as UnreadAuditEvent): Promise<unknown> =>
    new Promise((resolve, fail) => {
      const events = Array.from({ length: count }, () => event);
      actor.onMessage({ type: 'keep', events }, { isAwaited: true, send: resolve, fail });
    });
}

const cases: readonly (readonly [what: string, backends: readonly Backend[], isKept: boolean])[] = [
  [
    'that all take',
    [
      ['blocking-strict', good],
      ['blocking', slowlyGood],
    ],
    true,
  ],
  [
    'that one lacks which may',
    [
      ['blocking', bad],
      ['blocking-strict', good],
    ],
    true,
  ],
  [
    'that one lacks at once which may',
    [
      ['blocking', badAtOnce],
      ['blocking-strict', good],
    ],
    true,
  ],
  ['that one lacks at once which must not', [['blocking-strict', badAtOnce]], false],
  [
    'that one lacks which must not, whoever comes behind it',
    [
      ['blocking-strict', bad],
      ['blocking', good],
    ],
    false,
  ],
  [
    'that one lacks which must not, though one behind it takes long',
    [
      ['blocking-strict', bad],
      ['blocking', slowlyGood],
    ],
    false,
  ],
  [
    'that the last lacks, which must not',
    [
      ['blocking', slowlyGood],
      ['blocking-strict', bad],
    ],
    false,
  ],
  ['that goes in batches', [['batch', bad]], true],
];

for (const [what, backends, isKept] of cases) {
  test(`an audit event ${what}, is ${isKept ? 'kept' : 'lost'}`, async (t) => {
    t.deepEqual(await audit(...backends)(), { isKept });
  });
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const eventsOf = (count: number): UnreadAuditEvent[] => Array.from({ length: count }, () => ({}) as UnreadAuditEvent);

for (const mode of ['blocking', 'batch'] as const) {
  test(`audit events that a ${mode} backend does not take are counted as lost by it, as many as are nowhere`, async (t) => {
    for (const [write, count] of [
      [bad, 1],
      [() => Promise.reject(new EventsLost(7, 'some')), 7],
      [badAtOnce, 1],
    ] as const) {
      const { actor, lost, said, tell } = actorOver([[mode, write]]);
      tell(eventsOf(1));
      await settled();
      t.deepEqual(lost(), { webhook: count });
      t.like(said, [{ plugin: 'webhook', count }]);
      tell(eventsOf(1));
      await settled();
      t.is(said.length, 1);
      await actor.stop!();
      t.is(said.length, 2, 'what was lost since then is said at the end');
    }
  });
}

test('audit events for which there is no room are counted as lost in the buffer', async (t) => {
  const hangs: Write = () => new Promise(() => {});
  const batched = actorOver([['batch', hangs]]);
  // One is under way, and ten wait.
  batched.tell(eventsOf(14));
  t.deepEqual(batched.lost(), { buffered: 3 });
  const blocking = actorOver([['blocking', hangs]]);
  blocking.tell(eventsOf(16_384));
  t.deepEqual(blocking.lost(), {});
  blocking.tell(eventsOf(2));
  t.deepEqual(blocking.lost(), { buffered: 2 });
});

test('a backend is given audit events with the bodies that their level has', async (t) => {
  const bodies: unknown[] = [];
  const { tell } = actorOver([['blocking', (events) => void bodies.push(...events.map((one) => one.requestObject))]]);
  const request = { level: 'Request', verb: 'create', objectRef: { apiVersion: 'v1', resource: 'configmaps' } };
  const requestBody = { contentType: 'application/json', bytes: Buffer.from('{"data":{"a":"b"}}') };
  tell([{ request, requestBody } as unknown as UnreadAuditEvent]);
  t.like(bodies, [{ data: { a: 'b' } }]);
});

test('an audit actor that stops sends what waits and closes its backends then, and waits no longer than it may for either', async (t) => {
  const steps: string[] = [];
  const ends: (() => void)[] = [];
  const write: Write = (events) => {
    steps.push(`sent ${events.length}`);
    return new Promise((resolve) => ends.push(resolve));
  };
  const closed = async (): Promise<void> => {
    await settled();
    steps.push('closed');
  };
  const patient = actorOver([['batch', write]], closed);
  patient.tell(eventsOf(2));
  const stopping = patient.actor.stop!().then(() => steps.push('stopped'));
  for (let sent = 0; sent < 2; sent++) {
    await settled();
    for (const end of ends.splice(0)) end();
  }
  await stopping;
  t.deepEqual(steps.splice(0), ['sent 1', 'sent 1', 'closed', 'stopped']);

  const hanging = actorOver([['batch', write]], () => {
    steps.push('closed');
    return new Promise(() => {});
  });
  hanging.tell(eventsOf(1));
  const late = hanging.actor.stop!().then(() => steps.push('stopped'));
  await settled();
  t.deepEqual(steps, ['sent 1']);
  t.is(hanging.time.nextDueMs, 5000);
  await hanging.time.advance(5000);
  await late;
  t.deepEqual(steps, ['sent 1', 'closed', 'stopped']);
});

test('as many audit events wait for a backend as there is room for, and others when those have been taken', async (t) => {
  const ends: (() => void)[] = [];
  const keep = audit(['blocking-strict', () => new Promise((resolve) => ends.push(resolve))]);
  const first = [keep(10_000), keep(10_000)];
  t.deepEqual(await keep(), { isKept: false });
  for (const end of ends.splice(0)) end();
  t.deepEqual(await Promise.all(first), [{ isKept: true }, { isKept: true }]);
  const again = keep();
  for (const end of ends.splice(0)) end();
  t.deepEqual(await again, { isKept: true });
});

for (const [mode, what, most, body] of [
  ['blocking-strict', 'that is waited for', 4, 'requestBody'],
  ['blocking-strict', 'that is waited for, and answers with it', 4, 'responseBody'],
  ['batch', 'that is given batches', 3, 'requestBody'],
] as const) {
  test(`a body counts by the values in it while a backend ${what} hangs: of lists of empty objects few are held`, async (t) => {
    const ends: (() => void)[] = [];
    const sent: number[] = [];
    const keep = audit([
      mode,
      (events) => {
        sent.push(events.length);
        return new Promise((resolve) => ends.push(resolve));
      },
    ]);
    const list = Buffer.from(JSON.stringify({ items: Array<object>(1_000).fill({}) }));
    const request = { level: 'Request', verb: 'patch', texts: undefined, objectRef: undefined };
    const one = {
      request,
      [body]: { contentType: 'application/json', bytes: list },
    } as unknown as UnreadAuditEvent;
    // Each comes to some 330 KB.
    const held = Array.from({ length: 6 }, () => keep(1, one));
    await settled();
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end();
      await settled();
    }
    await Promise.all(held);
    t.is(sent.length, most);
    const again = keep(1, one);
    await settled();
    t.is(sent.length, most + 1, 'there is room again');
    for (const end of ends.splice(0)) end();
    await again;
  });
}
