// What controllers know of the types that definitions make: followed by their own stream, so that a type is known before its
// first instance comes.
import { TypeCatalog } from '../../api/catalog/catalog.ts';
import type { Definition } from '../../api/custom/definitions/definition.ts';
import { parseDefinition } from '../../api/custom/definitions/definition-text.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';

export class CustomTypes {
  readonly #builtInKeys: ReadonlySet<string>;
  readonly #catalog: TypeCatalog;
  readonly #objects = new Map<string, JsonObject>();

  constructor(builtIn: Registry) {
    this.#builtInKeys = new Set(builtIn.known().map(({ storageKey }) => storageKey));
    this.#catalog = new TypeCatalog(builtIn);
  }

  /** Where definitions are stored. */
  get storageKey(): string {
    return this.#catalog.storageKey;
  }

  reset(): void {
    this.#catalog.reset();
    this.#objects.clear();
  }

  /** Of a definition. */
  onEvent(event: FeedEvent): void {
    if (event.type === 'delete') {
      this.#catalog.remove(event.name);
      this.#objects.delete(event.name);
      return;
    }
    const object = event.parsed(parseDefinition);
    this.#catalog.put(object, event.revision);
    this.#objects.set(event.name, object);
  }

  /** The object that a definition was read from, its schemas as text. */
  object(name: string): JsonObject | undefined {
    return this.#objects.get(name);
  }

  /** As it was last heard of. */
  definition(name: string): Definition | undefined {
    return this.#catalog.definition(name);
  }

  /** True for what is stored under a type that is not built in: those are of groups with a domain. */
  isCustomKey(storageKey: string): boolean {
    const dot = storageKey.indexOf('.');
    return dot > 0 && dot < storageKey.indexOf('/') && !this.#builtInKeys.has(storageKey);
  }

  /** A custom type, in a version that is served. */
  ofStorageKey(storageKey: string): KnownType | undefined {
    const { registry } = this.#catalog;
    const type = registry.storageType(storageKey);
    if (type?.custom === undefined) return undefined;
    return registry.byPath(type.group, type.preferredVersion, type.plural) ?? type;
  }

  /** A custom type by what owner references say: its kind, or that in small letters. */
  ofKind(group: string, version: string, kind: string): KnownType | undefined {
    const { registry } = this.#catalog;
    const type = registry.byKind(group, version, kind) ?? ofSmallKind(registry, group, version, kind);
    return type?.custom === undefined ? undefined : type;
  }
}

function ofSmallKind(registry: Registry, group: string, version: string, kind: string): KnownType | undefined {
  if (registry.preferredVersion(group) === undefined) return undefined;
  const names = (type: KnownType): boolean =>
    type.group === group && type.version === version && type.kind.toLowerCase() === kind;
  return registry.all().find(names);
}
