// Brings definitions of custom types into force: which of their names are free, whether they are served; and empties those that
// are being deleted, before their finalizer is given up.
import { type DefinedNames, type Definition, readNames } from '../../../api/custom/definitions/definition.ts';
import {
  cleanupFinalizer,
  definitionStatus,
  givesUpNames,
  takenNames,
  terminatingCondition,
  withCondition,
} from '../../../api/custom/definitions/definition-status.ts';
import { withParsedSchemas } from '../../../api/custom/definitions/definition-text.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { asText, asTexts, partAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { schemaProblemsOf } from '../../../api/validation/definition-schemas.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import type { CustomTypes } from '../custom-types.ts';
import type { GarbageCollector } from '../garbage/garbage-collector.ts';
import { apiServerIdentity } from '../identities.ts';
import { NamespaceContents } from '../namespaces/namespace-contents.ts';
import { isTerminating } from '../targets.ts';

/** Instances with finalizers go when those do; that is looked for again. */
const SWEEP_INTERVAL_MS = 5000;
/** How often it is looked whether what the instances owned has gone, and how long: what cannot go keeps no definition. */
const COLLECTION_LOOK_MS = 200;
const COLLECTION_MS_MAX = 60_000;

interface KnownDefinition {
  /** Its schemas are text. */
  readonly object: ApiObject;
  readonly definition: Definition;
}

/** The controller of custom resource definitions. Keys are names of definitions. */
export class CustomDefinitions implements Controller {
  readonly name = 'custom-resource-definitions';
  readonly identity;
  readonly wants: readonly string[];
  readonly wantsCustom = true;
  readonly keysInFlightMax = 8;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #dialect: Dialect;
  readonly #types: CustomTypes;
  readonly #group: string;
  readonly #finalizer: string;
  readonly #known = new Map<string, KnownDefinition>();
  /**
   * What definitions are being given, until the store tells of it: of two that ask for one name at once, the other must not be given
   * it as well.
   */
  readonly #promised = new Map<string, DefinedNames>();
  /** Instances by the plural and group of their type. */
  readonly #contents = new Map<string, NamespaceContents>();
  readonly #collector: Pick<GarbageCollector, 'isBehind'> | undefined;
  /** Since when definitions wait for what their instances owned, by name. */
  readonly #waitingSinceMs = new Map<string, number>();

  /** `collector`: undefined where what is owned is not looked after here. */
  constructor(
    clock: Clock,
    due: Due,
    dialect: Dialect,
    types: CustomTypes,
    collector: Pick<GarbageCollector, 'isBehind'> | undefined,
  ) {
    this.#collector = collector;
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#dialect = dialect;
    this.#types = types;
    this.#group = dialect.spell('apiextensions.@group');
    this.#finalizer = cleanupFinalizer(this.#group);
    this.wants = [types.storageKey];
  }

  reset(): void {
    this.#known.clear();
    this.#promised.clear();
    this.#contents.clear();
    this.#waitingSinceMs.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey !== this.#types.storageKey) this.#onInstance(event);
    else if (event.type === 'delete') this.#onGone(event.name);
    else this.#onDefinition(event);
  }

  onSynced(): void {
    for (const name of this.#known.keys()) this.#due.add(name);
  }

  plan(key: string): Plan {
    const known = this.#known.get(key);
    if (known === undefined) return NOTHING;
    return isTerminating(known.object) ? this.#planEnd(known) : this.#planStatus(known);
  }

  onOutcome(key: string, _write: Write, { ok, code }: WriteOutcome): void {
    // Without an answer it may be written all the same.
    if (ok || code === 0 || !this.#promised.delete(key)) return;
    const known = this.#known.get(key);
    if (known !== undefined) this.#askAgain(known.definition);
  }

  #onDefinition(event: FeedEvent): void {
    const object = this.#types.object(event.name);
    const definition = this.#types.definition(event.name);
    if (object === undefined || definition === undefined) return;
    const had = this.#namesOf(event.name);
    this.#known.set(event.name, { object, definition });
    this.#promised.delete(event.name);
    this.#due.add(event.name);
    if (givesUpNames(had, definition.accepted)) this.#askAgain(definition);
  }

  #onGone(name: string): void {
    const gone = this.#known.get(name);
    this.#known.delete(name);
    this.#promised.delete(name);
    this.#waitingSinceMs.delete(name);
    if (gone !== undefined) this.#askAgain(gone.definition);
  }

