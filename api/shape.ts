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

/** Which part of a value, at a path, is of another type than it must be; undefined where all fits. */
export function misfit(value: unknown, shape: Shape, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof shape === 'string') {
    const fits = typeof value === (shape === 'bool' ? 'boolean' : shape);
    return fits ? undefined : `${path}: ${unmarshalText(value, shape)}`;
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${path}: ${unmarshalText(value, 'list')}`;
    return firstMisfit(value, shape[0], path);
  }
  if (!isJsonObject(value)) return `${path}: ${unmarshalText(value, 'object')}`;
  if (shape instanceof MapShape) return firstMisfit(Object.values(value), shape.of, path);
  for (const [member, of] of Object.entries(shape)) {
    const problem = misfit(value[member], of, `${path}.${member}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

/** Without names of items: they are the other side's choice, and as long as it likes. */
function firstMisfit(items: readonly unknown[], shape: Shape, path: string): string | undefined {
  for (const item of items) {
    const problem = misfit(item, shape, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
