// An object in the versions that webhooks ask for: each is made once a phase. Of a subresource, and of options, there is one version
// only.
import type { StoredForm } from '../../../../api/conversion/stored-form.ts';
import type { JsonObject } from '../../../../api/json-value.ts';
import { textAt } from '../../../../api/object-fields.ts';
import { type KnownType, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import type { Told } from './review.ts';

export class ToldVersions {
  readonly #attributes: Attributes;
  readonly #forms: StoredForm;
  readonly #made = new Map<KnownType, Told>();

  constructor(attributes: Attributes, forms: StoredForm) {
    this.#attributes = attributes;
    this.#forms = forms;
  }

  /** The write as a webhook is told it that asks for a type. */
  as(type: KnownType): Told {
    let told = this.#made.get(type);
    if (told === undefined) {
      const { object, old } = this.#attributes;
      told = { attributes: this.#attributes, type, object: this.#in(type, object), old: old && this.#in(type, old) };
      this.#made.set(type, told);
    }
    return told;
  }

  /** An object in the version of the request. */
  back(object: JsonObject, type: KnownType): JsonObject {
    return type === this.#attributes.type || !isOf(object, type)
      ? object
      : this.#forms.between(type, this.#attributes.type)(object);
  }

  /** The object has changed. */
  forget(): void {
    this.#made.clear();
  }

  #in(type: KnownType, object: JsonObject): JsonObject {
    const { type: own } = this.#attributes;
    if (type === own || object === NO_OBJECT || !isOf(object, own)) return object;
    return this.#forms.between(own, type)(object);
  }
}

/** True for an object of a type itself, and not of what its subresources show. */
export function isOf(object: JsonObject, type: KnownType): boolean {
  const { group, version } = splitApiVersion(textAt(object, 'apiVersion'));
  return textAt(object, 'kind') === type.kind && group === type.group && version === type.version;
}
