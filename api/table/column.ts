// What a Table's columns are made of: their definitions as clients see them, and the functions that fill a row. Says
// nothing of any kind; those are the columns-*.ts files.
import type { JsonObject } from '../json/json-value.ts';
import { partAt, textAt } from '../json/object-fields.ts';
import { ageText } from './age.ts';

/** null: the object has no such value. */
export type Cell = string | number | bigint | boolean | null;

/** A column as clients see it. Clients hide those of a priority above 0 until asked for more. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  /** `name` marks the column that names the object. */
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

type BuiltInColumnType = 'string' | 'integer' | 'boolean' | 'date';

/** What a cell may depend on besides its object. */
export interface RowContext {
  /** Wall time that ages are counted to. */
  readonly nowMs: number;
}

/** Makes a cell. `summary` is what the kind works out once for the whole row. */
export type CellOf<Summary> = (object: JsonObject, context: RowContext, summary: Summary) => Cell;

export interface Column<Summary = unknown> extends ColumnDefinition {
  readonly cell: CellOf<Summary>;
}

/** A mark on a row: the object's work is over. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** How one kind is shown. */
export interface KindTable {
  readonly definitions: readonly ColumnDefinition[];
  cells(object: JsonObject, context: RowContext): Cell[];
  readonly conditions?: (object: JsonObject) => readonly RowCondition[] | undefined;
  /** The order of rows where it is not that of the list. */
  readonly compare?: (left: JsonObject, right: JsonObject) => number;
}

/** Tables by `<group>/<kind>`, the group written with the dialect's markers. */
export type KindTables = Readonly<Record<string, KindTable>>;

/** A table whose cells each read the object by themselves. */
export function kindTable(columns: readonly Column[], extras: Pick<KindTable, 'compare'> = {}): KindTable {
  return summaryTable(() => undefined, columns, extras);
}

/** A table whose cells share what `summarize` works out once a row. */
export function summaryTable<Summary>(
  summarize: (object: JsonObject) => Summary,
  columns: readonly Column<Summary>[],
  extras: Pick<KindTable, 'conditions' | 'compare'> = {},
): KindTable {
  const definitions = columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const makers = columns.map(({ cell }) => cell);
  return {
    definitions,
    cells: (object, context) => {
      const summary = summarize(object);
      const cells = new Array<Cell>(makers.length);
      for (let i = 0; i < makers.length; i++) cells[i] = makers[i]!(object, context, summary);
      return cells;
    },
    ...extras,
  };
}

/** A column every client shows. */
export function column<Summary = unknown>(
  name: string,
  type: BuiltInColumnType,
  description: string,
  cell: CellOf<Summary>,
): Column<Summary> {
  return { name, type, format: '', description, priority: 0, cell };
}

/** A column shown on request only (`-o wide`). */
export function wideColumn<Summary = unknown>(
  name: string,
  type: BuiltInColumnType,
  description: string,
  cell: CellOf<Summary>,
): Column<Summary> {
  return { ...column(name, type, description, cell), priority: 1 };
}

export function objectName(object: JsonObject): string {
  return textAt(partAt(object, 'metadata'), 'name');
}

export const NAME: Column = {
  ...column('Name', 'string', 'The name of the object, one of its kind in its namespace.', objectName),
  format: 'name',
};

export const AGE: Column = column('Age', 'string', 'The time since the object was created.', (object, { nowMs }) =>
  ageText(partAt(object, 'metadata').creationTimestamp, nowMs),
);

/** Shows kinds without a table of their own (SPEC.md "Table representation"). */
export const DEFAULT_TABLE: KindTable = kindTable([
  NAME,
  column('Created At', 'date', 'The time at which the server created the object.', (object) =>
    textAt(partAt(object, 'metadata'), 'creationTimestamp'),
  ),
]);
