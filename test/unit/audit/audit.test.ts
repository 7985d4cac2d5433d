// What the audit actor answers whoever waits for an event to be recorded.
import test from 'ava';
import { type AuditMode, type AuditOptions, auditActor } from '../../../actors/audit/audit.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import type { AuditSink } from '../../../actors/audit/sinks.ts';
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

/** An audit actor over backends, each with its mode and what it does with events. */
function audit(...backends: readonly Backend[]) {
  const time = new VirtualTime();
  const log = { warn: () => {} };
  const context = { clock: time, timers: time, metrics: new MetricsRegistry(), log } as unknown as ActorContext;
  const options = {
    schema: schemaOf(DIALECTS.orch),
    gate: () => false,
    heapBytesMax: HEAP_BYTES_MAX,
    backends: backends.map(([mode, write]) => ({
      mode,
      limits: { bufferMax: 10, batchMax: 1, waitMs: 0, throttle: undefined, underWayMax: 1 },
      open: () => ({ name: 'webhook', isImmediate: false, write, close: () => Promise.resolve() }),
    })),
  } as AuditOptions;
  const actor = auditActor.create(context, options) as unknown as Actor<AuditProtocol>;
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

for (const [mode, what, most] of [
  ['blocking-strict', 'that is waited for', 4],
  ['batch', 'that is given batches', 3],
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
      requestBody: { contentType: 'application/json', bytes: list },
    } as unknown as UnreadAuditEvent;
    // Each comes to some 330 KB.
    const held = Array.from({ length: 6 }, () => keep(1, one));
    await new Promise((resolve) => setImmediate(resolve));
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(held);
    t.is(sent.length, most);
  });
}
