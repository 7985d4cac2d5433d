// Goal: the option table is complete and sound. Method: against the list of names in the contract, and by reading every
// default as if it had been typed.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { DIALECT_NAMES } from '../../../config/dialect.ts';
import { ALL_PROGRAMS, type Program } from '../../../config/options/option.ts';
import { GROUP_TITLES, OPTIONS, programOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';

interface SpecOptions {
  readonly apiserver: readonly string[];
  readonly scheduler: readonly string[];
}

const specOptions = JSON.parse(readFileSync('test/fixtures/spec-options.json', 'utf8')) as SpecOptions;

const namesOf = (program: Program): ReadonlySet<string> =>
  new Set(programOptions(program).flatMap(({ name, aliases = [] }) => [name, ...aliases]));

for (const program of ['apiserver', 'scheduler'] as const) {
  test(`every option the contract names for the ${program} is accepted by it`, (t) => {
    const names = namesOf(program);
    t.true(specOptions[program].length > 50);
    t.deepEqual(
      specOptions[program].filter((name) => !names.has(name)),
      [],
    );
  });
}

test('up accepts every option of the API server', (t) => {
  const names = namesOf('up');
  t.deepEqual(
    specOptions.apiserver.filter((name) => !names.has(name)),
    [],
  );
});

test('an option of another program is not accepted', (t) => {
  // The controller manager's: its loops run beside the API server here, and not beside a scheduler.
  t.false(namesOf('scheduler').has('controllers'));
  t.false(namesOf('apiserver').has('leader-elect'));
  t.false(namesOf('scheduler').has('token-auth-file'));
});

test('a program has one option of each name, letter and property', (t) => {
  for (const program of ALL_PROGRAMS) {
    const options = programOptions(program);
    const names = options.flatMap(({ name, aliases = [], formerNames = [] }) => [name, ...aliases, ...formerNames]);
    const letters = options.flatMap(({ shorthand }) => (shorthand === undefined ? [] : [shorthand]));
    const properties = options.map(({ property }) => property);
    for (const all of [names, letters, properties]) t.is(new Set(all).size, all.length);
  }
});

test('every default can be typed by an operator of either dialect without a complaint about it', (t) => {
  for (const program of ALL_PROGRAMS) {
    for (const dialect of DIALECT_NAMES) {
      t.is(parseArguments(program, ['--api-dialect', dialect]).action, 'run', `${program} ${dialect}`);
    }
  }
});

test('every option says what it does, and its working values are among its values', (t) => {
  for (const { name, type, effect, values, valuesInForce = [] } of OPTIONS) {
    t.regex(effect[1], /^[^\n]{3,90}[^.\n]$/, name);
    const possible = values ?? (type === 'bool' ? ['true', 'false'] : undefined);
    t.deepEqual(
      valuesInForce.filter((value) => possible?.includes(value) === false),
      [],
      name,
    );
  }
});

test('every row has a known heading and a description of one line that ends as a sentence', (t) => {
  for (const { name, group, description } of OPTIONS) {
    t.true(GROUP_TITLES.includes(group), name);
    t.regex(description, /^[^\n]{5,120}\.$/, name);
  }
});
