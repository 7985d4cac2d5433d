// A case of the cell tables: an object of a kind, and what some of its columns show.
import type { TestFn } from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { Cell } from '../../../../api/table/column.ts';
import { cellsFor } from './fixture.ts';

export interface CellsCase {
  /** `apps/v1 Deployment`. */
  readonly type: string;
  readonly title: string;
  readonly object: JsonObject;
  /** By column name; columns not named are not looked at. */
  readonly shows: Readonly<Record<string, Cell>>;
}

/** Metadata of an object made half a minute before the tests' present. */
export const META: JsonObject = { name: 'it', namespace: 'space', creationTimestamp: '2021-06-01T11:59:30Z' };

/** One test for each case. */
export function testCells(test: TestFn, cases: readonly CellsCase[]): void {
  for (const { type, title, object, shows } of cases) {
    test(`${type}: ${title}`, (t) => {
      const cells = cellsFor(type, object);
      for (const [column, cell] of Object.entries(shows)) t.is(cells[column], cell, column);
    });
  }
}
