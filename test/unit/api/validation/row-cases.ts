// The cases of test/fixtures/rows: for each row of the facts about validation (test/fixtures/validation.json) a change
// that is accepted and one that is refused, and which rows there are.
import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import type { Causes, Changes } from './cases.ts';
import { documents } from './objects.ts';

/** A row of the facts, named by its kind, its section (not for the rules of a create) and its place in it. */
export interface Row {
  readonly id: string;
  /** Paths from the root or from a shared type, with commas between them; or words. */
  readonly path: string;
}

/** A case for a row, as changes of a valid object. */
export interface RowCase {
  readonly id: string;
  readonly of: string;
  /** The subresource of an update. Absent: the changed object is created. */
  readonly update: string | undefined;
  /** What is different of the stored object of an update. */
  readonly before: Changes;
  readonly gates: string | undefined;
  readonly raw: true | undefined;
  /** What is accepted. Undefined: the object as it stands, which has something where the row looks. */
  readonly good: Changes | undefined;
  /** What is refused. Undefined where nothing is, and why that is so in `never`. */
  readonly bad: Changes | undefined;
  readonly causes: Causes;
  readonly never: string | undefined;
}

interface Facts {
  readonly formats: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, readonly { path: string }[]>>;
  readonly options: readonly { path: string }[];
  readonly kinds: readonly { readonly kind: string; readonly [section: string]: unknown }[];
}

const rowsOf = (name: string, rows: readonly { path: string }[]): Row[] =>
  rows.map(({ path }, index) => ({ id: `${name}.${index}`, path }));

/** Every row there is. */
export function factRows(): Row[] {
  const facts = JSON.parse(readFileSync('test/fixtures/validation.json', 'utf8')) as Facts;
  return [
    ...Object.keys(facts.formats).map((name) => ({ id: `formats.${name}`, path: name })),
    ...Object.entries(facts.metadata).flatMap(([section, rows]) => rowsOf(`metadata.${section}`, rows)),
    ...rowsOf('options', facts.options),
    ...facts.kinds.flatMap(({ kind, ...sections }) => {
      const name = kind.replace(' (shared)', '').split('.').at(-1)!;
      return Object.entries(sections).flatMap(([section, rows]) =>
        Array.isArray(rows)
          ? rowsOf(section === 'rules' ? name : `${name}.${section}`, rows as { path: string }[])
          : [],
      );
    }),
  ];
}

/** The subresource whose updates a section is about. */
function updateOf(id: string): string | undefined {
  const section = id.split('.').at(1)!;
  return section === 'update' ? '' : section === 'status' ? 'status' : undefined;
}

const SERVER_FILE = 'server.yaml';
const FORMATS_FILE = 'formats.yaml';

/** A request, and what is answered. */
export interface RowRequest {
  /** Method and path. */
  readonly send: string;
  readonly body?: object;
  /** The body's media type. Absent: JSON, or a merge patch. */
  readonly type?: string;
  readonly accept?: string;
  /** Absent: any that says it was served. */
  readonly code?: number;
  readonly reason?: string;
  /** The fields of the Status's causes. */
  readonly causes?: readonly string[];
  /** Members that the answer has. */
  readonly answer?: object;
}

/** A row that a server holds requests to, not objects alone. */
export interface ServerRow {
  /** What is sent first, by the admin. */
  readonly before?: readonly RowRequest[];
  /** The user whom the requests are sent as. Absent: the admin. */
  readonly as?: string;
  readonly good: readonly RowRequest[];
  readonly bad?: readonly RowRequest[];
  /** Why nothing is refused. */
  readonly never?: string;
  /** An admission plugin refuses: the server is one that runs all of the default ones. */
  readonly admits?: boolean;
}

/** The rows of servers by id. */
export function serverRows(dialect: Dialect): Readonly<Record<string, ServerRow>> {
  const [rows] = documents(readFileSync(`test/fixtures/rows/${SERVER_FILE}`, 'utf8'), dialect);
  return rows as Readonly<Record<string, ServerRow>>;
}

/** What is of a format and what is not, at a place that is held to it. */
export interface FormatCase {
  readonly of: string;
  readonly update?: string;
  readonly at: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** The formats' cases by the formats' names. */
export function formatCases(dialect: Dialect): Readonly<Record<string, FormatCase>> {
  const [cases] = documents(readFileSync(`test/fixtures/rows/${FORMATS_FILE}`, 'utf8'), dialect);
  return cases as Readonly<Record<string, FormatCase>>;
}

/** Every case that a valid object makes, or the metadata that `metadata` stands for. */
export function rowCases(dialect: Dialect): RowCase[] {
  return readdirSync('test/fixtures/rows')
    .filter((file) => file !== SERVER_FILE && file !== FORMATS_FILE)
    .flatMap((file) => {
      const [sections] = documents(readFileSync(`test/fixtures/rows/${file}`, 'utf8'), dialect) as [JsonObject];
      return Object.entries(sections).flatMap(([of, rows]) =>
        Object.entries(rows as Record<string, Partial<RowCase>>).map(([id, written]) => ({
          id,
          of,
          update: written.update ?? updateOf(id),
          before: written.before ?? {},
          gates: written.gates,
          raw: written.raw,
          good: written.good,
          bad: written.bad,
          causes: written.causes ?? {},
          never: written.never,
        })),
      );
    });
}

/** Whether an object has something at a path of a row, which may begin anywhere in it. */
export function hasAt(object: JsonObject, path: string): boolean {
  const [first] = path.split(', ');
  const pattern = first!
    .replace(/^\*\./, '')
    .replaceAll(/[.[\]]/g, '\\$&')
    .replaceAll(/(?<!\[|\\\[)\*/g, '[^.]*')
    .replaceAll('\\[*\\]', '\\[\\*\\]')
    .replaceAll(/<[^>]*>/g, '[^.]+');
  const wanted = new RegExp(`(^|\\.)${pattern}$`);
  return [...pathsOf(object, '')].some((one) => wanted.test(one));
}

function* pathsOf(value: unknown, path: string): Generator<string> {
  if (value === null || value === undefined) return;
  if (path !== '') yield path;
  if (Array.isArray(value)) for (const item of value as unknown[]) yield* pathsOf(item, `${path}[*]`);
  else if (typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) yield* pathsOf(member, path === '' ? name : `${path}.${name}`);
  }
}
