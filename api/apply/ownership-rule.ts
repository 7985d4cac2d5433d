// How the fields of a type are owned (SPEC.md "Server-side apply versioning"): member by member, element by element, or as
// a whole. Read from the schema's list types, map types and merge keys, once per type; kinds without a schema are owned
// as they come, objects by member and lists as a whole.
import { decode } from '../codec/decode.ts';
import { FORM_ZEROS, SCALAR_ZEROS } from '../codec/scalar-forms.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';

/**
 * `leaf`: as a whole. `struct`: by the members of a type. `map`: by key. `set`: a list by its scalar values. `keyed`: a
 * list by keys of its elements. `deduced`: objects by member, everything else as a whole.
 */
export type RuleKind = 'leaf' | 'struct' | 'map' | 'set' | 'keyed' | 'deduced';

/** What elements of sets can be, and the keys of elements. */
export type Scalar = string | number | bigint | boolean;

/** A member that tells the elements of a list apart. */
export interface ListKey {
  readonly name: string;
  /** `"name":`, as in JSON. */
  readonly prefix: string;
  readonly whenAbsent: Scalar | undefined;
}

/** A member of a type. */
export interface Member {
  readonly name: string;
  /** `f:<name>`. */
  readonly step: string;
  /** `"f:<name>":`, as in JSON. */
  readonly prefix: string;
  /** `"f:<name>":{}`: how it is said of a member that is owned as a whole; and behind another. */
  readonly leaf: string;
  readonly nextLeaf: string;
  readonly rule: OwnershipRule;
  /** An object of the type has it even when nothing was given. */
  readonly isAlways: boolean;
  /** What it holds then, except in structs, which hold their own members that are always there. */
  readonly zero: unknown;
  /** Nobody owns it: the server's metadata, kind, apiVersion. */
  readonly isOwned: boolean;
  /** No apply takes it away: the metadata of an object. */
  readonly stays: boolean;
}

/** The rule of a value as if it were owned by its parts: of a list's elements, or of the value itself. */
export interface Inside {
  readonly isList: boolean;
  readonly rule: () => OwnershipRule;
}

const NO_MEMBERS: ReadonlyMap<string, Member> = new Map();

export class OwnershipRule {
  readonly kind: RuleKind;
  /** Of a keyed list, in the order of their names. */
  readonly keys: readonly ListKey[];
  /** Of whole objects that come as they are, but for members that their schema does not name: nobody can apply one. */
  readonly isClosed: boolean;
  /** What the schema says of the inside of something that is owned as a whole. */
  readonly inside: Inside | undefined;
  readonly #element: () => OwnershipRule;
  readonly #members: () => ReadonlyMap<string, Member>;
  #read: ReadonlyMap<string, Member> | undefined;
  #list: readonly Member[] | undefined;
  #ranks: ReadonlyMap<string, number> | undefined;

  constructor(
    kind: RuleKind,
    element: () => OwnershipRule,
    members: () => ReadonlyMap<string, Member> = () => NO_MEMBERS,
    keys: readonly ListKey[] = [],
    isClosed = false,
    inside?: Inside,
  ) {
    this.kind = kind;
    this.keys = keys;
    this.isClosed = isClosed;
    this.inside = inside;
    this.#element = element;
    this.#members = members;
  }

  /** The members that are known beforehand, in the order of their names: all of a struct. */
  get members(): ReadonlyMap<string, Member> {
    this.#read ??= this.#members();
    return this.#read;
  }

  /** The members that can be owned, in the order of their names. */
  get ownedMembers(): readonly Member[] {
    this.#list ??= [...this.members.values()].filter(({ isOwned }) => isOwned);
    return this.#list;
  }

  /** Where each of `ownedMembers` stands there. */
  get ownedRanks(): ReadonlyMap<string, number> {
    this.#ranks ??= new Map(this.ownedMembers.map(({ name }, rank) => [name, rank]));
    return this.#ranks;
  }

  /** The rule of list elements and map values. */
  get element(): OwnershipRule {
    return this.#element();
  }

  /** The rule of a member; undefined when a struct has none of that name. */
  below(name: string): OwnershipRule | undefined {
    const member = this.members.get(name);
    if (member !== undefined) return member.rule;
    return this.kind === 'struct' ? undefined : this.#element();
  }
}

export const LEAF_RULE: OwnershipRule = new OwnershipRule('leaf', () => LEAF_RULE);
/** Owned as a whole, and of a form that is known. */
export function wholeRule(inside: Inside): OwnershipRule {
  return new OwnershipRule('leaf', () => LEAF_RULE, undefined, undefined, undefined, inside);
}

/** As it comes: objects by member, everything else as a whole. */
export const DEDUCED_RULE: OwnershipRule = new OwnershipRule('deduced', () => DEDUCED_RULE);

/** Members of an object's metadata that the server sets. */
const SERVER_METADATA: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'selfLink',
  'clusterName',
  'generation',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
]);

const rules = new WeakMap<TypeSchema, OwnershipRule>();
const rootRules = new WeakMap<TypeSchema, OwnershipRule>();

/** The rule of the objects of a kind. Undefined type: a kind without a schema. */
export function ruleOfKind(type: TypeSchema | undefined): OwnershipRule {
  if (type === undefined) return DEDUCED_ROOT;
  let rule = rootRules.get(type);
  if (rule === undefined) {
    rule = new OwnershipRule(
      'struct',
      () => LEAF_RULE,
      () => rootMembers(type),
    );
    rootRules.set(type, rule);
  }
  return rule;
}

