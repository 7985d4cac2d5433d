// How audit events are said to their backends: in groups that are not too large, and to a webhook until it takes them.
import test from 'ava';
import { EventsLost, LogSink, type TruncationLimits, WebhookSink } from '../../../actors/audit/sinks.ts';
import type { AuditEvent } from '../../../api/audit/event.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { ServiceRefused } from '../../../transport/outgoing/service-client.ts';

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

const NEVER: Pick<Timers, 'after'> = { after: () => ({ cancel: () => {} }) };

/** A webhook whose answers `deliver` makes, of batches of so many bytes. */
function webhook(
  batchBytesMax: number,
  deliver: (ids: readonly string[]) => Promise<void>,
  timers = NEVER,
): WebhookSink {
  const said = (json: string): readonly string[] =>
    (JSON.parse(json) as { items: { auditID: string }[] }).items.map(({ auditID }) => auditID);
  return new WebhookSink({
    form: {
      dialect: DIALECTS.orch,
      version: 'v1',
      truncation: { eventBytesMax: 100_000, batchBytesMax },
      onTooLarge: () => {},
    },
    client: { deliver: (json) => deliver(said(json)) } as ConstructorParameters<typeof WebhookSink>[0]['client'],
    timers,
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

/** A log that has taken events: what was appended to it, and how many were too large for it. */
function logged(events: readonly AuditEvent[], isLegacy: boolean, truncation: TruncationLimits | undefined) {
  const appended: string[] = [];
  let tooLarge = 0;
  const onTooLarge = (count: number): void => {
    tooLarge += count;
  };
  const sink = new LogSink({ dialect: DIALECTS.orch, version: 'v1', truncation, onTooLarge }, isLegacy, {
    append: (text) => void appended.push(text),
    close: async () => void appended.push('closed'),
  });
  sink.write(events);
  return { sink, appended, tooLarge };
}

const LARGE = { eventBytesMax: 100_000, batchBytesMax: 1_000_000 };

test('a log has a line for each audit event, as JSON or as it was before, and is closed when it ends', async (t) => {
  for (const truncation of [undefined, LARGE]) {
    const asJson = logged(['a', 'b'].map(eventOf), false, truncation);
    t.is(asJson.appended.length, 1, 'one write');
    const lines = asJson.appended[0]!.split('\n');
    t.is(lines.pop(), '');
    t.like(
      lines.map((line) => JSON.parse(line) as unknown),
      [
        { kind: 'Event', apiVersion: 'audit.orch.io/v1', auditID: 'a' },
        { kind: 'Event', apiVersion: 'audit.orch.io/v1', auditID: 'b' },
      ],
    );
    const asText = logged(['a', 'b'].map(eventOf), true, truncation);
    t.regex(asText.appended.join('|'), /^\S+ AUDIT: id="a" [^\n]*\n\S+ AUDIT: id="b" [^\n]*\n$/);
    await asText.sink.close();
    t.is(asText.appended.at(-1), 'closed');
  }
});

test('of an audit event that is too large the bodies are left out, and one without bodies is lost alone', (t) => {
  const body = { data: 'x'.repeat(1000) };
  const bodies = { requestObject: body, responseObject: body };
  const at = (level: AuditEvent['request']['level'], more: object, userAgent = ''): AuditEvent => {
    const event = eventOf(level);
    return { ...event, ...more, request: { ...event.request, level, userAgent } };
  };
  const events = [at('RequestResponse', bodies), at('Metadata', {}, 'x'.repeat(2000)), at('Request', {})];
  const { appended, tooLarge } = logged(events, false, { eventBytesMax: 1000, batchBytesMax: 1_000_000 });
  const [cut, whole, ...more] = appended
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  t.like(cut, {
    auditID: 'RequestResponse',
    annotations: { 'audit.orch.io/truncated': 'true' },
    requestObject: undefined,
    responseObject: undefined,
  });
  t.like(whole, { auditID: 'Request', annotations: undefined });
  t.deepEqual([more.length, tooLarge], [0, 1]);
  const [uncut] = logged([at('Request', bodies)], false, LARGE).appended;
  t.like(JSON.parse(uncut!), { requestObject: body });
});

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

/** How long a sink waits for each next try where its webhook refuses with these one after the other, and whether it takes the event at last. */
async function waitsFor(refusals: readonly Error[]): Promise<readonly [waits: readonly number[], isTaken: boolean]> {
  const waits: number[] = [];
  const left = [...refusals];
  const timers: typeof NEVER = {
    after: (ms, go) => {
      waits.push(ms);
      queueMicrotask(go);
      return { cancel: () => {} };
    },
  };
  const sink = webhook(
    1_000_000,
    async () => {
      const refusal = left.shift();
      if (refusal !== undefined) throw refusal;
    },
    timers,
  );
  const isTaken = await sink.write([eventOf('a')]).then(
    () => true,
    () => false,
  );
  return [waits, isTaken];
}

test('a webhook that says when it takes audit events again is asked then, beside its tries, unless it makes no end of it', async (t) => {
  const busy = new ServiceRefused(429, '', 60_000);
  const failing = new ServiceRefused(500, '');
  const away = new ServiceRefused(503, '', 3_600_000);
  const tries = [failing, failing, failing, failing];
  t.deepEqual(await waitsFor([...tries, busy, busy]), [[1000, 1500, 2250, 3375, 60_000, 60_000], true]);
  t.deepEqual(await waitsFor([...tries, busy, busy, failing]), [[1000, 1500, 2250, 3375, 60_000, 60_000], false]);
  t.deepEqual(await waitsFor([away]), [[1000], true], 'nobody waits for an hour');
  t.is((await waitsFor(Array(15).fill(busy)))[0].length, 14, 'ten times, and what is left of the tries');
});

test('a group of audit events that a webhook never takes keeps none behind it from being sent, and alone is lost', async (t) => {
  const taken: string[] = [];
  const atOnce: typeof NEVER = {
    after: (_ms, go) => {
      queueMicrotask(go);
      return { cancel: () => {} };
    },
  };
  const sink = webhook(
    1,
    async ([id]) => {
      if (id === 'a' || id === 'd') throw new ServiceRefused(413, '');
      taken.push(id!);
    },
    atOnce,
  );
  const error = await t.throwsAsync(sink.write(['a', 'b', 'c', 'd', 'e'].map(eventOf)), { instanceOf: EventsLost });
  t.deepEqual(taken, ['b', 'c', 'e']);
  t.is(error?.count, 2);
  t.is(error?.message, 'the service answered 413');
});
