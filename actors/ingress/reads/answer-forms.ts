// What an answer is made of and as: the type that a request names and how objects of it go out. A custom type's definition may
// change while a request waits for the hub or for admission: its answer is made by the definition that was applied by then.
import { storedKind } from '../../../api/catalog/stored-form.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { RowType } from '../../../api/table/table.ts';
import type { StoredAs } from '../../../rendering/rendering.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { customRowOf } from './custom-row.ts';
import type { AnswerClass, Representation, Representations } from './representation.ts';

/** What verbs answer with, where it is not one object. */
const ANSWER_CLASSES: Readonly<Record<string, AnswerClass>> = {
  list: 'list',
  watch: 'watch',
  deletecollection: 'list',
};

/** A type, and how its objects go out to one client. */
export interface AnswerForm {
  readonly type: KnownType;
  readonly representation: Representation;
}

export class AnswerForms {
  readonly #registry: Registry;
  readonly #representations: Representations;

  constructor(registry: Registry, representations: Representations) {
    this.#registry = registry;
    this.#representations = representations;
  }

  /** Throws as `Representations.of`. */
  of(exchange: Exchange, type: KnownType): AnswerForm {
    const { info } = exchange;
    const { verb } = info;
    const subresource = info.isResource ? info.subresource : '';
    const bodyType = bodyTypeOf(type, subresource);
    const source = bodyType.kind === type.kind ? this.#sourceOf(type) : undefined;
    const single = hasNoTable(verb, type, subresource, bodyType) ? 'tableless' : 'object';
    const representation = this.#representations.of(exchange, ANSWER_CLASSES[verb] ?? single, bodyType, source);
    return { type, representation };
  }

  /** The same by what this thread knows of the type now; as it was where the type has gone meanwhile. */
  now(exchange: Exchange, form: AnswerForm): AnswerForm {
    if (form.type.custom === undefined) return form;
    const newest = this.#newest(form.type);
    return newest === form.type ? form : this.of(exchange, newest);
  }

  /** True where objects of a type are shown otherwise than when it was looked up, or by nobody: it may be gone, or made anew. */
  isOutdated(type: KnownType): boolean {
    if (type.custom === undefined) return false;
    const { uid, generation } = type.custom.definition;
    const newest = this.#registry.byPath(type.group, type.version, type.plural)?.custom?.definition;
    return newest?.uid !== uid || newest.generation !== generation;
  }

  #newest(type: KnownType): KnownType {
    return this.#registry.byPath(type.group, type.version, type.plural) ?? type;
  }

  /** What objects of a type are stored as, if that is another version. */
  #sourceOf(type: KnownType): StoredAs | undefined {
    return type.needsConversion ? { ...storedKind(type), dialect: this.#registry.dialect.name } : undefined;
  }
}

/** A review is not stored, and of what lies below an object only the parts of custom objects that are of their kind have columns. */
function hasNoTable(verb: string, type: KnownType, subresource: string, { form }: RowType): boolean {
  return (verb === 'create' && !type.persisted) || (subresource !== '' && form === undefined);
}

/** What a path's bodies are: objects of the type, or what its subresource shows. */
function bodyTypeOf(type: KnownType, subresource: string): RowType {
  const shown = type.subresources.get(subresource);
  if (type.custom === undefined) return shown ?? type;
  return shown === undefined || shown.kind === type.kind ? customRowOf(type, type.custom) : shown;
}
