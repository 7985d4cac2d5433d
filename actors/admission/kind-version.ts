// What the write path knows of one type in one version, found once and kept: its schema, its strategy, and how its fields
// are owned.
import { type OwnedType, ownedType } from '../../api/apply/owned-type.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Schema, TypeSchema } from '../../api/schema/schema.ts';
import { strategyOf } from '../../api/strategy/strategies.ts';
import type { Strategy } from '../../api/strategy/strategy.ts';
import type { Draft } from './commits/draft.ts';

/** What objects of a kind hold of something there is only so much of: addresses and ports of services. */
export interface Allocation {
  /** The object with the fields that follow from others. Throws 422. */
  complete(type: KnownType, object: JsonObject, stored: JsonObject | undefined): JsonObject;
  /**
   * Chooses what the object still needs, and says what must be committed with it. `informed` reads first what others have.
   * Throws 422, and 500 when nothing is left.
   */
  allocate(type: KnownType, object: JsonObject, stored: JsonObject | undefined, informed: boolean): Promise<Allocated>;
  /** What is given back when the object goes. */
  release(type: KnownType, object: JsonObject): Promise<readonly Draft[]>;
}

/** An object as it is to be stored, and what is committed with it. */
export interface Allocated {
  readonly object: JsonObject;
  readonly also: readonly Draft[];
}

export interface KindVersion {
  readonly type: KnownType;
  /** Undefined for kinds without a schema. */
  readonly schema: TypeSchema | undefined;
  readonly strategy: Strategy;
  readonly owned: OwnedType;
  readonly allocation: Allocation | undefined;
}

/** Kinds in their versions, each made on its first write. */
export class KindVersions {
  readonly #schema: Schema;
  readonly #allocations: Readonly<Record<string, Allocation>>;
  /** Types of definitions come and go. */
  readonly #known = new WeakMap<KnownType, KindVersion>();

  /** @param allocations by store key. */
  constructor(schema: Schema, allocations: Readonly<Record<string, Allocation>>) {
    this.#schema = schema;
    this.#allocations = allocations;
  }

  of(type: KnownType): KindVersion {
    let kind = this.#known.get(type);
    if (kind === undefined) {
      const schema = this.#schema.kind(type.group, type.version, type.kind);
      const allocation = this.#allocations[type.storageKey];
      kind = { type, schema, strategy: strategyOf(type), owned: ownedType(schema, type.custom), allocation };
      this.#known.set(type, kind);
    }
    return kind;
  }
}
