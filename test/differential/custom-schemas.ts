// Schemas of custom types with all that definitions may say in them, and values that mostly fit them. Most are structural: those that
// are not tell of the rules of definitions.
import type { Dice } from '../fuzz/generate/dice.ts';

export type Dict = Record<string, unknown>;

const WORD = 'x-kubernetes-';
export const NAMES = ['a', 'b', 'c', 'd', 'name', 'kind', 'metadata', 'x.y', 'toString', 'spec', 'A/b'];
const TEXTS = ['a', 'ab', 'abc', '😀', 'é', 'b1', 'A', '10', '50%', '-1', '1.5', 'true'];
const NUMBERS = [0, 1, 2, 3, -1, 5, 0.5, 1.25, 2.5, 0.1, 0.3, 10, 100];
const PATTERNS = ['^a', 'b', '^[a-c]*$', '\\d', '^.$', '', '^(a|b)+$', '[[:alpha:]]', '(?i)A', '\\pL'];
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
/** With texts that are of the format, and others. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: ['2020-01-01', '2020-13-01'],
  'date-time': ['2020-01-01T00:00:00Z', '2020-01-01'],
  datetime: ['2020-01-01T00:00:00Z', 'x'],
  duration: ['1s', '3 d', 'x'],
  byte: ['aGk=', 'a'],
  uuid: ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'x'],
  uuid4: ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  email: ['a@b.c', 'a'],
  hostname: ['a.b', '-a'],
  ipv4: ['1.2.3.4', '1.2.3', '::1'],
  ipv6: ['::1', '1.2.3.4'],
  cidr: ['10.0.0.0/8', '10.0.0.0'],
  uri: ['http://a/', 'a b', ':'],
  mac: ['01:02:03:04:05:06', 'x'],
  isbn: ['0321751043', '1'],
  creditcard: ['4111111111111111', '1'],
  ssn: ['111-11-1111', '1'],
  hexcolor: ['#fff', 'x'],
  rgbcolor: ['rgb(1,2,3)', 'x'],
  bsonobjectid: ['507f1f77bcf86cd799439011', 'x'],
  password: ['x'],
  nope: ['x'],
};
const NUMBER_FORMATS = ['int32', 'int64', 'float', 'double'];
const KEYS = ['name', 'port', 'k'];
const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { string: 'dk', integer: 7, boolean: true };
const METADATA = [{ name: 'n' }, {}, { labels: { a: 'b' }, zz: 1 }, { name: 1 }, { finalizers: ['a'] }, { name: 'A_' }];
const ANYTHING = [1, 'a', { z: 1, a: { q: [1, { b: null }] } }, [1, 'x'], true, 1.5];

/** A schema of `depth` levels, of the type that is asked for. */
export function schemaOf(dice: Dice, depth: number, asked?: string): Dict {
  const type = asked ?? dice.pick(depth > 0 ? TYPES : TYPES.slice(0, 4));
  const schema: Dict = { type };
  if (dice.oneIn(4) && asked === undefined) schema.nullable = true;
  if (dice.oneIn(10) && asked === undefined) sayEither(schema, dice);
  else if (dice.oneIn(10)) sayOpen(schema, dice, asked);
  if (schema.type === 'array') sayItems(schema, dice, depth);
  if (schema.type === 'object') sayMembers(schema, dice, depth, asked);
  Object.assign(schema, demands(dice, schema, depth));
  if (dice.oneIn(3) && asked === undefined) schema.default = valueFor(dice, schema, depth);
  if (dice.oneIn(12)) schema.description = 'words';
  return schema;
}

function sayEither(schema: Dict, dice: Dice): void {
  delete schema.type;
  schema[`${WORD}int-or-string`] = true;
  const types = [{ type: 'integer' }, { type: 'string' }];
  if (dice.oneIn(3)) schema.anyOf = types;
  else if (dice.oneIn(4)) schema.allOf = [{ anyOf: types }, { pattern: '^a' }];
}

function sayOpen(schema: Dict, dice: Dice, asked: string | undefined): void {
  schema[`${WORD}preserve-unknown-fields`] = true;
  if (dice.oneIn(3) && asked === undefined) delete schema.type;
}

function sayItems(schema: Dict, dice: Dice, depth: number): void {
  const listType = dice.pick([undefined, undefined, 'atomic', 'set', 'map']);
  if (listType !== undefined) schema[`${WORD}list-type`] = listType;
  if (listType === 'set') schema.items = { ...schemaOf(dice, 0), nullable: false };
  else if (listType === 'map') sayKeyedItems(schema, dice, depth);
  else schema.items = schemaOf(dice, depth - 1);
}

function sayKeyedItems(schema: Dict, dice: Dice, depth: number): void {
  const { additionalProperties: _, ...items } = schemaOf(dice, depth - 1, 'object');
  const keys = dice.oneIn(3) ? KEYS.slice(0, 2) : [dice.pick(KEYS)];
  const properties: Dict = { ...(items.properties as Dict | undefined) };
  const needed: string[] = [];
  for (const key of keys) {
    const type = dice.pick(Object.keys(KEY_DEFAULTS));
    properties[key] = dice.oneIn(3) ? { type, default: KEY_DEFAULTS[type] } : { type };
    if (!Object.hasOwn(properties[key] as Dict, 'default')) needed.push(key);
  }
  schema.items = { ...items, properties, ...(needed.length > 0 ? { required: needed } : {}) };
  schema[`${WORD}list-map-keys`] = keys;
}

