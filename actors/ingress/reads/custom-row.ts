// A custom type as the answers about its objects are made of it, once for each version of its definition.
import type { CustomType } from '../../../api/custom/definitions/custom-type.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { RowType } from '../../../api/table/table.ts';

const customRows = new WeakMap<CustomType, RowType>();

/** A custom type as answers are made of it. */
export function customRowOf({ group, version, kind }: KnownType, custom: CustomType): RowType {
  let row = customRows.get(custom);
  if (row === undefined) {
    row = { group, version, kind, form: custom.form };
    customRows.set(custom, row);
  }
  return row;
}
