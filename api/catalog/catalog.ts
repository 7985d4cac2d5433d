// Which types there are at a revision: the built-in ones and those of the definitions. Each change makes a new immutable
// registry, when it is next asked for; whoever holds the catalog's own `registry` sees the newest at each look-up.
import { conversionsOf } from '../conversion/conversion.ts';
import { type Definition, readDefinition } from '../custom/definitions/definition.ts';
import { parseDefinition } from '../custom/definitions/definition-text.ts';
import type { SchemaWords } from '../custom/definitions/version-schemas.ts';
import type { JsonObject } from '../json/json-value.ts';
import { withCustomTypes } from '../resources/custom-registry.ts';
import type { Registry } from '../resources/registry.ts';
import type { KnownType } from '../resources/resource-table.ts';
import { schemaOf } from '../schema/schema.ts';
import { knownTypesOf } from './known-types.ts';
import { storedKind } from './stored-form.ts';

interface Entry {
  readonly definition: Definition;
  readonly types: readonly KnownType[];
}

export class TypeCatalog {
  readonly #builtIn: Registry;
  readonly #isSharedWithOthers: boolean;
  readonly #words: SchemaWords;
  readonly #entries = new Map<string, Entry>();
  readonly #inVersion: (object: JsonObject) => JsonObject;
  /** Where definitions are stored. */
  readonly storageKey: string;
  /** Looks up in the newest state. */
  readonly registry: Registry;
  #current: Registry | undefined;
  #edition = 0;

  /** `isSharedWithOthers`: other servers than ours write custom objects into the store as well. */
  constructor(builtIn: Registry, isSharedWithOthers = false) {
    this.#isSharedWithOthers = isSharedWithOthers;
    const { dialect } = builtIn;
    const schema = schemaOf(dialect);
    this.#builtIn = builtIn;
    this.#words = { prefix: dialect.openapiExtensionPrefix, metadata: schema.type('meta/v1.ObjectMeta') };
    this.storageKey = dialect.spell('apiextensions.@group/customresourcedefinitions');
    const type = builtIn.storageType(this.storageKey)!;
    this.#inVersion =
      type.version === 'v1'
        ? (object) => object
        : (object) =>
            conversionsOf(schema)
              .between(storedKind(type), { ...storedKind(type), version: 'v1' })
              .convert(object);
    this.#current = builtIn;
    this.registry = new NewestRegistry(builtIn.dialect, builtIn.minorRelease, () => this.#current ?? this.#rebuilt());
  }

  /** A definition, established or not. */
  definition(name: string): Definition | undefined {
    return this.#entries.get(name)?.definition;
  }

  /** Forgets all definitions: those that there are follow. */
  reset(): void {
    if (this.#entries.size === 0) return;
    this.#entries.clear();
    this.#current = undefined;
  }

  /** A definition from its JSON, its schemas left as they are. */
  parse(text: string): JsonObject {
    return parseDefinition(text);
  }

  /** A definition as it is stored now. Answers with where its objects are, if they are shown otherwise from now on. */
  put(object: JsonObject, revision: number): string | undefined {
    const read = readDefinition(this.#inVersion(object), revision);
    const definition = this.#isSharedWithOthers ? { ...read, isSharedWithOthers: true } : read;
    const before = this.#entries.get(definition.name);
    const isBuiltIn = this.storageKeyOf(definition.name) === undefined;
    const types = isBuiltIn ? [] : knownTypesOf(definition, this.#words, before?.types[0]?.custom);
    this.#entries.set(definition.name, { definition, types });
    this.#current = undefined;
    return before?.definition.generation === definition.generation ? undefined : storageKeyOf(before);
  }

  /** By where objects are stored, what they are shown by. */
  editions(): ReadonlyMap<string, string> {
    const editions = new Map<string, string>();
    for (const entry of this.#entries.values()) {
      const storageKey = storageKeyOf(entry);
      const { uid, generation } = entry.definition;
      if (storageKey !== undefined) editions.set(storageKey, `${uid} ${generation}`);
    }
    return editions;
  }

  /** Where the objects are stored that the definition of a name makes, or made; undefined for the name of a built-in type. */
  storageKeyOf(name: string): string | undefined {
    const dot = name.indexOf('.');
    const storageKey = `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
    return this.#builtIn.storageType(storageKey) === undefined ? storageKey : undefined;
  }

  /** Answers with where the objects of the definition were. */
  remove(name: string): string | undefined {
    const before = this.#entries.get(name);
    if (this.#entries.delete(name)) this.#current = undefined;
    return storageKeyOf(before);
  }

  #rebuilt(): Registry {
    const types = [...this.#entries.values()].flatMap((entry) => entry.types);
    this.#edition++;
    this.#current = withCustomTypes(this.#builtIn, types, this.#edition);
    return this.#current;
  }
}

/** Undefined where there are no objects. */
function storageKeyOf(entry: Entry | undefined): string | undefined {
  return entry?.types[0]?.storageKey;
}

/** Answers each question by the registry of that moment. */
class NewestRegistry implements Registry {
  readonly dialect: Registry['dialect'];
  readonly minorRelease: number;
  readonly #newest: () => Registry;

  constructor(dialect: Registry['dialect'], minorRelease: number, newest: () => Registry) {
    this.dialect = dialect;
    this.minorRelease = minorRelease;
    this.#newest = newest;
  }

  get edition(): number {
    return this.#newest().edition;
  }

  byPath(group: string, version: string, plural: string): KnownType | undefined {
    return this.#newest().byPath(group, version, plural);
  }

  byKind(group: string, version: string, kind: string): KnownType | undefined {
    return this.#newest().byKind(group, version, kind);
  }

  all(): readonly KnownType[] {
    return this.#newest().all();
  }

  known(): readonly KnownType[] {
    return this.#newest().known();
  }

  groups(): ReturnType<Registry['groups']> {
    return this.#newest().groups();
  }

  servedVersions(group: string): readonly string[] {
    return this.#newest().servedVersions(group);
  }

  preferredVersion(group: string): string | undefined {
    return this.#newest().preferredVersion(group);
  }

  storageType(storageKey: string): KnownType | undefined {
    return this.#newest().storageType(storageKey);
  }

  resourcesByPreferredVersion(): readonly KnownType[] {
    return this.#newest().resourcesByPreferredVersion();
  }
}
