// Whether two types say the same in the same words, so that an object of the one is an object of the other as it stands.
// Reads the schema only; that two members of one name mean the same is taken for granted.
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';

/** True when the canonical JSON of every object is canonical in both types. */
export function isSameForm(left: TypeSchema, right: TypeSchema): boolean {
  return haveSameForm(left, right, new Map());
}

/** `asked`: pairs being compared already, as types that contain themselves come back to them. */
function haveSameForm(left: TypeSchema, right: TypeSchema, asked: Map<TypeSchema, Set<TypeSchema>>): boolean {
  if (left === right) return true;
  const others = asked.get(left) ?? new Set();
  if (others.has(right)) return true;
  asked.set(left, others.add(right));
  if (left.form !== right.form || left.hasTypeMeta !== right.hasTypeMeta) return false;
  if (left.fields.length !== right.fields.length) return false;
  return left.fields.every((field, index) => haveSameMember(field, right.fields[index]!, asked));
}

function haveSameMember(left: FieldSchema, right: FieldSchema, asked: Map<TypeSchema, Set<TypeSchema>>): boolean {
  if (left.name !== right.name || left.kind !== right.kind || left.cardinality !== right.cardinality) return false;
  if (left.optional !== right.optional || left.emitEmpty !== right.emitEmpty) return false;
  return left.type === undefined || right.type === undefined || haveSameForm(left.type, right.type, asked);
}
