// Makes what an answer says from what is stored: decoded object → converted to the version asked for → brought into the
// shape asked for. How the result is written is the encoder's business; an answer that keeps the stored bytes
// (`keepsStoredBytes`) never comes here.

import { type Converter, conversionsOf } from '../api/conversion/conversion.ts';
import { converterInto } from '../api/custom/definitions/custom-type.ts';
import type { JsonObject } from '../api/json/json-value.ts';
import { schemaOf } from '../api/schema/schema.ts';
import { Shaping } from '../api/table/shape.ts';
import type { RowType } from '../api/table/table.ts';
import { DIALECTS } from '../config/dialect.ts';
import { keepsStoredValue, type Rendering, type StoredAs } from './rendering.ts';

/** Renders objects of one type one way, with ages as of one moment. */
export class Renderer {
  readonly rendering: Rendering;
  /** Wall time that the ages in a Table are counted to; of no account to anything else. */
  readonly nowMs: number;
  readonly #shaping: Shaping | undefined;
  readonly #converter: Converter | undefined;

  constructor(rendering: Rendering, nowMs: number) {
    const { shape, source, target } = rendering;
    this.rendering = rendering;
    this.nowMs = nowMs;
    this.#converter = source === undefined ? undefined : converterOf(source, target);
    this.#shaping = shape === undefined ? undefined : new Shaping(shape, target, nowMs);
  }

  /** True when the items of a list are the JSON values they are stored as: they leave out what makes a difference. */
  get keepsStoredItems(): boolean {
    const { source: _source, ...rendering } = this.rendering;
    return keepsStoredValue(rendering) && this.#converter?.isRelabeling !== false;
  }

  /** True when a list has to be rendered as a whole, because its items change places. */
  get reorders(): boolean {
    return this.#shaping?.reorders === true;
  }

  /** A single object, decoded from what is stored. `withColumns`: false in a watch after the first Table. */
  stored(object: JsonObject, withColumns = true): object {
    return this.object(this.converted(object), withColumns);
  }

  /** An object that is of the target's version already. */
  object(object: JsonObject, withColumns = true): object {
    return this.#shaping === undefined ? object : this.#shaping.object(object, withColumns);
  }

  /** A list of stored objects in its shape, the last member its items or rows. Only for renderings with a shape. */
  shapedList(items: readonly JsonObject[], metadata: object): object {
    return this.#shaped().list(
      items.map((item) => this.converted(item)),
      metadata,
    );
  }

  /** One object of the target's version as an item or row of `shapedList`. */
  shapedItem(object: JsonObject): object {
    return this.#shaped().item(object);
  }

  /** Where the rows of a list that `reorders` go: their indexes in the order of the kind. The objects are converted. */
  orderOf(objects: readonly JsonObject[]): readonly number[] {
    return this.#shaped().orderOf(objects);
  }

  /** A stored object as the target: the one place where the stored version and the one asked for meet. */
  converted(object: JsonObject): JsonObject {
    return this.#converter === undefined ? object : this.#converter.convert(object);
  }

  #shaped(): Shaping {
    if (this.#shaping === undefined) throw new RangeError('the rendering has no shape');
    return this.#shaping;
  }
}

function converterOf(source: StoredAs, target: RowType): Converter | undefined {
  const schema = schemaOf(DIALECTS[source.dialect]);
  const { form } = target;
  if (form === undefined) return conversionsOf(schema).between(source, target);
  const words = { prefix: schema.dialect.openapiExtensionPrefix, metadata: schema.type('meta/v1.ObjectMeta') };
  const convert = converterInto(form, words);
  return convert && { isRelabeling: false, convert };
}