function rootMembers(type: TypeSchema): ReadonlyMap<string, Member> {
  const members = type.fields.map((field) => {
    const member = memberOf(field);
    if (field.name !== 'metadata' || field.type === undefined) return member;
    return { ...member, rule: ruleOfMetadata(field.type), stays: true };
  });
  return byName([...members, unowned('kind'), unowned('apiVersion')]);
}

/** Of the metadata of whole objects, of which the server sets some. */
export function ruleOfMetadata(type: TypeSchema): OwnershipRule {
  return new OwnershipRule(
    'struct',
    () => LEAF_RULE,
    () => byName(type.fields.map((field) => ({ ...memberOf(field), isOwned: !SERVER_METADATA.has(field.name) }))),
  );
}

/** Kinds without a schema: everything as it comes, but for what the server sets. */
const DEDUCED_METADATA = new OwnershipRule(
  'deduced',
  () => DEDUCED_RULE,
  () => byName([...SERVER_METADATA].map(unowned)),
);
/** Of whole objects, members of which may be known beforehand. `isClosed`: no others can be applied. */
export function deducedRoot(
  known: () => readonly Member[],
  metadata = DEDUCED_METADATA,
  isClosed = false,
): OwnershipRule {
  return new OwnershipRule(
    'deduced',
    () => DEDUCED_RULE,
    () =>
      byName([
        ...known(),
        unowned('kind'),
        unowned('apiVersion'),
        { ...unowned('metadata'), rule: metadata, isOwned: true, stays: true },
      ]),
    [],
    isClosed,
  );
}

const DEDUCED_ROOT: OwnershipRule = deducedRoot(() => []);

export function ruleOfType(type: TypeSchema): OwnershipRule {
  const known = rules.get(type);
  if (known !== undefined) return known;
  const rule = newRule(type);
  rules.set(type, rule);
  return rule;
}

/** Forms that hold any JSON; all other forms but messages are owned as a whole. */
const DEDUCED_FORMS: ReadonlySet<string> = new Set([
  'json',
  'any',
  'fieldsV1',
  'schemaOrBool',
  'schemaOrArray',
  'schemaOrStringArray',
]);

function newRule(type: TypeSchema): OwnershipRule {
  if (DEDUCED_FORMS.has(type.form)) return DEDUCED_RULE;
  if (type.form !== 'message') return LEAF_RULE;
  const rule = structOf(type);
  return type.mapType === 'atomic' ? wholeRule({ isList: false, rule: () => rule }) : rule;
}

function structOf(type: TypeSchema): OwnershipRule {
  return new OwnershipRule(
    'struct',
    () => LEAF_RULE,
    () => {
      const own = type.fields.map(memberOf);
      return byName(type.hasTypeMeta ? [...own, ...['kind', 'apiVersion'].map(plain)] : own);
    },
  );
}

function memberOf(field: FieldSchema): Member {
  const { name, emitEmpty, optional, cardinality, kind, type } = field;
  const rule = ruleOfField(field);
  return {
    ...plain(name),
    rule,
    isAlways: emitEmpty,
    zero: cardinality === 'one' && !optional ? zeroOf(kind, type, rule) : null,
  };
}

function zeroOf(kind: FieldSchema['kind'], type: TypeSchema | undefined, rule: OwnershipRule): unknown {
  if (kind !== 'message' || type === undefined) return SCALAR_ZEROS[kind as Exclude<typeof kind, 'message'>];
  if (type.form !== 'message') return FORM_ZEROS[type.form] ?? null;
  return rule.kind === 'leaf' ? decode({}, type).object : null;
}

function ruleOfField(field: FieldSchema): OwnershipRule {
  const value = field.type === undefined ? LEAF_RULE : undefined;
  if (field.cardinality === 'one') return value ?? ruleOfType(field.type!);
  const element = (): OwnershipRule => value ?? ruleOfType(field.type!);
  if (field.cardinality === 'map') return new OwnershipRule('map', element);
  const keys = listKeys(field);
  if (keys === undefined) return value ?? wholeRule({ isList: true, rule: element });
  return keys.length === 0
    ? new OwnershipRule('set', element)
    : new OwnershipRule('keyed', element, () => NO_MEMBERS, keys);
}

/** The keys of a list: none for a set, undefined for a list that is owned as a whole. */
function listKeys(field: FieldSchema): readonly ListKey[] | undefined {
  const { listType, listMapKeys, patchStrategy, patchMergeKey, type } = field;
  const isMerging = patchStrategy?.split(',').includes('merge') ?? false;
  if (listType === 'atomic' || (listType === undefined && !isMerging)) return undefined;
  const names = listType === undefined ? [patchMergeKey] : listType === 'map' ? (listMapKeys ?? []) : [];
  return names
    .filter((name) => name !== undefined)
    .sort()
    .map((name) => ({
      name,
      prefix: `${JSON.stringify(name)}:`,
      whenAbsent: type?.field(name)?.publishedDefault,
    }));
}

/** A member that is owned as a whole. */
export function plain(name: string): Member {
  const step = `f:${name}`;
  const prefix = `${JSON.stringify(step)}:`;
  const leaf = `${prefix}{}`;
  const texts = { name, step, prefix, leaf, nextLeaf: `,${leaf}` };
  return { ...texts, rule: LEAF_RULE, isAlways: false, zero: null, isOwned: true, stays: false };
}

function unowned(name: string): Member {
  return { ...plain(name), isOwned: false };
}

/** Members by their names, in the order of those. */
export function byName(members: readonly Member[]): ReadonlyMap<string, Member> {
  const inOrder = [...members].sort((left, right) => (left.name < right.name ? -1 : 1));
  return new Map(inOrder.map((member) => [member.name, member]));
}
