// How audit events get to the audit actor: together, one by one, or not at all.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { type AuditWaits, EventGroups, type EventGroupsParts } from '../../../actors/auditing/audit-event-groups.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { Soon } from '../../../runtime/soon.ts';

interface Sent {
  readonly type: string;
  readonly ids: readonly string[];
}

const eventOf = (
  auditID: string,
  bodyBytes = 0,
  body: 'requestBody' | 'responseBody' = 'requestBody',
): UnreadAuditEvent =>
  ({
    request: { auditID },
    [body]: bodyBytes === 0 ? undefined : { contentType: '', bytes: new Uint8Array(bodyBytes) },
  }) as unknown as UnreadAuditEvent;

/** An audit actor that answers as it is told, and turns that end when they are told to. */
function harness(waits: AuditWaits, answer: () => Soon<{ isKept: boolean }> = async () => ({ isKept: true })) {
  const sent: Sent[] = [];
  const bodies: number[] = [];
  const turns: (() => void)[] = [];
  const state = { lost: 0, isFull: false, deadlineMs: 0 };
  const take = ({ type, events }: { type: string; events: readonly UnreadAuditEvent[] }): void => {
    sent.push({ type, ids: events.map(({ request }) => request.auditID) });
    for (const { requestBody, responseBody } of events) {
      for (const body of [requestBody, responseBody]) if (body !== undefined) bodies.push(body.bytes.length);
    }
  };
  const audit = {
    askSoon: (message: Parameters<typeof take>[0], { deadlineMs }: { deadlineMs: number }) => {
      state.deadlineMs = deadlineMs;
      take(message);
      return answer();
    },
    tell: (message: Parameters<typeof take>[0]) => {
      if (!state.isFull) take(message);
      return state.isFull ? 'full' : 'queued';
    },
  } as unknown as EventGroupsParts['audit'];
  const onLost = (count: number): void => {
    state.lost += count;
  };
  const timers = {
    soon: (callback: () => void) => void turns.push(callback),
    after: (_ms: number, callback: () => void) => {
      turns.push(callback);
      return { cancel: () => void turns.splice(turns.indexOf(callback), 1) };
    },
  };
  const groups = new EventGroups({ waits, audit, timers, requestTimeoutMs: 1000, onLost });
  const endTurn = (): void => {
    for (const turn of turns.splice(0)) turn();
  };
  return { groups, sent, bodies, state, endTurn };
}

test('the audit events of a turn go as one message, and nobody has to wait for them in batch mode', async (t) => {
  const { groups, sent, state, endTurn } = harness('none');
  const kept = ['a', 'b'].map((id) => groups.keep(eventOf(id)));
  t.deepEqual(sent, []);
  endTurn();
  groups.add(eventOf('c'));
  endTurn();
  t.deepEqual(sent, [
    { type: 'events', ids: ['a', 'b'] },
    { type: 'events', ids: ['c'] },
  ]);
  t.deepEqual(await Promise.all(kept), [true, true]);
  state.isFull = true;
  for (const id of ['d', 'e', 'f']) groups.add(eventOf(id));
  endTurn();
  t.is(state.lost, 3);
});

test('audit events that nobody waits for go when there are enough of them', (t) => {
  const { groups, sent, endTurn } = harness('none');
  for (let added = 0; added < 270; added++) groups.add(eventOf(`e${added}`));
  t.deepEqual(
    sent.map(({ ids }) => ids.length),
    [128, 128],
  );
  endTurn();
  t.deepEqual(
    sent.map(({ ids }) => ids.length),
    [128, 128, 14],
  );
  endTurn();
  t.is(sent.length, 3);
});

test('what has been gathered of audit events can be sent before its turn ends, and is sent once', (t) => {
  const { groups, sent, endTurn } = harness('none');
  groups.add(eventOf('a'));
  groups.flush();
  endTurn();
  groups.flush();
  t.deepEqual(sent, [{ type: 'events', ids: ['a'] }]);
});

