// How an answer is rendered, as plain data: which type and version an object is asked for as, what it is brought into, and
// how that is written. Requests that say the same share everything that is made from it: encodings, frames, cohorts.

import { type Shape, shapeKey } from '../api/table/shape.ts';
import type { RowType } from '../api/table/table.ts';
import type { DialectName } from '../config/dialect.ts';
import { recordSchemaGeneration, type Slab } from '../storage/records/slab-record.ts';

export type Encoding = 'json' | 'yaml' | 'protobuf';

/** The group, version and kind that objects are stored as, and the dialect of both. */
export interface StoredAs extends RowType {
  readonly dialect: DialectName;
}

export interface Rendering {
  /** The group, version and kind that objects are answered as. */
  readonly target: RowType;
  /** What objects are stored as, where that is not the target. */
  readonly source?: StoredAs;
  /** What the target is brought into (Table, partial metadata); undefined: the object itself. */
  readonly shape: Shape | undefined;
  readonly encoding: Encoding;
  /** JSON indented for people. */
  readonly pretty: boolean;
}

/** Text that says the same of equal renderings and differs for others. */
export function renderingKey({ target, shape, encoding, pretty }: Rendering): string {
  const { group, version, kind, form } = target;
  const shaped = shape === undefined ? '' : shapeKey(shape);
  return [group, version, kind, form?.key ?? '', encoding, pretty ? 'pretty' : '', shaped].join('\u0000');
}

/** True when an object goes out as the bytes it is stored as: nothing is decoded. */
export function keepsStoredBytes(rendering: Rendering): boolean {
  return keepsStoredValue(rendering) && !rendering.pretty;
}

/** True for a record of a custom kind that was written under the schema by which it is asked for: it lies as it is asked. */
export function isAsAsked({ target, source }: Rendering, slab: Slab, offset: number): boolean {
  const generation = target.form?.storedGeneration;
  return source !== undefined && generation !== undefined && recordSchemaGeneration(slab, offset) === generation;
}

const unconverted = new WeakMap<Rendering, Rendering>();

/** The rendering of records that lie as they are asked for. */
export function withoutConversion(rendering: Rendering): Rendering {
  let plain = unconverted.get(rendering);
  if (plain === undefined) {
    const { source: _source, ...rest } = rendering;
    plain = rest;
    unconverted.set(rendering, plain);
  }
  return plain;
}

/** True when an object goes out as the JSON value it is stored as, indented or not. */
export function keepsStoredValue({ encoding, shape, source }: Rendering): boolean {
  return encoding === 'json' && shape === undefined && source === undefined;
}
