// Goal: no option says yes and does nothing. Method: the whole table. What is refused must be refused when it is set, what is
// not in force must have its line at a start, and what is in force must have a test that sees its effect.
import test from 'ava';
import { COMMANDS } from '../../../config/commands.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Option, Program } from '../../../config/options/option.ts';
import type { ValueTypeName } from '../../../config/options/value-types.ts';
import { OPTIONS } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';
import { UsageError } from '../../../config/usage-error.ts';
import { readText } from '../source-tree.ts';
import { PROOFS, UNSEEN } from './option-proofs.ts';

const EFFECTS_FILE = 'integration/option-effects.test.ts';

/** The titles of a test file, as they stand in it. */
function titlesOf(file: string): readonly string[] {
  const title =
    /\b(?:test(?:\.serial)?|declare|\))\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
  return [...readText(`test/${file}`).matchAll(title)].map(
    ([, single, double, template]) => single ?? double ?? template!,
  );
}

const isThere = (program: Program): boolean => COMMANDS.some(({ usage }) => usage.startsWith(`${program} `));
const WALKED = OPTIONS.filter(({ programs, type }) => type !== 'action' && programs.some(isThere));

test('every option in force is named by a test that sees what it does', (t) => {
  const own = titlesOf(EFFECTS_FILE);
  const isNamed = (name: string): boolean => own.some((title) => title.split(/[\s=,]/).includes(`--${name}`));
  const inForce = OPTIONS.filter(({ effect }) => effect[0] === 'in force').map(({ name }) => name);
  t.deepEqual(
    inForce.filter((name) => !isNamed(name) && !Object.hasOwn(PROOFS, name) && !UNSEEN.includes(name)),
    [],
    'these need a test of what they do, and a row in option-proofs.ts',
  );
  for (const [name, [file, title]] of Object.entries(PROOFS)) {
    t.true(inForce.includes(name), `${name} is not in force`);
    t.true(
      titlesOf(file).some((text) => text.includes(title)),
      `${file} has no test "${title}" for --${name}`,
    );
  }
  for (const name of UNSEEN) {
    t.true(inForce.includes(name), `${name} is not in force`);
    t.false(isNamed(name) || Object.hasOwn(PROOFS, name), `${name} has been seen: take it off the list`);
  }
});

/** A value that is not the default, for the types that need no value of a certain form. */
const SAMPLES: Readonly<Partial<Record<ValueTypeName, string>>> = {
  string: 'sample',
  path: '/sample',
  ip: '192.0.2.1',
  int: '7',
  float: '0.01',
  duration: '77s',
  list: 'sample',
  map: 'a=b',
  ipRanges: '192.0.2.0/24',
  sequence: 'sample',
};
/** Where the row asks for a form. */
const FORMED: Readonly<Record<string, string>> = {
  'oidc-issuer-url': 'https://issuer.test',
  'tls-sni-cert-key': 'a.crt,a.key',
  'store-servers': 'https://192.0.2.1:2379',
  'store-servers-overrides': '/events#https://192.0.2.1:2379',
  'watch-cache-sizes': 'pods#7',
  'show-hidden-metrics-for-version': '1.20',
  'allow-metric-labels': 'metric,label=a',
  vmodule: 'hub=7',
  'log-backtrace-at': 'hub.ts:7',
};

/** The option set to something else than its default. */
function setting({ name, type, default: standard = '', values, form, valuesInForce = [] }: Option): string {
  const other = values?.find((value) => value !== standard && value !== '' && !valuesInForce.includes(value));
  const text =
    type === 'bool'
      ? String(standard !== 'true')
      : (FORMED[name] ?? (other && DIALECTS.orch.spell(other)) ?? SAMPLES[type]);
  if (text === undefined || form?.pattern.test(text) === false) throw new Error(`--${name} needs a sample`);
  return `--${name}=${text}`;
}

const programOf = ({ programs }: Option): Program => programs.find(isThere)!;

for (const option of WALKED.filter(({ effect }) => effect[0] === 'refused')) {
  test(`--${option.name} is refused when it is set: ${option.effect[1]}`, (t) => {
    t.throws(() => parseArguments(programOf(option), [setting(option)]), {
      instanceOf: UsageError,
      message: new RegExp(`^--${option.name} (?:.* )?is not available in this release`),
    });
  });
}

for (const option of WALKED.filter(({ effect }) => effect[0] === 'not in force')) {
  test(`--${option.name} is named at a start when it is set: ${option.effect[1]}`, (t) => {
    const { name, valuesInForce, default: standard } = option;
    // A value that says what happens anyway is true: there is nothing to be said of it.
    const text = valuesInForce?.includes(String(standard !== 'true')) ? `--${name}=${standard}` : setting(option);
    const beside = name.startsWith('proxy-client-')
      ? ['--proxy-client-cert-file=/sample', '--proxy-client-key-file=/sample']
      : [];
    const parsed = parseArguments(programOf(option), [...beside, text]);
    if (parsed.action !== 'run') throw new Error('these are arguments to run with');
    t.true(
      parsed.warnings.some((line) => line === `--${name} is not in force: ${option.effect[1]}`),
      parsed.warnings.join('\n'),
    );
  });
}
