// How audit events are said to their backends: in groups that are not too large, and to a webhook until it takes them.
import test from 'ava';
import { WebhookSink } from '../../../actors/audit/sinks.ts';
import type { AuditEvent } from '../../../api/audit/event.ts';
import { DIALECTS } from '../../../config/dialect.ts';

function eventOf(auditID: string): AuditEvent {
  return {
    request: {
      texts: undefined,
      level: 'Metadata',
      auditID,
      requestURI: '/',
      verb: 'get',
      user: null,
      sourceIPs: [],
      userAgent: '',
      objectRef: undefined,
      receivedMs: 0,
    },
    stage: 'ResponseComplete',
    stageMs: 0,
    impersonatedUser: undefined,
    responseStatus: undefined,
    requestObject: undefined,
    responseObject: undefined,
    annotations: {},
  };
}

/** A webhook whose answers `deliver` makes, of batches of so many bytes. */
function webhook(batchBytesMax: number, deliver: (ids: readonly string[]) => Promise<void>): WebhookSink {
  const said = (json: string): readonly string[] =>
    (JSON.parse(json) as { items: { auditID: string }[] }).items.map(({ auditID }) => auditID);
  return new WebhookSink({
    form: {
      dialect: DIALECTS.orch,
      version: 'v1',
      truncation: { eventBytesMax: 100_000, batchBytesMax },
      onTooLarge: () => {},
    },
    client: { deliver: (json) => deliver(said(json)), close: () => {} } as ConstructorParameters<
      typeof WebhookSink
    >[0]['client'],
    timers: { after: () => ({ cancel: () => {} }) },
    random: { next: () => 0 },
    firstBackoffMs: 1000,
  });
}

/** The groups that five events of one size make. */
async function groupsOf(batchBytesMax: number): Promise<readonly string[]> {
  const sent: string[] = [];
  const sink = webhook(batchBytesMax, async (ids) => void sent.push(ids.join('')));
  await sink.write(['a', 'b', 'c', 'd', 'e'].map(eventOf));
  return sent;
}

test('a group of audit events is as large as it may be, and one that is larger by itself goes alone', async (t) => {
  t.deepEqual(await groupsOf(1), ['a', 'b', 'c', 'd', 'e']);
  t.deepEqual(await groupsOf(1_000_000), ['abcde']);
  const sizes = new Set<string>();
  for (let bytes = 100; bytes < 4000; bytes += 50) sizes.add((await groupsOf(bytes)).join(' '));
  t.deepEqual([...sizes], ['a b c d e', 'ab cd e', 'abc de', 'abcd e', 'abcde']);
});

test('audit events that wait for another try when their webhook is closed have one more', async (t) => {
  let tries = 0;
  const sink = webhook(1_000_000, async () => {
    tries++;
    throw new Error('no');
  });
  let failed = '';
  void sink.write([eventOf('a')]).catch((error: Error) => {
    failed = error.message;
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  t.deepEqual([tries, failed], [1, '']);
  await sink.close();
  await settle();
  t.deepEqual([tries, failed], [2, 'no']);
});