test('requests that wait for their audit event hear together whether it was kept', async (t) => {
  const { groups, sent, state, endTurn } = harness('together', async () => ({ isKept: false }));
  const kept = ['a', 'b'].map((id) => groups.keep(eventOf(id)));
  endTurn();
  t.deepEqual(await Promise.all(kept), [false, false]);
  t.deepEqual(sent, [{ type: 'keep', ids: ['a', 'b'] }]);
  t.is(state.deadlineMs, 1000, 'for as long as a request may take');
});

test('an audit event for a webhook that is waited for goes by itself', async (t) => {
  const { groups, sent } = harness('each');
  const kept = ['a', 'b'].map((id) => groups.keep(eventOf(id)));
  t.deepEqual(sent, [
    { type: 'keep', ids: ['a'] },
    { type: 'keep', ids: ['b'] },
  ]);
  t.deepEqual(await Promise.all(kept), [true, true]);
});

test('an audit event is waited for as long as whoever waits the longest still may', (t) => {
  const held = { release: () => {} };
  const one = harness('each');
  one.groups.add(eventOf('a'), held, 400);
  t.is(one.state.deadlineMs, 400);
  const many = harness('together');
  for (const heldMs of [400, 700, 100]) many.groups.add(eventOf('a'), held, heldMs);
  many.endTurn();
  t.is(many.state.deadlineMs, 700);
});

test('audit events that were not taken are lost, and those that only take long are not', async (t) => {
  let code: 'Overloaded' | 'DeadlineExceeded' = 'Overloaded';
  const { groups, state, endTurn } = harness('together', () => Promise.reject(new OrchError(code, 'no')));
  const refused = [groups.keep(eventOf('a')), groups.keep(eventOf('b'))];
  endTurn();
  for (const one of refused) await t.throwsAsync(one);
  t.is(state.lost, 2);
  code = 'DeadlineExceeded';
  const late = groups.keep(eventOf('c'));
  endTurn();
  await t.throwsAsync(late);
  t.is(state.lost, 2);
});

for (const [how, waits, answer] of [
  ['with the answer', 'together', undefined],
  ['where they are written at once', 'together', () => ({ isKept: true })],
  ['where nobody waits for them', 'none', undefined],
] as const) {
  test(`bodies that are on their way to the audit actor have an end, and are let go ${how}`, async (t) => {
    const megabyte = 1024 * 1024;
    const { groups, bodies, sent, endTurn } = harness(waits, answer);
    const fill = async (body: 'requestBody' | 'responseBody'): Promise<void> => {
      const kept = Array.from({ length: 5 }, (_, index) => groups.keep(eventOf(`e${index}`, 20 * megabyte, body)));
      endTurn();
      await Promise.all(kept);
    };
    await fill('requestBody');
    t.is(bodies.length, 3);
    await fill('responseBody');
    t.is(bodies.length, 6);
    t.is(sent.flatMap(({ ids }) => ids).length, 10, 'the events go without them');
  });
}

test('whoever waits for an audit event goes on once, whatever becomes of it', async (t) => {
  const answers = [Promise.resolve({ isKept: false }), Promise.reject(new OrchError('Overloaded', 'no'))];
  const { groups, endTurn } = harness('together', () => answers.shift()!);
  for (const _ of [1, 2]) {
    const went: string[] = [];
    for (const id of ['a', 'b']) groups.add(eventOf(id), { release: () => void went.push(id) });
    const kept = groups.keep(eventOf('c'));
    t.is(groups.waiting, 2);
    endTurn();
    t.deepEqual(went, []);
    await Promise.allSettled([kept]);
    t.deepEqual(went, ['a', 'b']);
    t.is(groups.waiting, 0);
  }
});

test('whoever waits for an event that is written at once goes on in the same turn', async (t) => {
  const { groups, endTurn } = harness('together', () => ({ isKept: true }));
  const went: string[] = [];
  groups.add(eventOf('a'), { release: () => void went.push('a') });
  const kept = groups.keep(eventOf('b'));
  t.deepEqual(went, []);
  endTurn();
  t.deepEqual(went, ['a']);
  t.is(groups.waiting, 0);
  t.true(await kept);
});
