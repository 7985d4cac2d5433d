// An object in the versions that webhooks ask for: each is made once a phase. Of a subresource, and of options, there is one version
// only.
import { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import type { JsonObject } from '../../../../api/json-value.ts';
import { textAt } from '../../../../api/object-fields.ts';
import { type KnownType, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import { type ConversionParts, converted } from '../../conversion/converted.ts';
import type { Told } from './review.ts';

export class ToldVersions {
  readonly #attributes: Attributes;
  readonly #parts: ConversionParts;
  readonly #texts: EncodedTexts;
  readonly #made = new Map<KnownType, Promise<Told>>();

  /** @param texts of the object's parts, for as long as nothing changes them. */
  constructor(attributes: Attributes, parts: ConversionParts, texts = new EncodedTexts()) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#texts = texts;
  }

  /** The write as a webhook is told it that asks for a type. */
  as(type: KnownType): Promise<Told> {
    let told = this.#made.get(type);
    if (told === undefined) {
      told = this.#tell(type);
      this.#made.set(type, told);
    }
    return told;
  }

  /** An object in the version of the request. */
  async back(object: JsonObject, type: KnownType): Promise<JsonObject> {
    const { type: own } = this.#attributes;
    if (type === own || !isOf(object, type)) return object;
    return converted(this.#parts, own, (forms) => forms.between(type, own)(object));
  }

  /** The object has changed. */
  forget(): void {
    this.#made.clear();
  }

  async #tell(type: KnownType): Promise<Told> {
    const attributes = this.#attributes;
    const { object, old } = attributes;
    const [shown, before] = [await this.#in(type, object), old && (await this.#in(type, old))];
    const managedFieldsText = shown === object ? attributes.managedFieldsText : '';
    const texts = this.#texts;
    return { attributes, type, object: shown, managedFieldsText, old: before, texts, requestText: undefined };
  }

  async #in(type: KnownType, object: JsonObject): Promise<JsonObject> {
    const { type: own } = this.#attributes;
    if (type === own || object === NO_OBJECT || !isOf(object, own)) return object;
    return converted(this.#parts, type, (forms) => forms.between(own, type)(object));
  }
}

/** True for an object of a type itself, and not of what its subresources show. */
export function isOf(object: JsonObject, type: KnownType): boolean {
  const { group, version } = splitApiVersion(textAt(object, 'apiVersion'));
  return textAt(object, 'kind') === type.kind && group === type.group && version === type.version;
}
