// What a strategic merge patch needs to know of the members of an object: which lists merge and by which key, what is
// replaced whole, and what lies below. Read once per schema field; custom kinds, and members no schema names, are UNKNOWN.
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';

/** The members an object may have: the fields of a type, or any names with values of one kind (a map). */
export interface Shape {
  readonly type: TypeSchema | undefined;
  readonly values: MemberShape | undefined;
}

/** How the value of one member is patched. */
export interface MemberShape {
  /** Of the value, where it is an object, or of its elements, where it is a list. */
  readonly below: Shape;
  /** The list is merged with the patch's, not replaced by it. */
  readonly merges: boolean;
  /** The object is replaced by the patch's, not merged with it. */
  readonly replaces: boolean;
  /** The member that tells the elements of a merging list apart; undefined for lists of scalars. */
  readonly mergeKey: string | undefined;
  /** All members that make an element unique, with the value an element has that leaves one out. */
  readonly mapKeys: readonly { readonly name: string; readonly whenAbsent: string | undefined }[];
}

/** Objects nothing is known of: merged member by member, lists replaced. */
const UNKNOWN: Shape = Object.freeze({ type: undefined, values: undefined });
const UNKNOWN_MEMBER: MemberShape = Object.freeze({
  below: UNKNOWN,
  merges: false,
  replaces: false,
  mergeKey: undefined,
  mapKeys: [],
});

const shapes = new WeakMap<TypeSchema, Shape>();
const members = new WeakMap<FieldSchema, MemberShape>();

/** The shape of a type's objects. */
export function shapeOf(type: TypeSchema | undefined): Shape {
  if (type === undefined || type.form !== 'message') return UNKNOWN;
  let shape = shapes.get(type);
  if (shape === undefined) {
    shape = { type, values: undefined };
    shapes.set(type, shape);
  }
  return shape;
}

/** What is known of a member. */
export function memberShape(shape: Shape, name: string): MemberShape {
  if (shape.values !== undefined) return shape.values;
  const field = shape.type?.field(name);
  if (field === undefined) return UNKNOWN_MEMBER;
  let member = members.get(field);
  if (member === undefined) {
    member = readMember(field);
    members.set(field, member);
  }
  return member;
}

function readMember(field: FieldSchema): MemberShape {
  const strategies = field.patchStrategy?.split(',') ?? [];
  const values = { ...UNKNOWN_MEMBER, below: shapeOf(field.type) };
  if (field.cardinality === 'map') return { ...values, below: { type: undefined, values } };
  const names = field.listMapKeys ?? [];
  const mapKeys = names.map((name) => ({ name, whenAbsent: field.type?.field(name)?.publishedDefault }));
  return {
    ...values,
    merges: field.cardinality === 'list' && strategies.includes('merge'),
    replaces: strategies.includes('replace'),
    mergeKey: field.patchMergeKey,
    mapKeys,
  };
}
