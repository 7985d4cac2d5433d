// Definitions that are made, changed, dropped and made again, while instances of them are written, read, watched, owned by others
// and own others.
import { CONFIG_MAPS, MERGED, SECRETS } from './client.ts';
import { DEFINED_TYPES, DEFINITION_OBJECTS, type DefinedType, definitionOf, versionsOf } from './defined-types.ts';
import { type Hand, NAMESPACES, type ObjectName, PLAIN_NAMES } from './hand.ts';
import { DEFINED_GROUP } from './history.ts';
import { letGo } from './ownership-steps.ts';
import { scopeOf } from './plain-steps.ts';
import type { WatchSteps } from './watch-steps.ts';

/** What instances own. */
const OWNED = 'owned';

export class DefinitionSteps {
  readonly #hand: Hand;
  readonly #watches: WatchSteps;

  constructor(hand: Hand, watches: WatchSteps) {
    this.#hand = hand;
    this.#watches = watches;
  }

  /** Makes, changes or drops a definition: made again as soon as it is gone. */
  async define(): Promise<void> {
    const hand = this.#hand;
    const { client } = hand;
    const type = hand.pick(DEFINED_TYPES);
    const tag = hand.tag();
    const key = { namespace: '', name: type.definition };
    const choice = hand.random.below(8);
    if (choice < 4) {
      await client.write(DEFINITION_OBJECTS, { kind: 'create', ...key, tag, body: definitionOf(type, tag) });
    } else if (choice < 7) {
      const body = { metadata: { annotations: { tag } }, spec: { versions: versionsOf(tag) } };
      await client.write(DEFINITION_OBJECTS, { ...MERGED, ...key, tag, body });
    } else {
      await client.write(DEFINITION_OBJECTS, { kind: 'delete', ...key, before: 'kept' });
    }
  }

  async instance(): Promise<void> {
    const hand = this.#hand;
    const type = hand.pick(DEFINED_TYPES);
    const key = hand.plainName();
    const choice = hand.random.below(10);
    if (choice < 4) await this.#create(type, key);
    else if (choice < 6) await this.#change(type, key);
    else if (choice === 6) await hand.client.write(type, { kind: 'delete', ...key, before: 'kept' });
    else if (choice === 7) await this.#own(type, key);
    else if (choice === 8) await letGo(hand, type, key);
    else await this.#deleteSome(type);
  }

  /** Gets, lists or watches instances, or lists definitions. */
  async look(): Promise<void> {
    const hand = this.#hand;
    const type = hand.pick(DEFINED_TYPES);
    const choice = hand.random.below(8);
    if (choice < 2) {
      await hand.read(type, hand.plainName(), hand.pick(['mostRecent', 'any', 'notOlderThan']));
    } else if (choice < 5) {
      const revision = await hand.client.list(type, scopeOf(hand, type), 'mostRecent', 0, hand.random.below(3));
      hand.seen = Math.max(hand.seen, revision);
    } else if (choice < 7) {
      await this.#watches.watchOf(type);
    } else {
      const { storageKey } = DEFINITION_OBJECTS;
      const scope = { storageKey, namespace: '', frontOnly: false, name: '', node: '' };
      await hand.client.list(DEFINITION_OBJECTS, scope, 'mostRecent', 0, 0);
    }
  }

  async #create(type: DefinedType, key: ObjectName): Promise<void> {
    const hand = this.#hand;
    const tag = hand.tag();
    const held = hand.rarely(8);
    const owner = hand.rarely(3) ? await hand.read(CONFIG_MAPS, key, 'any') : undefined;
    const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', ...nameOf(owner) }];
    const { metadata } = hand.object({ ...key, ownerReferences }, tag, held);
    const body = { apiVersion: `${DEFINED_GROUP}/v1`, kind: type.kind, metadata };
    await hand.client.write(type, { kind: 'create', ...key, tag, held, body });
  }

  async #change(type: DefinedType, key: ObjectName): Promise<void> {
    const hand = this.#hand;
    const tag = hand.tag();
    await hand.client.write(type, { ...MERGED, ...key, tag, body: { metadata: { annotations: { tag } } } });
  }

  /** A secret that goes with an instance. */
  async #own(type: DefinedType, key: ObjectName): Promise<void> {
    const hand = this.#hand;
    const owner = await hand.read(type, key, 'mostRecent');
    if (owner === undefined) return;
    const tag = hand.tag();
    const ownerReferences = [{ apiVersion: `${DEFINED_GROUP}/v1`, kind: type.kind, ...nameOf(owner) }];
    const owned = { namespace: key.namespace, name: OWNED };
    const body = hand.object({ ...owned, ownerReferences }, tag, false);
    await hand.client.write(SECRETS, { kind: 'create', ...owned, tag, body });
  }

  async #deleteSome(type: DefinedType): Promise<void> {
    const hand = this.#hand;
    const scope = {
      storageKey: type.storageKey,
      namespace: hand.pick(NAMESPACES),
      frontOnly: true,
      name: '',
      node: '',
    };
    await hand.client.deleteCollection(type, scope, PLAIN_NAMES);
  }
}

/** What a reference to an object says of it. */
function nameOf(object: Record<string, unknown>): { readonly name: string; readonly uid: string } {
  const { name, uid } = object.metadata as { name: string; uid: string };
  return { name, uid };
}
