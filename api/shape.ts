// Whether parsed JSON is of the types that it must be, where there is no schema to read it by. As the original reads what it knows:
// null fits everywhere, and so does a member that nobody asks for.
import { isJsonObject } from './json/json-value.ts';
import { unmarshalText } from './json/unmarshal-text.ts';

export type Shape =
  | 'bool'
  | 'string'
  /** A list of such. */
  | readonly [Shape]
  /** An object, by its members. */
  | { readonly [member: string]: Shape }
  /** A map of such. */
  | MapShape;

/** An object whose members have any names. */
export class MapShape {
  readonly of: Shape;

  constructor(of: Shape) {
    this.of = of;
  }
}

/** A part of a value that is of another type than it must be. */
export interface Misfit {
  /** Members from the value on, and ITEM for one of a list or map: without its name, which is the other side's choice, and as long as it likes. */
  readonly steps: readonly string[];
  readonly part: unknown;
  readonly type: 'bool' | 'string' | 'list' | 'object';
}

export const ITEM = '[]';

/** Which part of a value, at a path, is of another type than it must be, in the original's words; undefined where all fits. */
export function misfit(value: unknown, shape: Shape, path: string): string | undefined {
  const found = misfitIn(value, shape);
  if (found === undefined) return undefined;
  const place = [path, ...found.steps.filter((step) => step !== ITEM)].join('.');
  return `${place}: ${unmarshalText(found.part, found.type)}`;
}

/** The first part that is of another type than it must be; undefined where all fits. */
export function misfitIn(value: unknown, shape: Shape): Misfit | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof shape === 'string')
    return typeof value === (shape === 'bool' ? 'boolean' : shape) ? undefined : wrong(value, shape);
  if (isList(shape)) return Array.isArray(value) ? firstMisfit(value, shape[0]) : wrong(value, 'list');
  if (!isJsonObject(value)) return wrong(value, 'object');
  if (shape instanceof MapShape) return firstMisfit(Object.values(value), shape.of);
  for (const [member, of] of Object.entries(shape)) {
    const found = misfitIn(value[member], of);
    if (found !== undefined) return behind(member, found);
  }
  return undefined;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function firstMisfit(items: readonly unknown[], shape: Shape): Misfit | undefined {
  for (const item of items) {
    const found = misfitIn(item, shape);
    if (found !== undefined) return behind(ITEM, found);
  }
  return undefined;
}

function wrong(part: unknown, type: Misfit['type']): Misfit {
  return { steps: [], part, type };
}

function behind(step: string, { steps, part, type }: Misfit): Misfit {
  return { steps: [step, ...steps], part, type };
}
