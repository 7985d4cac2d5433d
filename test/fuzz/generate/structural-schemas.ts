// Structural schemas by dice, small enough that values often meet what they say, and values that are sometimes right.
import type { Dice } from './dice.ts';

type Dict = Record<string, unknown>;

const NAMES = ['a', 'b', 'c', 'kind', 'metadata', 'x.y', 'toString'];
const TEXTS = ['', 'a', 'ab', 'abc', '😀', 'é', 'b1', 'A'];
const NUMBERS = [0, 1, 2, 3, -1, 5, 0.5, 1.25, 2.5, 0.1, 0.3];
const PATTERNS = ['^a', 'b', '^[a-c]*$', '\\d', '^.$'];
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
const WORD = 'x-orch-';

/** A schema of objects. */
export function structuralSchema(dice: Dice): Dict {
  return { ...node(dice, 3, 'object') };
}

function node(dice: Dice, depth: number, asked?: string): Dict {
  const type = asked ?? dice.pick(depth === 0 ? TYPES.slice(0, 4) : TYPES);
  const schema: Dict = { type };
  if (dice.oneIn(4)) schema.nullable = true;
  if (dice.oneIn(12) && asked === undefined) {
    delete schema.type;
    schema[`${WORD}int-or-string`] = true;
  } else if (dice.oneIn(8)) schema[`${WORD}preserve-unknown-fields`] = true;
  if (type === 'array') schema.items = node(dice, depth - 1);
  if (type === 'object') addMembers(schema, dice, depth);
  Object.assign(schema, values(dice, schema, depth));
  if (asked === undefined && dice.oneIn(3)) schema.default = valueFor(dice, schema, depth);
  return schema;
}

function addMembers(schema: Dict, dice: Dice, depth: number): void {
  if (dice.oneIn(4)) schema.additionalProperties = dice.oneIn(4) ? true : node(dice, depth - 1);
  else {
    const properties: Dict = {};
    for (let count = dice.between(1, 4); count > 0; count--) properties[dice.pick(NAMES)] = node(dice, depth - 1);
    schema.properties = properties;
  }
  if (dice.oneIn(10)) schema[`${WORD}embedded-resource`] = true;
}

/** What may be said in junctors too. */
function values(dice: Dice, of: Dict, depth: number): Dict {
  const says: Dict = {};
  const maybe = (name: string, times: number, value: () => unknown): void => {
    if (dice.oneIn(times)) says[name] = value();
  };
  maybe('minLength', 8, () => dice.below(3));
  maybe('maxLength', 8, () => dice.below(4));
  maybe('pattern', 10, () => dice.pick(PATTERNS));
  maybe('minimum', 8, () => dice.pick(NUMBERS));
  maybe('maximum', 8, () => dice.pick(NUMBERS));
  maybe('exclusiveMinimum', 12, () => dice.oneIn(2));
  maybe('exclusiveMaximum', 12, () => dice.oneIn(2));
  maybe('multipleOf', 10, () => dice.pick([1, 2, 3, 0.1, 0.25, 0.5]));
  maybe('minItems', 10, () => dice.below(3));
  maybe('maxItems', 10, () => dice.below(4));
  maybe('minProperties', 12, () => dice.below(3));
  maybe('maxProperties', 12, () => dice.below(4));
  maybe('required', 8, () => [dice.pick(NAMES)]);
  maybe('enum', 12, () => [valueFor(dice, of, 1), dice.pick(TEXTS), dice.pick(NUMBERS), null]);
  if (depth <= 0) return says;
  for (const junctor of ['anyOf', 'oneOf', 'allOf']) {
    maybe(junctor, 12, () => Array.from({ length: dice.between(1, 3) }, () => part(dice, of, depth - 2)));
  }
  maybe('not', 16, () => part(dice, of, depth - 2));
  return says;
}

function part(dice: Dice, of: Dict, depth: number): Dict {
  const says = values(dice, of, depth);
  const properties = of.properties as Dict | undefined;
  if (properties === undefined || !dice.oneIn(2)) return says;
  const name = dice.pick(Object.keys(properties));
  return { ...says, properties: { [name]: values(dice, properties[name] as Dict, depth) } };
}

/** A value that the schema is about, or something else. */
export function valueFor(dice: Dice, schema: Dict, depth: number): unknown {
  if (dice.oneIn(12)) return dice.pick([null, 1, 'a', true, [], {}, 0.5, [null], { a: null }]);
  const { type } = schema as { type?: string };
  switch (type ?? dice.pick(['integer', 'string'])) {
    case 'string':
      return dice.pick(TEXTS);
    case 'integer':
      return dice.pick([0, 1, 2, 3, -1, 5]);
    case 'number':
      return dice.pick(NUMBERS);
    case 'boolean':
      return dice.oneIn(2);
    case 'array': {
      const items = (schema.items ?? {}) as Dict;
      return Array.from({ length: dice.small(4) }, () => valueFor(dice, items, depth - 1));
    }
    default:
      return membersOf(dice, schema, depth);
  }
}

function membersOf(dice: Dice, { properties, additionalProperties }: Dict, depth: number): Dict {
  const value: Dict = {};
  const known = (properties ?? {}) as Record<string, Dict>;
  for (const [name, property] of Object.entries(known)) {
    if (!dice.oneIn(3)) value[name] = valueFor(dice, property, depth - 1);
  }
  while (dice.oneIn(2)) {
    const rest = typeof additionalProperties === 'object' ? (additionalProperties as Dict) : {};
    value[dice.pick(NAMES)] = valueFor(dice, rest, depth - 1);
  }
  return value;
}
