// The reference columns under test/fixtures/table (one kind a line, spelled in the `orch` dialect), and rows as tests like
// to read them: cells by column name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { apiVersionOf, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import type { Cell, ColumnDefinition } from '../../../../api/table/column.ts';
import { columnsOf, type RowType, rowOf, type TableRequest, type TableRow } from '../../../../api/table/table.ts';
import { DIALECTS, type DialectName } from '../../../../config/dialect.ts';

export interface KindFact {
  readonly kind: string;
  /** `<apiVersion>/<plural>` of each version. */
  readonly resources: readonly string[];
  readonly columns: readonly Omit<ColumnDefinition, 'description'>[];
}

export const KIND_FACTS: readonly KindFact[] = readFileSync(
  join(process.cwd(), 'test/fixtures/table/columns.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as KindFact);

/** The versions a fact is about; a made-up one for the fact about kinds without a row. */
export function typesOf({ kind, resources }: KindFact): readonly RowType[] {
  if (kind === '*default') return [{ group: 'example.com', version: 'v1', kind: 'Anything' }];
  if (resources.length === 0) return [{ group: '', version: 'v1', kind }];
  return resources.map((resource) => ({ ...splitApiVersion(resource.slice(0, resource.lastIndexOf('/'))), kind }));
}

/** `apps/v1 Deployment` as a type. */
export function typeNamed(name: string): RowType {
  const [apiVersion = '', kind = ''] = name.split(' ');
  return { ...splitApiVersion(apiVersion), kind };
}

export function nameOf({ group, version, kind }: RowType): string {
  return `${apiVersionOf(group, version)} ${kind}`;
}

const NOW = '2021-06-01T12:00:00Z';

export function requestFor(type: RowType, dialect: DialectName = 'orch'): TableRequest {
  return {
    type,
    dialect: DIALECTS[dialect],
    metaGroup: DIALECTS[dialect].metaGroup,
    version: 'v1',
    nowMs: Date.parse(NOW),
  };
}

/** An object's row. */
export function rowFor(name: string, object: JsonObject, dialect: DialectName = 'orch'): TableRow {
  return rowOf(requestFor(typeNamed(name), dialect), object, 'None');
}

/** An object's cells by column name. */
export function cellsFor(name: string, object: JsonObject, dialect: DialectName = 'orch'): Record<string, Cell> {
  const columns = columnsOf(typeNamed(name), DIALECTS[dialect]);
  const { cells } = rowFor(name, object, dialect);
  return Object.fromEntries(columns.map((column, index) => [column.name, cells[index]!]));
}
