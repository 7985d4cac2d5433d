// Objects as a Table: rows of cells that any client can print without knowing the kind (SPEC.md "Table representation").
// Finds a kind's columns and lays out rows; what the cells hold is said in the columns-*.ts files.
import type { Dialect, DialectName } from '../../config/dialect.ts';
import type { CustomForm } from '../custom/definitions/custom-type.ts';
import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf } from '../resources/resource-table.ts';
import type { Cell, ColumnDefinition, KindTable, RowCondition } from './column.ts';
import { DEFAULT_TABLE } from './column.ts';
import { batchTables } from './columns-batch.ts';
import { clusterTables } from './columns-cluster.ts';
import { CONTROL_TABLES } from './columns-control.ts';
import { NETWORK_TABLES } from './columns-network.ts';
import { storageTables } from './columns-storage.ts';
import { WORKLOAD_TABLES } from './columns-workloads.ts';
import { customTable } from './custom-table.ts';
import { type MetaVersion, partialMetadata } from './partial-metadata.ts';

/** What a row carries of its object besides the cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The kind of the rows. */
export interface RowType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Of a custom kind. */
  readonly form?: CustomForm;
}

/** A Table that was asked for. Make one per answer, and one per batch of watch events. */
export interface TableRequest {
  readonly type: RowType;
  readonly dialect: Dialect;
  /** The group the client spelled; the Table is answered under the same. */
  readonly metaGroup: string;
  readonly version: MetaVersion;
  /** Wall time that ages are counted to. */
  readonly nowMs: number;
}

export interface TableRow {
  readonly cells: readonly Cell[];
  readonly conditions?: readonly RowCondition[];
  /** null: not asked for. */
  readonly object: object | null;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: object;
  /** null: the same as in the Table before, as in a watch. */
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  /** The last member, so that a Table can be written row by row. */
  readonly rows: readonly TableRow[];
}

const INCLUDE_OBJECT: ReadonlyMap<string, IncludeObject> = new Map([
  ['', 'Metadata'],
  ['None', 'None'],
  ['Metadata', 'Metadata'],
  ['Object', 'Object'],
]);

/** The `includeObject` parameter; undefined for a value that is none of its words. */
export function parseIncludeObject(parameter: string | undefined): IncludeObject | undefined {
  return INCLUDE_OBJECT.get(parameter ?? '');
}

/** What is wrong with an `includeObject` parameter that `parseIncludeObject` does not take: fit for a 400. */
export function includeObjectProblem(parameter: string): string {
  const problem = `Invalid value: ${JSON.stringify(parameter)}: must be 'Metadata', 'Object', 'None', or empty`;
  return `Unable to convert to Table as requested: includeObject: ${problem}`;
}

/**
 * A Table of `items`, which may leave out kind and apiVersion as the items of a list do. `metadata` is the list's, or that
 * of the single object (see `rowMetadata`). A watch has one Table per event, only the first `withColumns`.
 */
export function tableOf(
  request: TableRequest,
  items: readonly JsonObject[],
  metadata: object,
  includeObject: IncludeObject,
  withColumns: boolean,
): Table {
  const table = kindTableOf(request.type, request.dialect);
  const ordered = table.compare === undefined ? items : items.toSorted(table.compare);
  return {
    kind: 'Table',
    apiVersion: `${request.metaGroup}/${request.version}`,
    metadata,
    columnDefinitions: withColumns ? table.definitions : null,
    rows: ordered.map((item) => row(table, request, item, includeObject)),
  };
}

/** One row, as `tableOf` makes it. */
export function rowOf(request: TableRequest, object: JsonObject, includeObject: IncludeObject): TableRow {
  return row(kindTableOf(request.type, request.dialect), request, object, includeObject);
}

/** The metadata of a Table of this one object: its resourceVersion. */
export function rowMetadata(object: JsonObject): { readonly resourceVersion?: string } {
  const metadata = object.metadata as { readonly resourceVersion?: unknown } | null | undefined;
  const resourceVersion = metadata?.resourceVersion;
  return typeof resourceVersion === 'string' ? { resourceVersion } : {};
}

/** The columns of a kind, those of the default table for one without its own. */
export function columnsOf(type: RowType, dialect: Dialect): readonly ColumnDefinition[] {
  return kindTableOf(type, dialect).definitions;
}

/** True when rows of the kind stand in another order than its list: then they cannot be made one by one. */
export function hasOwnOrder(type: RowType, dialect: Dialect): boolean {
  return kindTableOf(type, dialect).compare !== undefined;
}

/** The indexes of `items` in the order of the rows that `tableOf` makes of them. */
export function orderOfRows({ type, dialect }: TableRequest, items: readonly JsonObject[]): readonly number[] {
  const { compare } = kindTableOf(type, dialect);
  const indexes = items.map((_, index) => index);
  return compare === undefined ? indexes : indexes.sort((a, b) => compare(items[a]!, items[b]!));
}

function row(table: KindTable, request: TableRequest, object: JsonObject, includeObject: IncludeObject): TableRow {
  const cells = table.cells(object, request);
  const conditions = table.conditions?.(object);
  const included = includedObject(request, object, includeObject);
  return conditions === undefined ? { cells, object: included } : { cells, conditions, object: included };
}

function includedObject(request: TableRequest, object: JsonObject, includeObject: IncludeObject): object | null {
  switch (includeObject) {
    case 'None':
      return null;
    case 'Metadata':
      return partialMetadata(object, request.metaGroup, request.version);
    case 'Object': {
      const { group, version, kind } = request.type;
      return { ...object, kind, apiVersion: apiVersionOf(group, version) };
    }
  }
}

const tablesByDialect = new Map<DialectName, ReadonlyMap<string, KindTable>>();

function kindTableOf({ group, kind, form }: RowType, dialect: Dialect): KindTable {
  if (form !== undefined) return customTable(form.columns);
  let tables = tablesByDialect.get(dialect.name);
  if (tables === undefined) {
    tables = spelledTables(dialect);
    tablesByDialect.set(dialect.name, tables);
  }
  return tables.get(`${group}/${kind}`) ?? DEFAULT_TABLE;
}

function spelledTables(dialect: Dialect): ReadonlyMap<string, KindTable> {
  const tables = {
    ...WORKLOAD_TABLES,
    ...batchTables(dialect),
    ...NETWORK_TABLES,
    ...storageTables(dialect),
    ...clusterTables(dialect),
    ...CONTROL_TABLES,
  };
  return new Map(Object.entries(tables).map(([key, table]) => [dialect.spell(key), table]));
}
