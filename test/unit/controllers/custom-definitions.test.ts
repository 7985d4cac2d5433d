// Which of the names that definitions of custom types ask for are theirs, and what becomes of those that are deleted.
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { CustomTypes } from '../../../actors/controllers/custom-types.ts';
import { CustomDefinitions } from '../../../actors/controllers/extension/custom-definitions.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECT, type Fixture, started } from './fixture.ts';
import type { Loose, Stored } from './stored.ts';

const GROUP = DIALECT.spell('apiextensions.@group');
const DEFINITIONS = `${GROUP}/customresourcedefinitions`;

interface Names {
  readonly kind: string;
  readonly shortNames?: string[];
}

/** A definition in the group `x.test`, as it lies in the store. */
function definitionOf(plural: string, { kind, shortNames = [] }: Names, more: Partial<Stored> = {}): Stored {
  const names = { plural, singular: kind.toLowerCase(), shortNames, kind, listKind: `${kind}List` };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.x.test`, uid: plural },
    spec: { group: 'x.test', scope: 'Namespaced', names, conversion: { strategy: 'None' }, versions },
    ...more,
  };
}

const stored = (f: Fixture, plural: string): Stored | undefined => f.cluster.get(DEFINITIONS, '', `${plural}.x.test`);

/** What has been said of a definition's names; undefined: nothing yet. */
function answerOf(f: Fixture, plural: string): string | undefined {
  const conditions = (stored(f, plural)?.status?.conditions ?? []) as { type: string; status: string }[];
  return conditions.find(({ type }) => type === 'NamesAccepted')?.status;
}

/** Those whose names have been accepted. */
const accepted = (f: Fixture, plurals: readonly string[]): string[] =>
  plurals.filter((plural) => answerOf(f, plural) === 'True');

/** Virtual time does not wait for the code that the first write of a process loads. */
async function until(f: Fixture, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await f.time.advance(1000);
    await nextTurn();
  }
}

const areAnswered = (f: Fixture, plurals: readonly string[]) =>
  until(f, () => plurals.every((plural) => answerOf(f, plural) !== undefined));

test('of definitions that ask for one kind at once one is given it, and the next when that one has gone', async (t) => {
  const f = await started();
  const plurals = ['as', 'bs', 'cs'];
  for (const plural of plurals) f.cluster.put(DEFINITIONS, definitionOf(plural, { kind: 'Same' }));
  await areAnswered(f, plurals);
  const [first, ...others] = accepted(f, plurals);
  t.deepEqual(others, []);
  f.cluster.remove(DEFINITIONS, '', `${first}.x.test`);
  await until(f, () => accepted(f, plurals).length > 0);
  await f.time.settle();
  t.is(accepted(f, plurals).length, 1);
});

test('a definition that was refused a name is given it when the one that had it has another', async (t) => {
  const f = await started();
  f.cluster.put(DEFINITIONS, definitionOf('as', { kind: 'A', shortNames: ['x'] }));
  await areAnswered(f, ['as']);
  f.cluster.put(DEFINITIONS, definitionOf('bs', { kind: 'B', shortNames: ['x'] }));
  await areAnswered(f, ['bs']);
  t.deepEqual(accepted(f, ['as', 'bs']), ['as']);
  const { status } = stored(f, 'as')!;
  f.cluster.put(DEFINITIONS, definitionOf('as', { kind: 'A', shortNames: ['y'] }, { status: status! }));
  await f.time.advance(60_000);
  t.deepEqual(accepted(f, ['as', 'bs']), ['as', 'bs']);
});

test('a name that could not be written down for a definition that wants another now is free for others', async (t) => {
  const f = await started();
  let refused = false;
  f.cluster.fault = ({ target: { name } }) => {
    if (refused || name !== 'as.x.test') return undefined;
    refused = true;
    f.cluster.put(DEFINITIONS, definitionOf('as', { kind: 'A', shortNames: ['y'] }));
    return new Error('no answer');
  };
  f.cluster.put(DEFINITIONS, definitionOf('as', { kind: 'A', shortNames: ['x'] }));
  f.cluster.put(DEFINITIONS, definitionOf('bs', { kind: 'B', shortNames: ['x'] }));
  await areAnswered(f, ['as', 'bs']);
  await f.time.advance(60_000);
  t.deepEqual(accepted(f, ['as', 'bs']), ['as', 'bs']);
});

test('a name that a definition cannot be given is given to another that asks for it', async (t) => {
  const f = await started();
  f.cluster.fault = ({ target: { name } }) => (name === 'as.x.test' ? { code: 403, body: {} } : undefined);
  f.cluster.put(DEFINITIONS, definitionOf('as', { kind: 'Same' }));
  f.cluster.put(DEFINITIONS, definitionOf('bs', { kind: 'Same' }));
  await until(f, () => accepted(f, ['as', 'bs']).length > 0);
  t.deepEqual(accepted(f, ['as', 'bs']), ['bs']);
});

const FINALIZER = `customresourcecleanup.${GROUP}`;

/** One that is being deleted. */
function deletedOf(plural: string, finalizers: string[] = [FINALIZER]): Stored {
  const definition = definitionOf(plural, { kind: plural.toUpperCase() });
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  return { ...definition, metadata: { ...definition.metadata, finalizers, deletionTimestamp } };
}

const ESTABLISHED = { type: 'Established', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

function establishedOf(plural: string, finalizers?: string[]): Stored {
  const definition = deletedOf(plural, finalizers);
  return { ...definition, status: { acceptedNames: definition.spec!.names!, conditions: [ESTABLISHED] } };
}

function putInstance(f: Fixture, plural: string, namespace: string, finalizers?: string[]): void {
  const metadata = { name: 'i', namespace, ...(finalizers === undefined ? {} : { finalizers }) };
  f.cluster.put(`x.test/${plural}`, { apiVersion: 'x.test/v1', kind: plural.toUpperCase(), metadata });
}

/** The Terminating conditions that a definition was given, by their reasons. */
const stagesOf = (f: Fixture, plural: string): unknown[] =>
  f
    .writesOf('update customresourcedefinitions/status')
    .filter(({ request }) => request.target.name === `${plural}.x.test`)
    .map(({ body }) => (body!.status!.conditions as Loose[]).find(({ type }) => type === 'Terminating')?.reason);

test('a definition goes when the last of its objects has: they are deleted a namespace at a time, again until they are gone', async (t) => {
  const f = await started();
  putInstance(f, 'as', 'one');
  putInstance(f, 'as', 'two', ['example.com/held']);
  f.cluster.put(DEFINITIONS, establishedOf('as'));
  await until(f, () => f.cluster.names('x.test/as').length === 1);
  await f.time.advance(12_000);
  t.deepEqual(f.cluster.names('x.test/as'), ['two/i']);
  t.deepEqual(stagesOf(f, 'as'), ['InstanceDeletionInProgress']);
  const swept = f.writesOf('deletecollection as').map(({ request }) => request.target);
  t.deepEqual([...new Set(swept.slice(0, 2).map(({ namespace }) => namespace))].sort(), ['one', 'two']);
  t.true(swept.slice(2).length >= 2, 'what was left is swept again');
  t.true(swept.slice(2).every(({ namespace }) => namespace === 'two'));
  f.cluster.remove('x.test/as', 'two', 'i');
  await f.time.settle();
  await f.time.settle();
  t.deepEqual(stagesOf(f, 'as'), ['InstanceDeletionInProgress', 'InstanceDeletionCompleted']);
  t.is(stored(f, 'as'), undefined);
});

test('a definition that was never established goes at once, whatever lies in its place', async (t) => {
  const f = await started();
  putInstance(f, 'as', 'one');
  f.cluster.put(DEFINITIONS, deletedOf('as'));
  await until(f, () => stagesOf(f, 'as').length > 0);
  await f.time.advance(60_000);
  t.deepEqual(stagesOf(f, 'as'), ['NeverEstablished']);
  t.is(stored(f, 'as'), undefined);
  t.deepEqual(f.cluster.names('x.test/as'), ['one/i']);
  t.is(f.writesOf('deletecollection as').length, 0);
});

test('a definition that others hold is not emptied again once that is done', async (t) => {
  const f = await started();
  f.cluster.put(DEFINITIONS, establishedOf('as', ['example.com/before', FINALIZER, 'example.com/behind']));
  const finalizers = () => stored(f, 'as')?.metadata.finalizers;
  await until(f, () => finalizers()?.length === 2);
  t.deepEqual(finalizers(), ['example.com/before', 'example.com/behind']);
  putInstance(f, 'as', 'one');
  await f.time.advance(60_000);
  t.deepEqual(f.cluster.names('x.test/as'), ['one/i']);
  t.deepEqual(stagesOf(f, 'as'), ['InstanceDeletionCompleted']);
});

test('a definition waits for what its objects owned, a minute at most', (t) => {
  const registry = createRegistry(DIALECT);
  const types = new CustomTypes(registry);
  let nowMs = 5000;
  let isBehind = true;
  const asked: unknown[] = [];
  const collector = {
    isBehind: (owners: { group: string; kind: string }) => {
      asked.push(owners);
      return isBehind;
    },
  };
  const clock = { monotonicMs: () => nowMs, nowMs: () => Date.parse('2026-01-01T00:00:00Z') };
  const controller = new CustomDefinitions(clock, { add: () => {} }, DIALECT, types, collector);
  const put = (object: Stored): void => {
    const text = JSON.stringify(object);
    const { name } = object.metadata;
    const parsed = (parse: (text: string) => unknown): unknown => parse(text);
    const event = { type: 'put', storageKey: types.storageKey, namespace: '', name, revision: 1, parsed };
    types.onEvent(event as never);
    controller.onEvent(event as never);
  };
  const definition = establishedOf('as');
  const terminated = { type: 'Terminating', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const done = { ...terminated, reason: 'InstanceDeletionCompleted', message: 'removed all instances' };
  put({ ...definition, status: { ...definition.status!, conditions: [ESTABLISHED, done] } });
  const plan = () => controller.plan('as.x.test');
  t.deepEqual(plan(), { writes: [], againAfterMs: 200 });
  t.deepEqual(asked, [{ group: 'x.test', kind: 'AS' }]);
  nowMs += 59_999;
  t.deepEqual(plan(), { writes: [], againAfterMs: 200 });
  nowMs += 1;
  t.is(plan().writes.length, 1);
  t.like(plan().writes[0], { verb: 'update', target: { subresource: '', name: 'as.x.test' } });
  controller.reset();
  types.reset();
  put({ ...definition, status: { ...definition.status!, conditions: [ESTABLISHED, done] } });
  t.is(plan().writes.length, 0);
  isBehind = false;
  t.is(plan().writes.length, 1);
});
