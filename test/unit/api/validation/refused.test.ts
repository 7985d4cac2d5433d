// What is refused: hand-written changes of valid objects, each with exactly the errors it must have, and every rule that
// is a function refuses something in one of them.
import test from 'ava';
import { loadPatterns } from '../../../../api/custom/checks/patterns.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { compileChanges } from '../../../../api/validation/change-rules.ts';
import { entryOf, RuleCompiler } from '../../../../api/validation/compile-rules.ts';
import { CHANGE_RULES, STATUS_CHANGE_RULES, TYPE_RULES } from '../../../../api/validation/kinds/tables.ts';
import { Report } from '../../../../api/validation/report.ts';
import type { AnyRule, ChangeRule, ChangeTable, Rule, RuleTable } from '../../../../api/validation/rule.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { byTitle, type Case, changed, errorsOf, expectedErrors, invalidCases } from './cases.ts';
import { settings, type TestObject, validationOf, validObjects } from './objects.ts';

const DIALECT = DIALECTS.kubernetes;

test.before(async () => {
  await loadPatterns();
});

const CASES = invalidCases(DIALECT);
const find = byTitle(validObjects('kubernetes'));

interface Change {
  readonly before: TestObject;
  /** The stored object. */
  readonly stored: JsonObject;
  /** The one a client sends. */
  readonly next: JsonObject;
}

const made = new Map<Case, Change>();

/** Made once for a case: nobody changes them. */
function objectsOf(one: Case): Change {
  const objects = made.get(one) ?? makeObjects(one);
  made.set(one, objects);
  return objects;
}

function makeObjects({ of, before: changes = {}, set, raw }: Case): Change {
  const before = find(of);
  const stored = changed(before.object, changes, DIALECT);
  return { before, stored, next: changed(stored, set, DIALECT, raw) };
}

for (const one of CASES) {
  const { of, because, update, gates, causes } = one;
  test(`${of} is refused${update === undefined ? '' : ` as an update${update === '' ? '' : ` of its ${update}`}`}: ${because} (${Object.keys(causes).join(', ')})`, (t) => {
    const { before, stored, next } = objectsOf(one);
    const validation = validationOf('kubernetes', gates);
    const errors =
      update === undefined
        ? validation.create(next, before.type)
        : validation.update(next, stored, before.type, update);
    t.deepEqual(errorsOf(errors), expectedErrors(causes));
    for (const { message } of errors) t.regex(message, /^[A-Z][a-z ]+(: .+)?$/s);
  });
}

test('every rule that is a function refuses something, and there are enough cases', (t) => {
  const refusals = new Map<string, boolean>();
  const watched = watchedTables(refusals);
  const schema = schemaOf(DIALECT);
  const compiler = new RuleCompiler(schema, watched.types);
  for (const one of CASES) {
    const { before, stored, next } = objectsOf(one);
    const report = new Report(DIALECT, settings(DIALECT, one.gates));
    report.begin(next, one.update === undefined ? undefined : stored);
    const isStatus = one.update === 'status' || one.update === 'approval';
    const type = isStatus ? before.schema.field('status')!.type! : before.schema;
    if (isStatus) report.enter('status');
    compiler.check(type)?.(isStatus ? next.status : next, report);
    if (isStatus) report.leave();
    if (one.update === undefined) continue;
    const table = watched.statuses[one.update] ?? watched.changes;
    const rules = entryOf(table, before.schema.name);
    if (rules !== undefined) compileChanges(rules)(next, stored, report);
  }
  const silent = [...refusals].filter(([, refused]) => !refused).map(([name]) => name);
  t.log(`${CASES.length} cases, ${refusals.size} rules that are functions`);
  t.deepEqual(silent, []);
  t.true(CASES.length >= 150);
});

interface Watched {
  readonly types: RuleTable;
  readonly changes: ChangeTable;
  readonly statuses: Readonly<Record<string, ChangeTable>>;
}

