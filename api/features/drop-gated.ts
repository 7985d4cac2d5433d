// Drops the fields whose feature gate is closed (gated-fields.ts). The schema says where they can occur: it is compiled, type
// by type, into the members worth looking at, so that an object without such fields costs a look at each of its containers.
import type { FeatureGateName } from '../../config/feature-gates.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';
import { entryOf } from '../validation/compile-rules.ts';
import { GATED_FIELDS, type GatedField } from './gated-fields.ts';

/** Takes the fields of closed gates out of `object`, which is changed, unless `stored` uses the same feature. */
export type DropGated = (object: JsonObject, stored: JsonObject | undefined, type: TypeSchema) => void;

/** Whether a gate is open. */
type IsOpen = (gate: FeatureGateName) => boolean;

/** A field that is to go, and where it stands. */
interface Found {
  readonly parent: Record<string, unknown>;
  readonly row: GatedField;
}

/** The members of a type that are gated, or lead to others that are. */
interface Node {
  readonly gated: readonly GatedField[];
  readonly paths: readonly { readonly name: string; readonly isMap: boolean; readonly node: Node }[];
}

/** The dropping of fields under a server's gates. */
export function gatedFieldDropper(isOpen: IsOpen): DropGated {
  const nodes = new Map<TypeSchema, Node | undefined>();
  const nodeOf = (type: TypeSchema): Node | undefined => {
    if (nodes.has(type)) return nodes.get(type);
    // A type inside itself: what it holds has been seen.
    nodes.set(type, undefined);
    const rows = type.form === 'message' ? (entryOf(GATED_FIELDS, type.name) ?? []) : [];
    for (const { field } of rows) {
      if (type.field(field) === undefined) throw new RangeError(`${type.name} has no field ${field} to be gated`);
    }
    const gated = rows.filter(({ gate }) => !isOpen(gate));
    const paths = type.form === 'message' ? type.fields.flatMap((field) => pathOf(field, nodeOf)) : [];
    const node = gated.length + paths.length === 0 ? undefined : { gated, paths };
    nodes.set(type, node);
    return node;
  };
  return (object, stored, type) => {
    const node = nodeOf(type);
    if (node === undefined) return;
    const found: Found[] = [];
    collect(object, node, type.kind, found);
    if (found.length === 0) return;
    const inUse = stored === undefined ? NOTHING : gatesInUse(stored, node, type.kind);
    for (const { parent, row } of found) {
      if (inUse.has(row.gate)) continue;
      if (row.most !== undefined) parent[row.field] = (parent[row.field] as unknown[]).slice(0, row.most);
      else if (row.instead === undefined) delete parent[row.field];
      else parent[row.field] = row.instead;
    }
  };
}

const NOTHING: ReadonlySet<FeatureGateName> = new Set();

function pathOf(field: FieldSchema, nodeOf: (type: TypeSchema) => Node | undefined): Node['paths'] {
  const { name, cardinality, type } = field;
  const node = type === undefined ? undefined : nodeOf(type);
  return node === undefined ? [] : [{ name, isMap: cardinality === 'map', node }];
}

function gatesInUse(stored: JsonObject, node: Node, kind: string): ReadonlySet<FeatureGateName> {
  const found: Found[] = [];
  collect(stored, node, kind, found);
  return new Set(found.map(({ row }) => row.gate));
}

function collect(value: unknown, node: Node, kind: string, found: Found[]): void {
  if (!isJsonObject(value)) return;
  for (const row of node.gated) {
    const member = value[row.field];
    if (member === undefined || member === null || row.isOlder?.(member) === true) continue;
    if (row.most !== undefined && !(Array.isArray(member) && member.length > row.most)) continue;
    if (row.kinds?.includes(kind) ?? true) found.push({ parent: value as Record<string, unknown>, row });
  }
  for (const { name, isMap, node: inner } of node.paths) {
    const member = value[name];
    if (member === undefined || member === null) continue;
    if (Array.isArray(member)) for (const element of member) collect(element, inner, kind, found);
    else if (isMap && isJsonObject(member)) for (const key in member) collect(member[key], inner, kind, found);
    else collect(member, inner, kind, found);
  }
}
