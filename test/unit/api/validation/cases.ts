// What cases of validation are written in: a valid object of the fixtures, changes of it by path, and the errors they
// must have.
import { readdirSync, readFileSync } from 'node:fs';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import { complete, documents, type TestObject } from './objects.ts';

/** Members by path, `spec.ports[0].name`; null takes one away. */
export type Changes = Readonly<Record<string, unknown>>;

/** Reasons by path: `Invalid`, `Invalid*2`, `Invalid,Forbidden`. */
export type Causes = Readonly<Record<string, string>>;

export interface Case {
  /** The valid object that is changed. */
  readonly of: string;
  readonly because: string;
  /** The change is an update by this subresource. Absent: the changed object is created. */
  readonly update?: string;
  /** What is different of the stored object of an update. */
  readonly before?: Changes;
  /** Feature gates that are on. */
  readonly gates?: string;
  /** No defaults are filled in. */
  readonly raw?: true;
  readonly set: Changes;
  readonly causes: Causes;
}

/** Every case of test/fixtures/invalid, in a dialect's words. */
export function invalidCases(dialect: Dialect): Case[] {
  return readdirSync('test/fixtures/invalid').flatMap((file) =>
    documents(readFileSync(`test/fixtures/invalid/${file}`, 'utf8'), dialect).flatMap((list) => list as Case[]),
  );
}

const completed = new WeakMap<JsonObject, Map<Dialect, JsonObject>>();

/** An object with its defaults, made once: most cases begin with one of the fixtures as it is. */
function withDefaults(object: JsonObject, dialect: Dialect): JsonObject {
  const byDialect = completed.get(object) ?? new Map<Dialect, JsonObject>();
  completed.set(object, byDialect);
  const found = byDialect.get(dialect) ?? complete(object, dialect).object;
  byDialect.set(dialect, found);
  return found;
}

/** An object as it is after changes of it, with its defaults unless it is to stay `raw`. Nobody changes what this answers. */
export function changed(object: JsonObject, changes: Changes, dialect: Dialect, raw?: true): JsonObject {
  if (raw === undefined && Object.keys(changes).length === 0) return withDefaults(object, dialect);
  const next = bareChanged(object, changes);
  return raw ? next : complete(next, dialect).object;
}

/** The same without defaults, as a client would send it. */
export function bareChanged(object: JsonObject, changes: Changes): JsonObject {
  const copy = jsonCopy(object) as JsonObject;
  for (const [path, value] of Object.entries(changes)) put(copy as Record<string, unknown>, path, expanded(value));
  return copy;
}

/** `{repeat: x, times: 3}` is `xxx`, so that long texts need not be written, and lists likewise. */
function expanded(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(expanded);
  if (!isJsonObject(value)) return value;
  const { repeat, times } = value;
  if (typeof repeat === 'string' && typeof times === 'number') return repeat.repeat(times);
  if (Array.isArray(repeat) && typeof times === 'number') return new Array<unknown>(times).fill(repeat[0]);
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

/** Causes as `expectedErrors` and `errorsOf` list them: `spec.a: FieldValueInvalid`, sorted. */
export function expectedErrors(causes: Causes): string[] {
  return Object.entries(causes)
    .flatMap(([path, reasons]) =>
      reasons.split(',').flatMap((text) => {
        const [reason, times = '1'] = text.split('*');
        return new Array<string>(Number(times)).fill(`${path}: FieldValue${reason}`);
      }),
    )
    .sort();
}

export function errorsOf(errors: readonly FieldError[]): string[] {
  return errors.map(({ path, reason }) => `${path}: ${reason}`).sort();
}

/** Objects by title. */
export function byTitle(objects: readonly TestObject[]): (title: string) => TestObject {
  const found = new Map(objects.toReversed().map((object) => [object.title, object]));
  return (title) => {
    const object = found.get(title);
    if (object === undefined) throw new Error(`no valid object is called ${JSON.stringify(title)}`);
    return object;
  };
}
