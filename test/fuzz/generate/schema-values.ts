// Objects of any type of the schema: members by chance, values by the words that valid objects have under the same name,
// by enumeration, or by form.
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { FieldSchema, Form, Schema, TypeSchema } from '../../../api/schema/schema.ts';
import type { Dice } from './dice.ts';
import { ODD_NUMBERS, ODD_TEXTS, withName } from './junk.ts';

/** Words seen under the name of a member. */
export type Words = ReadonlyMap<string, readonly unknown[]>;

const LEVELS_MAX = 9;

const FORMS: Readonly<Partial<Record<Form, readonly unknown[]>>> = {
  quantity: ['1', '100m', '1Gi', '0', '-1', '1.5', '1e3', 1, '128974848', '1n', '9E', '1Ki'],
  time: ['2021-04-08T12:00:00Z', '2021-04-08T12:00:00.5+02:00', null, '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  microTime: ['2021-04-08T12:00:00.000000Z', '2021-04-08T12:00:00.123456-07:00', null],
  duration: ['1s', '0s', '1h2m3.5s', '-5ms', '1ns'],
  intOrString: [80, 0, -1, '50%', 'http', '100%', '1'],
  rawExtension: [{ a: 1 }, null, [], 'x', { kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'b' } }],
  fieldsV1: [{ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }, {}, { 'k:{"name":"a"}': {} }, { 'v:1': {} }],
  json: [1, null, 'a', { a: [1] }, [], true],
  any: [1, 'a', null, {}],
  stringList: [['a'], [], ['a', '']],
  schemaOrBool: [true, false, { type: 'string' }],
  schemaOrArray: [{ type: 'string' }, [{ type: 'integer' }]],
  schemaOrStringArray: [['a'], { type: 'object' }],
};

const NAMES: readonly string[] = ['a', 'b', 'web', 'default', 'http', 'x-1', 'a.b/c', 'main', 'data'];

export class SchemaValues {
  readonly #schema: Schema;
  readonly #words: Words;

  constructor(schema: Schema, words: Words) {
    this.#schema = schema;
    this.#words = words;
  }

  /** An object of the type. `density`: how likely a member is that is not required. */
  object(type: TypeSchema, dice: Dice, density: number, level = 0): JsonObject {
    const object: Record<string, unknown> = {};
    if (type.hasTypeMeta && level === 0) {
      object.kind = type.kind;
      object.apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    }
    const below = density * 0.8;
    for (const field of type.fields) {
      if (!dice.chance(field.required ? 0.93 : density)) continue;
      if (level >= LEVELS_MAX && field.kind === 'message') continue;
      object[field.name] = this.#member(field, dice, below, level);
    }
    return object;
  }

  /** A value as one finds it under this name in valid objects. */
  word(name: string, dice: Dice): unknown {
    const words = this.#words.get(name);
    return words === undefined ? undefined : structuredClone(dice.pick(words));
  }

  #member(field: FieldSchema, dice: Dice, density: number, level: number): unknown {
    if (field.cardinality === 'one') return this.#value(field, dice, density, level);
    const count = dice.small(4);
    if (field.cardinality === 'list')
      return Array.from({ length: count }, () => this.#value(field, dice, density, level));
    const map: Record<string, unknown> = {};
    for (let left = count; left > 0; left--)
      withName(map, dice.pick(dice.oneIn(8) ? ODD_TEXTS : NAMES), this.#value(field, dice, density, level));
    return map;
  }

  #value(field: FieldSchema, dice: Dice, density: number, level: number): unknown {
    const { kind, type } = field;
    if (kind === 'message' && type!.form === 'message') return this.object(type!, dice, density, level + 1);
    const words = this.#words.get(field.name);
    if (words !== undefined && dice.chance(0.6)) {
      const word = dice.pick(words);
      if (typeof word !== 'object') return word;
    }
    switch (kind) {
      case 'string':
        if (field.enumeration !== undefined && !dice.oneIn(10))
          return dice.pick(this.#schema.enumeration(field.enumeration));
        return dice.pick(dice.oneIn(4) ? ODD_TEXTS : NAMES);
      case 'int32':
      case 'int64':
        return dice.oneIn(6) ? dice.pick(ODD_NUMBERS) : dice.small(200);
      case 'bool':
        return dice.oneIn(2);
      case 'double':
        return dice.next() * 10;
      case 'bytes':
        return dice.pick(['aGk=', '', 'AAEC', 'aGl=']);
      case 'message':
        return structuredClone(dice.pick(FORMS[type!.form] ?? [{}]));
    }
  }
}
