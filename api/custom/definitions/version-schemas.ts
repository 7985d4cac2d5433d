// The schemas of a definition's versions at work: each is parsed and compiled when an object first needs it, once for all the
// versions that say the same, and kept when the definition changes in something else.

import type { TypeSchema } from '../../schema/schema.ts';
import { CustomSchema } from '../forms/custom-schema.ts';
import type { Definition } from './definition.ts';
import { parseSchema } from './schema-text.ts';

/** The words of a dialect that a schema at work needs. */
export interface SchemaWords {
  /** What names of our own in a schema begin with. */
  readonly prefix: string;
  /** `meta/v1.ObjectMeta`. */
  readonly metadata: TypeSchema;
}

/** What of a definition its schemas are read with. */
type Described = Pick<Definition, 'keepsUnknown'> & {
  readonly versions: readonly Pick<Definition['versions'][number], 'schemaText'>[];
};

export class VersionSchemas {
  readonly #keepsUnknown: boolean;
  readonly #words: SchemaWords;
  readonly #compiled = new Map<string | undefined, CustomSchema>();

  /** @param before those of the same definition until now. */
  constructor({ versions, keepsUnknown }: Described, words: SchemaWords, before?: VersionSchemas) {
    this.#keepsUnknown = keepsUnknown;
    this.#words = words;
    if (before === undefined || before.#keepsUnknown !== keepsUnknown || before.#compiled.size === 0) return;
    for (const { schemaText } of versions) {
      const schema = before.#compiled.get(schemaText);
      if (schema !== undefined) this.#compiled.set(schemaText, schema);
    }
  }

  /** False where `of` would parse the schema of a version first. */
  hasRead({ schemaText }: Described['versions'][number]): boolean {
    return this.#compiled.has(schemaText);
  }

  /** Of a version of the definition. */
  of({ schemaText }: Described['versions'][number]): CustomSchema {
    let schema = this.#compiled.get(schemaText);
    if (schema === undefined) {
      const parsed = schemaText === undefined ? undefined : parseSchema(schemaText);
      schema = new CustomSchema({ schema: parsed, keepsUnknown: this.#keepsUnknown, ...this.#words });
      this.#compiled.set(schemaText, schema);
    }
    return schema;
  }
}
