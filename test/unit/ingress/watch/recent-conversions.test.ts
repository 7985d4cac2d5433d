// What the watches of a thread ask of a definition's webhook together.
import test from 'ava';
import type { AdmissionProtocol } from '../../../../actors/admission/protocol.ts';
import { OutsideConversion } from '../../../../actors/ingress/outside-conversion.ts';
import { linesOf, RecentConversions } from '../../../../actors/ingress/watch/recent-conversions.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { serviceUnavailable } from '../../../../api/status/failures.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import type { Ref } from '../../../../runtime/actor.ts';
import { HeapRoom } from '../../../../runtime/memory/heap-room.ts';
import { createSimulation } from '../../../../runtime/simulation/simulation.ts';

const typeOf = (key: string): KnownType =>
  ({ group: 'g', version: 'v2', plural: 'things', custom: { form: { key } } }) as unknown as KnownType;
const TYPE = typeOf('things.g 1 v2');

const line = (type: string, name: string, text = ''): string =>
  JSON.stringify({ type, object: { apiVersion: 'g/v1', metadata: { name }, text } });

const HEAP_ROOM_BYTES = 1024 * 1024;

/** Conversions of a webhook that answers when it is told to, or at once; and the names of what it was asked about. */
function world() {
  const { time, environment } = createSimulation(1);
  const asked: string[][] = [];
  const answers: (() => void)[] = [];
  const state = { isSlow: false, isFailing: false };
  const ask = async ({ objects }: { objects: readonly JsonObject[] }) => {
    asked.push(objects.map(({ metadata }) => (metadata as { name: string }).name));
    if (state.isSlow) await new Promise<void>((resolve) => void answers.push(resolve));
    if (state.isFailing) return { refused: serviceUnavailable('the webhook is away') };
    return { refused: undefined, objects: objects.map((object) => ({ ...object, apiVersion: 'g/v2' })) };
  };
  const admission = { ask } as unknown as Ref<AdmissionProtocol>;
  const conversion = new OutsideConversion(admission, 60_000, environment.timers, new HeapRoom(HEAP_ROOM_BYTES));
  const recent = new RecentConversions(conversion, environment.clock);
  const names = async (lines: readonly string[], type = TYPE): Promise<readonly string[]> =>
    (await recent.into(type, lines, 1)).map(
      ({ type: is, object }) => `${is} ${(object.metadata as { name?: string }).name} ${object.apiVersion}`,
    );
  return { time, asked, answers, state, names };
}

test('of watches that stand at different places of the history, each event is asked about once', async (t) => {
  const { time, asked, answers, state, names } = world();
  // A thread that has run for long.
  await time.advance(3_600_000);
  state.isSlow = true;
  const [a, b, c] = [line('ADDED', 'a'), line('MODIFIED', 'b'), line('DELETED', 'c')];
  const bookmark = JSON.stringify({ type: 'BOOKMARK', object: { apiVersion: 'g/v2', metadata: { name: 'mark' } } });
  const first = names([a, b]);
  const second = names([b, bookmark, c]);
  const third = names([a, b, c]);
  await time.runUntilIdle();
  t.deepEqual(asked, [['a', 'b'], ['c']]);
  for (const answer of answers) answer();
  t.deepEqual(await first, ['ADDED a g/v2', 'MODIFIED b g/v2']);
  t.deepEqual(await second, ['MODIFIED b g/v2', 'BOOKMARK mark g/v2', 'DELETED c g/v2']);
  t.deepEqual(await third, ['ADDED a g/v2', 'MODIFIED b g/v2', 'DELETED c g/v2']);
  t.deepEqual(await names([c, a]), ['DELETED c g/v2', 'ADDED a g/v2'], 'a moment later it is known yet');
  t.is(asked.length, 2);
});

test('an event is asked about again after a while, for another state of its definition, and where it was another object', async (t) => {
  const { time, asked, names } = world();
  await names([line('MODIFIED', 'a')]);
  await names([line('MODIFIED', 'a')], typeOf('things.g 2 v2'));
  await names([line('MODIFIED', 'a', 'changed')]);
  t.is(asked.length, 3);
  await time.advance(60_000);
  await names([line('MODIFIED', 'a')]);
  t.is(asked.length, 4);
});

test('what a webhook failed to convert is told to all who wait for it, and asked again', async (t) => {
  const { time, asked, answers, state, names } = world();
  Object.assign(state, { isSlow: true, isFailing: true });
  const refusals = [names([line('ADDED', 'a')]), names([line('ADDED', 'a'), line('ADDED', 'b')])].map((failed) =>
    t.throwsAsync(failed, { message: 'the webhook is away' }),
  );
  await time.runUntilIdle();
  for (const answer of answers) answer();
  for (const refusal of refusals) t.true(isStatusError(await refusal));
  Object.assign(state, { isSlow: false, isFailing: false });
  t.deepEqual(await names([line('ADDED', 'a')]), ['ADDED a g/v2']);
  t.is(asked.length, 3);
});

test('no more is kept than two megabytes, the oldest least', async (t) => {
  const { asked, names } = world();
  const long = (name: string): string => line('ADDED', name, 'x'.repeat(200 * 1024));
  const all = Array.from({ length: 15 }, (_, at) => `o${at}`);
  for (const name of all) await names([long(name)]);
  t.is(asked.length, 15);
  await names([long('o14'), long('o13')]);
  t.is(asked.length, 15);
  await names([long('o0')]);
  t.is(asked.length, 16);
});

test('what is asked about again after a while is counted once among what is kept', async (t) => {
  const { time, asked, names } = world();
  const long = line('ADDED', 'long', 'x'.repeat(200 * 1024));
  const TIMES = 20;
  for (let again = 0; again < TIMES; again++) {
    await names([long]);
    await time.advance(60_000);
  }
  await names([long]);
  await names([line('ADDED', 'short')]);
  t.is(asked.length, TIMES + 2);
  await names([long, line('ADDED', 'short')]);
  t.is(asked.length, TIMES + 2);
});

test('no more events of watches wait for a slow webhook, read, than the heap has room for', async (t) => {
  const { time, asked, answers, state, names } = world();
  state.isSlow = true;
  const many = Array<object>(2_000).fill({});
  const all = Array.from({ length: 12 }, (_, at) =>
    names([JSON.stringify({ type: 'ADDED', object: { apiVersion: 'g/v1', metadata: { name: `o${at}` }, many } })]),
  );
  await time.runUntilIdle();
  t.true(asked.length > 1 && asked.length < 6, String(asked.length));
  state.isSlow = false;
  for (const answer of answers) answer();
  await Promise.all(all);
  t.is(asked.length, 12);
});

test('a chunk is read a line at a time', (t) => {
  t.deepEqual(linesOf(Buffer.from('{"a":1}\n{"b":"ü"}\n')), ['{"a":1}', '{"b":"ü"}']);
});
