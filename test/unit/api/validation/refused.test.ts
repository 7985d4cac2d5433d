// What is refused: hand-written changes of valid objects, each with exactly the errors it must have, and every rule that
// is a function refuses something in one of them.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { isJsonObject, type JsonObject } from '../../../../api/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { compileChanges } from '../../../../api/validation/change-rules.ts';
import { entryOf, RuleCompiler } from '../../../../api/validation/compile-rules.ts';
import { CHANGE_RULES, STATUS_CHANGE_RULES, TYPE_RULES } from '../../../../api/validation/kinds/tables.ts';
import { Report } from '../../../../api/validation/report.ts';
import type { AnyRule, ChangeRule, ChangeTable, Rule, RuleTable } from '../../../../api/validation/rule.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { complete, documents, settings, type TestObject, validationOf, validObjects } from './objects.ts';

const DIALECT = DIALECTS.kubernetes;

interface Case {
  /** The valid object that is changed. */
  readonly of: string;
  readonly because: string;
  /** The change is an update by this subresource. Absent: the changed object is created. */
  readonly update?: string;
  /** Feature gates that are on. */
  readonly gates?: string;
  /** No defaults are filled in. */
  readonly raw?: true;
  readonly set: Readonly<Record<string, unknown>>;
  /** Reasons by path: `Invalid`, `Invalid*2`, `Invalid,Forbidden`. */
  readonly causes: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = readdirSync('test/fixtures/invalid').flatMap((file) =>
  documents(readFileSync(`test/fixtures/invalid/${file}`, 'utf8'), DIALECT).flatMap((list) => list as Case[]),
);

const objects = new Map<string, TestObject[]>();
for (const object of validObjects('kubernetes')) {
  objects.set(object.title, [...(objects.get(object.title) ?? []), object]);
}

function changed(object: JsonObject, set: Case['set']): JsonObject {
  const copy = structuredClone(object);
  for (const [path, value] of Object.entries(set)) put(copy as Record<string, unknown>, path, expanded(value));
  return copy;
}

/** `{repeat: x, times: 3}` is `xxx`, so that long texts need not be written. */
function expanded(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { repeat, times } = value;
  if (typeof repeat === 'string' && typeof times === 'number') return repeat.repeat(times);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expanded(member)]));
}

function put(object: Record<string | number, unknown>, path: string, value: unknown): void {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '');
  let parent = object;
  for (const part of parts.slice(0, -1)) {
    parent[part] ??= {};
    parent = parent[part] as Record<string | number, unknown>;
  }
  const last = parts.at(-1)!;
  if (value === null) delete parent[last];
  else parent[last] = value;
}

/** The stored object of a case, and the one a client sends. */
function objectsOf({ of, set, raw }: Case): { readonly before: TestObject; readonly next: JsonObject } {
  const [before] = objects.get(of) ?? [];
  if (before === undefined) throw new Error(`no valid object is called ${JSON.stringify(of)}`);
  const next = changed(before.object, set);
  return { before, next: raw ? next : complete(next, DIALECT).object };
}

function expectedOf(causes: Case['causes']): string[] {
  return Object.entries(causes)
    .flatMap(([path, reasons]) =>
      reasons.split(',').flatMap((text) => {
        const [reason, times = '1'] = text.split('*');
        return new Array<string>(Number(times)).fill(`${path}: FieldValue${reason}`);
      }),
    )
    .sort();
}

for (const one of CASES) {
  const { of, because, update, gates, causes } = one;
  test(`${of} is refused${update === undefined ? '' : ` as an update${update === '' ? '' : ` of its ${update}`}`}: ${because} (${Object.keys(causes).join(', ')})`, (t) => {
    const { before, next } = objectsOf(one);
    const validation = validationOf('kubernetes', gates);
    const errors =
      update === undefined
        ? validation.create(next, before.type)
        : validation.update(next, before.object, before.type, update);
    t.deepEqual(errors.map(({ path, reason }) => `${path}: ${reason}`).sort(), expectedOf(causes));
    for (const { message } of errors) t.regex(message, /^[A-Z][a-z ]+(: .+)?$/s);
  });
}

test('every rule that is a function refuses something, and there are enough cases', (t) => {
  const refusals = new Map<string, boolean>();
  const watched = watchedTables(refusals);
  const schema = schemaOf(DIALECT);
  const compiler = new RuleCompiler(schema, watched.types);
  for (const one of CASES) {
    const { before, next } = objectsOf(one);
    const report = new Report(DIALECT, settings(DIALECT, one.gates));
    report.begin(next, one.update !== undefined);
    const isStatus = one.update === 'status' || one.update === 'approval';
    const type = isStatus ? before.schema.field('status')!.type! : before.schema;
    if (isStatus) report.enter('status');
    compiler.check(type)?.(isStatus ? next.status : next, report);
    if (isStatus) report.leave();
    if (one.update === undefined) continue;
    const table = isStatus ? watched.statuses[one.update]! : watched.changes;
    const rules = entryOf(table, before.schema.name);
    if (rules !== undefined) compileChanges(rules)(next, before.object, report);
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
    Object.entries(TYPE_RULES).map(([type, { fields = {}, rules = [] }]) => [
      type,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, row]) => [
            field,
            row.rules === undefined ? row : { ...row, rules: row.rules.map(watchRule(`${type}.${field}`)) },
          ]),
        ),
        rules: rules.map(watchRule(type)),
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
