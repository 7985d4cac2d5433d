// The shapes an object or list can be asked for in besides its own, and how it is brought into them: one interface over
// Tables and partial metadata for whoever sends answers (SPEC.md "Content negotiation").
import { DIALECTS, type DialectName } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { type MetaVersion, partialMetadata, partialMetadataList } from './partial-metadata.ts';
import {
  hasOwnOrder,
  type IncludeObject,
  orderOfRows,
  type RowType,
  rowMetadata,
  rowOf,
  type TableRequest,
  tableOf,
} from './table.ts';

/** What was asked for, as plain data. */
export interface Shape {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** The meta group as the client spelled it, of either dialect. */
  readonly metaGroup: string;
  readonly version: MetaVersion;
  /** Of a Table's rows. */
  readonly includeObject: IncludeObject;
  /** What the objects are spelled in. */
  readonly dialect: DialectName;
}

/** Text that says the same of equal shapes and differs for others. */
export function shapeKey({ kind, metaGroup, version, includeObject, dialect }: Shape): string {
  return [kind, metaGroup, version, includeObject, dialect].join(' ');
}

/** Brings objects of one type into one shape, with ages as of one moment. */
export class Shaping {
  readonly shape: Shape;
  readonly #request: TableRequest;

  constructor(shape: Shape, type: RowType, nowMs: number) {
    this.shape = shape;
    const { dialect, metaGroup, version } = shape;
    this.#request = { type, dialect: DIALECTS[dialect], metaGroup, version, nowMs };
  }

  /** True when a list has to be shaped as a whole, because its items change places. */
  get reorders(): boolean {
    return this.shape.kind === 'Table' && hasOwnOrder(this.#request.type, this.#request.dialect);
  }

  /** The indexes of `items` in the order that a Table has them in. */
  orderOf(items: readonly JsonObject[]): readonly number[] {
    return orderOfRows(this.#request, items);
  }

  /** A single object. `withColumns`: false in a watch after the first Table. */
  object(object: JsonObject, withColumns = true): object {
    const { kind, metaGroup, version, includeObject } = this.shape;
    return kind === 'Table'
      ? tableOf(this.#request, [object], rowMetadata(object), includeObject, withColumns)
      : partialMetadata(object, metaGroup, version);
  }

  /** A list, its last member the items or rows. */
  list(items: readonly JsonObject[], metadata: object): object {
    const { kind, metaGroup, version, includeObject } = this.shape;
    return kind === 'Table'
      ? tableOf(this.#request, items, metadata, includeObject, true)
      : partialMetadataList(items, metadata, metaGroup, version);
  }

  /** One item or row of `list`. */
  item(object: JsonObject): object {
    const { kind, metaGroup, version, includeObject } = this.shape;
    return kind === 'Table' ? rowOf(this.#request, object, includeObject) : partialMetadata(object, metaGroup, version);
  }
}