  /** Names of a group have become free: those who want more than they have look again. */
  #askAgain({ group, name }: Definition): void {
    for (const [other, { definition }] of this.#known) {
      if (other !== name && definition.group === group && !hasAllNames(definition)) this.#due.add(other);
    }
  }

  /** All that a definition has, or will have had. */
  #namesOf(name: string): readonly DefinedNames[] {
    return [this.#known.get(name)?.definition.accepted, this.#promised.get(name)].filter(
      (names) => names !== undefined,
    );
  }

  #onInstance(event: FeedEvent): void {
    const { storageKey } = event;
    let contents = this.#contents.get(storageKey);
    if (contents === undefined) {
      contents = new NamespaceContents();
      this.#contents.set(storageKey, contents);
    }
    contents.onEvent(event);
    if (event.type !== 'delete' || !contents.isNothing) return;
    this.#contents.delete(storageKey);
    const slash = storageKey.indexOf('/');
    this.#due.add(`${storageKey.slice(slash + 1)}.${storageKey.slice(0, slash)}`);
  }

  #planStatus({ object, definition }: KnownDefinition): Plan {
    // A promise that could not be kept is made anew.
    this.#promised.delete(definition.name);
    // Names that it has are not asked for again: many definitions would all be held against each other at a start.
    const taken = takenNames(hasAllNames(definition) ? [] : this.#namesIn(definition));
    // What prunes its objects was refused unless its schemas are structural.
    const problems = definition.keepsUnknown ? schemaProblemsOf(definition, this.#dialect) : '';
    const status = definitionStatus(object, definition, taken, problems, this.#nowIso(), this.#dialect);
    if (deepEqual(status, object.status)) return NOTHING;
    this.#promised.set(definition.name, readNames(status.acceptedNames));
    return { writes: [this.#statusWrite(object, status)] };
  }

  /**
   * Its own are among them: a name that it has in one place is taken in another. Those of built-in types are not: a definition that has
   * them is established, and never asked for.
   */
  *#namesIn({ group }: Definition): Iterable<DefinedNames> {
    for (const [name, { definition }] of this.#known) if (definition.group === group) yield* this.#namesOf(name);
  }

  #planEnd({ object, definition }: KnownDefinition): Plan {
    const metadata = partAt(object, 'metadata');
    const finalizers = asTexts(metadata.finalizers);
    if (!finalizers.includes(this.#finalizer)) return NOTHING;
    const status = partAt(object, 'status');
    const storageKey = `${definition.group}/${definition.names.plural}`;
    // What lies in the place of one that never was in force was not made by it.
    const contents = definition.isEstablished ? this.#contents.get(storageKey) : undefined;
    const emptied = definition.isEstablished ? 'completed' : 'neverBegun';
    const stage = contents === undefined ? emptied : 'inProgress';
    const next = withCondition(status, terminatingCondition(stage), this.#nowIso());
    if (!deepEqual(next, status)) return { writes: [this.#statusWrite(object, next)] };
    if (contents === undefined) {
      if (this.#waitsForCollection(definition)) return { writes: [], againAfterMs: COLLECTION_LOOK_MS };
      const rest = finalizers.filter((finalizer) => finalizer !== this.#finalizer);
      const body = { ...withParsedSchemas(object), metadata: { ...metadata, finalizers: rest } };
      return { writes: [{ verb: 'update', target: this.#target(object, ''), body }] };
    }
    const { group, storageVersion: version } = definition;
    const resource = definition.names.plural;
    const writes = [...contents.namespaces()].map(
      (namespace): Write => ({
        verb: 'deletecollection',
        target: { group, version, resource, subresource: '', namespace, name: '', asStored: true },
      }),
    );
    return { writes, againAfterMs: SWEEP_INTERVAL_MS };
  }

  /** A process that ends after its definition has gone would leave what its instances owned to nobody. */
  #waitsForCollection({ name, group, accepted: { kind } }: Definition): boolean {
    if (this.#collector?.isBehind({ group, kind }) !== true) return false;
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#waitingSinceMs.get(name) ?? nowMs;
    this.#waitingSinceMs.set(name, sinceMs);
    return nowMs - sinceMs < COLLECTION_MS_MAX;
  }

  #statusWrite(object: ApiObject, status: object): Write {
    return { verb: 'update', target: this.#target(object, 'status'), body: { ...withParsedSchemas(object), status } };
  }

  /** In the version that the object is stored in. */
  #target(object: ApiObject, subresource: string): WriteTarget {
    const { version } = splitApiVersion(asText(object.apiVersion));
    return {
      group: this.#group,
      version,
      resource: 'customresourcedefinitions',
      subresource,
      namespace: '',
      name: asText(partAt(object, 'metadata').name),
    };
  }

  #nowIso(): string {
    return timestampOf(this.#clock.nowMs());
  }
}

function hasAllNames({ accepted, names }: Definition): boolean {
  return deepEqual(accepted, names);
}
