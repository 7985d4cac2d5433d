// A type as ownership sees it: its rule, its empty object, and the fields that one of its endpoints cannot set.
import { decode } from '../codec/decode.ts';
import type { CustomType } from '../custom/definitions/custom-type.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { metadataKeptByStatus } from '../metadata/metadata.ts';
import type { ResourceType } from '../resource-type.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { ruleOfCustom } from './custom-rule.ts';
import { memberStep } from './field-path.ts';
import { type FieldSet, inOrder, LEAF, NO_FIELDS } from './field-set.ts';
import { type OwnershipRule, ruleOfKind } from './ownership-rule.ts';

export interface OwnedType {
  readonly rule: OwnershipRule;
  /** Undefined for kinds without a schema. */
  readonly schema: TypeSchema | undefined;
  /** What an object is in which nothing was given; frozen. */
  readonly empty: JsonObject;
}

const NO_MEMBERS: JsonObject = Object.freeze({});
const WITHOUT_SCHEMA: OwnedType = { rule: ruleOfKind(undefined), schema: undefined, empty: NO_MEMBERS };
const types = new WeakMap<TypeSchema, OwnedType>();

/** The ownership of a kind; of a built-in one the same object each time. */
export function ownedType(schema: TypeSchema | undefined, custom?: CustomType): OwnedType {
  if (custom !== undefined) return { rule: ruleOfCustom(custom), schema: undefined, empty: NO_MEMBERS };
  if (schema === undefined) return WITHOUT_SCHEMA;
  let type = types.get(schema);
  if (type === undefined) {
    type = { rule: ruleOfKind(schema), schema, empty: frozen(decode({}, schema).object) };
    types.set(schema, type);
  }
  return type;
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/**
 * The fields that writes to an endpoint leave as they are, whatever they say: the status, for the status endpoint all but the
 * status, for the scale endpoint all but the replicas. An apply does not own them.
 *
 * @param objects whose members count where the kind has no schema.
 */
export function resetFields(
  type: ResourceType,
  { rule }: OwnedType,
  subresource: string,
  objects: readonly JsonObject[],
): FieldSet {
  if (!type.traits.hasStatus) return NO_FIELDS;
  if (subresource === 'status')
    return inOrder({ ...allBut(rule, objects, ['status', 'metadata']), ...keptByStatus(type) });
  if (subresource === 'scale') {
    const specs = objects.map(({ spec }) => asObject(spec));
    const spec = inOrder(allBut(rule.below('spec'), specs, ['replicas']));
    return inOrder({ ...allBut(rule, objects, ['spec']), [memberStep('spec')]: spec });
  }
  return type.storageKey === 'core/namespaces' ? NAMESPACE_RESET : STATUS;
}

/** Every member that objects may have but some. */
function allBut(
  rule: OwnershipRule | undefined,
  objects: readonly JsonObject[],
  changed: readonly string[],
): Record<string, FieldSet> {
  const names = rule?.kind === 'struct' ? rule.ownedMembers.map(({ name }) => name) : objects.flatMap(Object.keys);
  return Object.fromEntries(names.filter((name) => !changed.includes(name)).map((name) => [memberStep(name), LEAF]));
}

/** The metadata that status updates of a type do not change. */
function keptByStatus(type: ResourceType): Record<string, FieldSet> {
  const kept = metadataKeptByStatus(type);
  if (kept === 'all') return { [METADATA]: LEAF };
  if (kept.length === 0) return {};
  return { [METADATA]: inOrder(Object.fromEntries(kept.map((name) => [memberStep(name), LEAF]))) };
}

const METADATA = memberStep('metadata');
const STATUS: FieldSet = { [memberStep('status')]: LEAF };
/** A namespace's finalizers are changed by its finalize endpoint only. */
const NAMESPACE_RESET: FieldSet = { [memberStep('spec')]: { [memberStep('finalizers')]: LEAF }, ...STATUS };
