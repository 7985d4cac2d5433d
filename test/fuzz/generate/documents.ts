// Objects to begin with, kind by kind: the valid ones of the fixtures, and made ones of kinds that have none there. Also the
// words that valid objects have under each member's name.
import { readdirSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { type Schema, schemaOf, type TypeSchema } from '../../../api/schema/schema.ts';
import { DIALECTS, type Dialect } from '../../../config/dialect.ts';
import { documents } from '../../unit/api/validation/objects.ts';
import { ROOT } from '../../unit/source-tree.ts';
import type { Dice } from './dice.ts';
import { grownValue, mutatedValue } from './mutate-value.ts';
import { SchemaValues } from './schema-values.ts';

const WORDS_MAX = 60;
const GROWN_ONE_IN = 1500;

class Documents {
  /** JSON texts by the type's name. */
  readonly #texts = new Map<string, string[]>();
  readonly #values: SchemaValues;

  constructor(schema: Schema, values: readonly unknown[]) {
    const words = new Map<string, unknown[]>();
    for (const value of values) {
      if (!isJsonObject(value)) continue;
      gatherWords(value, words);
      const { group, version } = splitApiVersion(String(value.apiVersion));
      const type = schema.kind(group, version, String(value.kind));
      if (type === undefined) continue;
      const texts = this.#texts.get(type.name) ?? [];
      texts.push(JSON.stringify(value));
      this.#texts.set(type.name, texts);
    }
    this.#values = new SchemaValues(schema, words);
  }

  readonly suggest = (name: string, dice: Dice): unknown => this.#values.word(name, dice);

  hasValid(typeName: string): boolean {
    return this.#texts.has(typeName);
  }

  /** Something of the type, which need not be one of KINDS. */
  made(type: TypeSchema, dice: Dice, density: number): JsonObject {
    return this.#values.object(type, dice, density);
  }

  /** A valid object of the type as JSON text, if the fixtures have one. */
  valid(type: TypeSchema, dice: Dice): string | undefined {
    const texts = this.#texts.get(type.name);
    return texts === undefined ? undefined : dice.pick(texts);
  }

  /** A plausible object: a valid one, a valid one with changes, or one made from the schema. */
  plausible(type: TypeSchema, dice: Dice): JsonObject {
    const valid = dice.chance(0.8) ? this.valid(type, dice) : undefined;
    if (valid === undefined) return this.#values.object(type, dice, dice.next() * 0.5);
    return JSON.parse(valid) as JsonObject;
  }

  /** The object with changes, which may leave none; once in a long while made huge. */
  mutated(value: unknown, dice: Dice): unknown {
    if (dice.oneIn(GROWN_ONE_IN)) return grownValue(value, dice);
    return mutatedValue(value, dice, dice.small(6), this.suggest);
  }
}

function gatherWords(value: JsonObject, words: Map<string, unknown[]>): void {
  for (const [name, member] of Object.entries(value)) {
    const known = words.get(name) ?? [];
    if (known.length < WORDS_MAX) known.push(...(Array.isArray(member) ? [member, ...member] : [member]));
    words.set(name, known);
    for (const below of Array.isArray(member) ? (member as unknown[]) : [member])
      if (isJsonObject(below)) gatherWords(below, words);
  }
}

const FOLDER = `${ROOT}test/fixtures/valid`;

/** In the words of a dialect. */
export function documentsIn(dialect: Dialect): Documents {
  const texts = readdirSync(FOLDER).map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8'));
  return new Documents(
    schemaOf(dialect),
    texts.flatMap((text) => documents(text, dialect)),
  );
}

export const DIALECT = DIALECTS.orch;
export const SCHEMA = schemaOf(DIALECT);

/** Every type that objects are sent of: it has kind and apiVersion. */
export const KINDS: readonly TypeSchema[] = SCHEMA.typeNames
  .map((name) => SCHEMA.type(name))
  .filter((type) => type.hasTypeMeta && type.form === 'message');

/** Read once a thread. */
export const DOCUMENTS = documentsIn(DIALECT);

/** Kinds that are stored. */
export const STORED: readonly TypeSchema[] = KINDS.filter(({ name }) => DOCUMENTS.hasValid(name));
