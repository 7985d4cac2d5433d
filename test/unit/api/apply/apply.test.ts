// Server-side apply, case by case: what becomes of the object, who owns what afterwards, which applies are refused.
import test from 'ava';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { CASES } from './apply-cases.ts';
import { REFUSALS } from './apply-refusals.ts';
import { CONFIG_MAP, containers, data, image, POD, perform } from './apply-steps.ts';
import { LiveObject, type Writable } from './live-object.ts';

for (const { does, kind, steps, content, owners = {}, fields = {}, unchanged } of CASES) {
  test(`an apply ${does}`, (t) => {
    const live = new LiveObject(kind);
    for (const step of steps) perform(live, step);
    if (content !== undefined) t.like(live.content, content);
    if (content?.data !== undefined) t.deepEqual(live.content.data, content.data);
    for (const [path, names] of Object.entries(owners)) t.deepEqual(live.ownersOf(path), names.map(fullName), path);
    for (const [manager, paths] of Object.entries(fields)) t.deepEqual([...live.fieldsOf(manager)].sort(), paths);
    if (unchanged !== undefined) t.is(live.unchanged, unchanged);
  });
}

for (const { of, kind, steps, given, by = 'refused', code, names, message } of REFUSALS) {
  test(`an apply is refused: ${of}`, (t) => {
    const live = new LiveObject(kind);
    for (const step of steps) perform(live, step);
    const status = refusalOf(() => live.apply(by, given));
    t.is(status?.code, code);
    if (names !== undefined) t.deepEqual(status?.fields, names);
    if (message !== undefined) t.true(status?.message.includes(message), status?.message);
  });
}

test('two managers of an element do not conflict over fields they both set alike', (t) => {
  const live = new LiveObject(POD);
  live.apply('a', containers(image('x', '1')));
  t.notThrows(() => live.apply('b', containers({ ...image('x', '1'), tty: true })));
});

test('an applier that gives up all metadata takes away none that nobody owns', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.apply('a', { metadata: { labels: { a: '1' } }, data: { x: '1' } });
  live.update('u', (object) => {
    object.metadata.annotations = { note: 'of nobody' };
  });
  live.update('u', (object) => {
    object.metadata.managedFields = object.metadata.managedFields.filter((entry: Writable) => entry.manager === 'a');
  });
  live.apply('a', data({ x: '1' }));
  t.deepEqual(live.content, { metadata: { annotations: { note: 'of nobody' } }, data: { x: '1' } });
});

test('the time of an entry is that of the last apply that made a difference', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.apply('a', data({ x: '1' }));
  const first = live.entries[0]!.time;
  live.apply('a', data({ x: '1' }));
  t.is(live.entries[0]!.time, first);
  live.apply('a', data({ x: '2' }));
  t.not(live.entries[0]!.time, first);
});

test('an applier is the same in every version of the API', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.apply('a', data({ x: '1', y: '1' }));
  live.apply('a', { apiVersion: 'v1', ...data({ x: '1' }) }, { apiVersion: 'v2' });
  t.deepEqual(
    live.entries.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`),
    ['a v2'],
  );
  t.deepEqual(live.content, { data: { x: '1' } });
});

test('appliers stand before updaters, each by time and then by name', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.create('z', data({ z: '1' }));
  live.apply('b', data({ b: '1' }));
  live.apply('a', data({ a: '1' }));
  live.update('y', (object) => {
    object.data.y = '1';
  });
  t.deepEqual(
    live.entries.map(({ manager, operation }) => `${manager}/${operation}`),
    ['b/Apply', 'a/Apply', 'z/Update', 'y/Update'],
  );
});

/** `a` is short for a/Apply, `A` for a/Update. */
function fullName(short: string): string {
  if (short.includes('/')) return short;
  return short === short.toLowerCase() ? `${short}/Apply` : `${short.toLowerCase()}/Update`;
}

function refusalOf(action: () => void): { code: number; message: string; fields: readonly string[] } | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return { code: 400, message: error.message, fields: [] };
    if (!isStatusError(error)) throw error;
    const { code = 0, message = '', details } = error.status;
    return { code, message, fields: (details?.causes ?? []).map(({ field = '' }) => field) };
  }
}