function sayMembers(schema: Dict, dice: Dice, depth: number, asked: string | undefined): void {
  if (dice.oneIn(10) && asked === undefined) {
    schema[`${WORD}embedded-resource`] = true;
    if (dice.oneIn(2)) schema[`${WORD}preserve-unknown-fields`] = true;
  } else if (dice.oneIn(4) && asked === undefined) {
    schema.additionalProperties = dice.oneIn(6) ? true : schemaOf(dice, depth - 1);
    return;
  }
  const properties: Dict = {};
  for (let count = dice.between(1, 4); count > 0; count--) {
    const name = dice.pick(NAMES);
    properties[name] = TYPE_MEMBERS.get(name) ?? schemaOf(dice, depth - 1);
  }
  schema.properties = properties;
  if (dice.oneIn(3)) schema.required = [dice.pick(Object.keys(properties))];
  if (dice.oneIn(6)) schema[`${WORD}map-type`] = dice.pick(['granular', 'atomic']);
}

/** Of the types that whole objects have them in. */
const TYPE_MEMBERS: ReadonlyMap<string, Dict> = new Map([
  ['kind', { type: 'string' }],
  ['metadata', { type: 'object' }],
]);

/** What a schema demands of its values. */
function demands(dice: Dice, schema: Dict, depth: number): Dict {
  const { type } = schema;
  const found: Dict = {};
  const maybe = (times: number, name: string, value: () => unknown): void => {
    if (dice.oneIn(times)) found[name] = value();
  };
  if (type === 'string') {
    maybe(8, 'minLength', () => dice.below(3));
    maybe(8, 'maxLength', () => dice.below(4));
    maybe(8, 'pattern', () => dice.pick(PATTERNS));
    maybe(5, 'format', () => dice.pick(Object.keys(FORMATS)));
  }
  if (type === 'integer' || type === 'number') {
    maybe(6, 'minimum', () => dice.pick(NUMBERS));
    maybe(6, 'maximum', () => dice.pick(NUMBERS));
    maybe(12, 'exclusiveMinimum', () => true);
    maybe(8, 'multipleOf', () => dice.pick([1, 2, 0.5, 0.1, 3]));
    maybe(8, 'format', () => dice.pick(NUMBER_FORMATS));
  }
  if (type === 'array') maybe(6, 'maxItems', () => dice.below(4));
  if (type === 'array') maybe(8, 'minItems', () => dice.below(3));
  if (type === 'object') maybe(12, 'maxProperties', () => dice.below(5));
  if (TYPES.indexOf(String(type)) < 4) maybe(9, 'enum', () => [valueFor(dice, schema, 0) ?? 'n', dice.pick(TEXTS)]);
  if (depth > 0) {
    for (const word of ['allOf', 'anyOf', 'oneOf']) {
      if (schema[word] === undefined) maybe(16, word, () => [demands(dice, schema, 0), demands(dice, schema, 0)]);
    }
    maybe(20, 'not', () => demands(dice, schema, 0));
  }
  return found;
}

/** A value of the schema; sometimes of another type, or one that breaks what the schema demands. */
export function valueFor(dice: Dice, schema: Dict, depth: number): unknown {
  if (dice.oneIn(30)) return dice.pick([1, 'a', {}, [], true, 1.5, null]);
  if (schema.nullable === true && dice.oneIn(4)) return null;
  if (Array.isArray(schema.enum) && !dice.oneIn(6)) return dice.pick(schema.enum as unknown[]);
  if (schema[`${WORD}int-or-string`] === true) return dice.pick([...TEXTS, 0, 1, -1]);
  switch (schema.type) {
    case 'string':
      return dice.pick(FORMATS[String(schema.format)] ?? TEXTS);
    case 'integer':
      return dice.pick(NUMBERS.filter(Number.isInteger));
    case 'number':
      return dice.pick(NUMBERS);
    case 'boolean':
      return dice.oneIn(2);
    case 'array':
      return Array.from({ length: depth < -4 ? 0 : dice.below(4) }, () =>
        valueFor(dice, schema.items as Dict, depth - 1),
      );
    case 'object':
      return depth < -4 ? {} : objectOf(dice, schema, depth);
    default:
      return structuredClone(dice.pick(ANYTHING));
  }
}

function objectOf(dice: Dice, schema: Dict, depth: number): Dict {
  const { properties, additionalProperties: rest, required } = schema;
  const object: Dict = {};
  if (schema[`${WORD}embedded-resource`] === true) {
    if (!dice.oneIn(8)) Object.assign(object, { kind: dice.pick(['Pod', 'X']), apiVersion: dice.pick(['v1', 'a/b']) });
    if (dice.oneIn(2)) object.metadata = structuredClone(dice.pick(METADATA));
  }
  if (rest !== undefined) {
    const below = typeof rest === 'object' ? (rest as Dict) : {};
    for (let count = dice.below(4); count > 0; count--) object[dice.pick(NAMES)] = valueFor(dice, below, depth - 1);
  }
  for (const [name, property] of Object.entries((properties ?? {}) as Dict)) {
    const isNeeded = Array.isArray(required) && required.includes(name) && !dice.oneIn(12);
    if (Object.hasOwn(object, name)) continue;
    if (isNeeded || !dice.oneIn(3)) object[name] = valueFor(dice, property as Dict, depth - 1);
  }
  if (dice.oneIn(6)) object[dice.pick(['zz', 'unknown', 'a'])] = dice.pick([1, 'u', null, { q: 1 }, [{}]]);
  return object;
}
