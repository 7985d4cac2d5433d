// Which of the names that definitions of custom types ask for are theirs.
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { DIALECT, type Fixture, started } from './fixture.ts';
import type { Stored } from './stored.ts';

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
