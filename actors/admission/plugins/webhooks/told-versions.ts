// An object in the versions that webhooks ask for: each is made once a phase. Of a subresource, and of options, there is one version
// only.
import { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { textAt } from '../../../../api/json/object-fields.ts';
import { type KnownType, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import { type ConversionParts, converted } from '../../conversion/converted.ts';
import type { Told } from './review.ts';

export class ToldVersions {
  readonly #attributes: Attributes;
  readonly #parts: ConversionParts;
  readonly #texts: EncodedTexts;
  readonly #isForSeveral: boolean;
  readonly #made = new Map<KnownType, Told | Promise<Told>>();

  /**
   * @param webhooks that may be told it.
   * @param texts of the object's parts, for as long as nothing changes them.
   */
  constructor(attributes: Attributes, parts: ConversionParts, webhooks: number, texts = new EncodedTexts()) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#isForSeveral = webhooks > 1;
    this.#texts = texts;
  }

  /** The write as a webhook is told it that asks for a type; a promise of it where that is another than the request's. */
  as(type: KnownType): Told | Promise<Told> {
    let told = this.#made.get(type);
    if (told === undefined) {
      const { object, old } = this.#attributes;
      told = type === this.#attributes.type ? this.#told(type, object, old) : this.#converted(type);
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

  #told(type: KnownType, object: JsonObject, old: JsonObject | undefined): Told {
    const attributes = this.#attributes;
    const managedFieldsText = object === attributes.object ? attributes.managedFieldsText : '';
    const [texts, isForSeveral] = [this.#texts, this.#isForSeveral];
    return { attributes, type, object, managedFieldsText, old, texts, isForSeveral, requestText: undefined };
  }

  async #converted(type: KnownType): Promise<Told> {
    const { object, old } = this.#attributes;
    return this.#told(type, await this.#in(type, object), old && (await this.#in(type, old)));
  }

  async #in(type: KnownType, object: JsonObject): Promise<JsonObject> {
    const { type: own } = this.#attributes;
    if (object === NO_OBJECT || !isOf(object, own)) return object;
    return converted(this.#parts, type, (forms) => forms.between(own, type)(object));
  }
}

/** True for an object of a type itself, and not of what its subresources show. */
export function isOf(object: JsonObject, type: KnownType): boolean {
  const { group, version } = splitApiVersion(textAt(object, 'apiVersion'));
  return textAt(object, 'kind') === type.kind && group === type.group && version === type.version;
}