/** The tables with every function noting whether it has refused anything. */
function watchedTables(refusals: Map<string, boolean>): Watched {
  const watchRule =
    (name: string) =>
    (rule: AnyRule, index: number): AnyRule => {
      const key = `${name} rule ${index}`;
      refusals.set(key, false);
      return ((value, at) => {
        const { count } = at;
        (rule as Rule<unknown>)(value, at);
        if (at.count > count) refusals.set(key, true);
      }) as Rule<unknown> as AnyRule;
    };
  const types: RuleTable = Object.fromEntries(
    Object.entries(TYPE_RULES).map(([type, { fields = {}, rules = [], ...rest }]) => [
      type,
      {
        ...rest,
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, row]) => [
            field,
            row.rules === undefined ? row : { ...row, rules: row.rules.map(watchRule(`${type}.${field}`)) },
          ]),
        ),
        rules: rules.map((rule, index) => (typeof rule === 'function' ? watchRule(type)(rule, index) : rule)),
      },
    ]),
  );
  const statuses = Object.entries(STATUS_CHANGE_RULES).map(
    ([name, table]) => [name, watchedChanges(table, name, refusals)] as const,
  );
  return { types, changes: watchedChanges(CHANGE_RULES, 'update', refusals), statuses: Object.fromEntries(statuses) };
}

function watchedChanges(table: ChangeTable, where: string, refusals: Map<string, boolean>): ChangeTable {
  return Object.fromEntries(
    Object.entries(table).map(([kind, rules]) => [
      kind,
      {
        ...rules,
        rules: (rules.rules ?? []).map((rule, index) => {
          if (typeof rule !== 'function') return rule;
          const key = `${where} of ${kind} rule ${index}`;
          refusals.set(key, false);
          const watched: ChangeRule<unknown> = (next, stored, at) => {
            const { count } = at;
            (rule as ChangeRule<unknown>)(next, stored, at);
            if (at.count > count) refusals.set(key, true);
          };
          return watched;
        }),
      },
    ]),
  ) as unknown as ChangeTable;
}

const REQUEST = 'certificates.k8s.io/v1 CertificateSigningRequest jane';

test('what a condition of a certificate request may be is told in order', (t) => {
  const { object, type } = find(REQUEST);
  const stored = changed(object, {}, DIALECT);
  const next = changed(stored, { 'status.conditions[1]': { type: 'Other', status: 'Maybe' } }, DIALECT);
  t.deepEqual(
    validationOf('kubernetes')
      .update(next, stored, type, 'status')
      .map(({ path, message }) => `${path}: ${message}`),
    ['status.conditions[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
  );
});

const HOOKS = 'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration checks';
const MALFORMED = [
  'https://[::1',
  'https://[::1]x',
  'https://a:b',
  'https://a:1:b/c',
  'https://a|b',
  'https://a%41b',
  'https://%zz',
  'https://a b',
  'https://a b@c',
  'https://a/%zz',
  'https://a#%zz',
  '1https://a',
  'https://a/\tb',
];
const WELL_FORMED = [
  'https://[::1]',
  'https://[::1]:8443/a',
  'https://a:/b',
  'https://a:1',
  'https://ä',
  'https://a%25b',
  'https://a%c3%a4',
  'https://a/b c',
];

test('a webhook has an address that can be read, whose port is a number', (t) => {
  const { object, type } = find(HOOKS);
  const problems = (url: string): readonly string[] =>
    validationOf('kubernetes')
      .create(changed(object, { 'webhooks[0].clientConfig.url': url }, DIALECT), type)
      .map(({ path, message }) => `${path}: ${message}`);
  const refused = [
    'webhooks[0].clientConfig.url: Required value: url must be a valid URL; desired format: https://host[/path]',
  ];
  for (const url of MALFORMED) t.deepEqual(problems(url), refused, url);
  for (const url of WELL_FORMED) t.deepEqual(problems(url), [], url);
  t.deepEqual(
    ['https://a?b c', 'https://a?%zz'].flatMap(problems),
    ['b c', '%zz'].map(
      (query) =>
        `webhooks[0].clientConfig.url: Invalid value: "${query}": query parameters are not permitted in the URL`,
    ),
    'a query can be read, and is not permitted',
  );
});
