// How a custom kind is shown as a Table: its name, then what its definition lists, or its age where that lists nothing.

import { remembered } from '../../values/remembered.ts';
import { parseInstant } from '../codec/timestamp.ts';
import type { DefinedColumn } from '../custom/definitions/definition.ts';
import { type JsonPath, jsonPathOf, newPassage, type Passage } from '../custom/definitions/json-path.ts';
import type { JsonObject } from '../json/json-value.ts';
import { sortedJson } from '../json/sorted-json.ts';
import { shownFloat } from '../status/shown-value.ts';
import { ageText } from './age.ts';
import { AGE, type Cell, type Column, type KindTable, kindTable, NAME } from './column.ts';

const CREATED: Column = { ...AGE, type: 'date' };

/** The table of a kind's columns; the same for the same list. */
export const customTable: (columns: readonly DefinedColumn[]) => KindTable = remembered((columns) =>
  kindTable([NAME, ...(columns.length === 0 ? [CREATED] : readable(columns))]),
);

/** Those before the first whose path cannot be read, as in the original. */
function readable(columns: readonly DefinedColumn[]): readonly Column[] {
  const found: Column[] = [];
  const row = new Row();
  for (const column of columns) {
    const path = jsonPathOf(column.jsonPath);
    if (path === undefined) break;
    found.push(columnOf(column, path, row, found.length === 0));
  }
  return found;
}

/** Characters of all texts in a row; the one that goes beyond is the last. */
const ROW_TEXT_MAX = 1024 * 1024;

/** What the cells of a row have left: a definition may have tens of thousands, each of which may lead through all of an object, and show it. */
class Row {
  passage: Passage = newPassage();
  textLeft = ROW_TEXT_MAX;

  begin(): void {
    this.passage = newPassage();
    this.textLeft = ROW_TEXT_MAX;
  }
}

function columnOf(
  { name, type, format, description, priority, jsonPath }: DefinedColumn,
  path: JsonPath,
  row: Row,
  isFirst: boolean,
): Column {
  return {
    name,
    type,
    format,
    description:
      description === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
    cell: (object, { nowMs }) => {
      if (isFirst) row.begin();
      const found = path(object as JsonObject, row.passage);
      if (found.length === 0 || row.textLeft < 0) return null;
      const cell = cellOf(type, found[0], nowMs);
      if (typeof cell === 'string') row.textLeft -= cell.length;
      return cell;
    },
  };
}

/** Null for a value that is not of the column's type. */
function cellOf(type: string, value: unknown, nowMs: number): Cell {
  switch (type) {
    case 'string':
      return textOf(value);
    case 'integer':
      return typeof value === 'bigint' ? value : typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateCell(value, nowMs) : null;
    default:
      return null;
  }
}

/** What is no timestamp is told apart from one that is not there. */
function dateCell(text: string, nowMs: number): Cell {
  return text !== '' && parseInstant(text) === undefined ? '<invalid>' : ageText(text, nowMs);
}

/** As the original prints it: a null is there, which a member that is left out is not. */
function textOf(value: unknown): Cell {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return isWhole(value) ? String(value) : shownFloat(value);
  return typeof value === 'object' ? sortedJson(value) : String(value);
}

/** Integers of 64 bits are such to the original too; larger ones it reads as floating-point numbers. */
function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}
