// Namespaces that come and go with what is in them: created again under the same name, filled while they are being emptied,
// held up by finalizers.
import { CONFIG_MAPS, NAMESPACE_OBJECTS, SECRETS } from './client.ts';
import type { Hand } from './hand.ts';
import { letGo } from './ownership-steps.ts';
import { createPod } from './plain-steps.ts';

const PASSING = ['t0', 't1'] as const;
const NAMES = ['n0', 'n1'] as const;

export class NamespaceSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async step(): Promise<void> {
    const hand = this.#hand;
    const { client } = hand;
    const namespace = hand.pick(PASSING);
    const key = { namespace, name: hand.pick(NAMES) };
    const collection = hand.pick([CONFIG_MAPS, SECRETS]);
    const tag = hand.tag();
    const choice = hand.random.below(12);
    if (choice < 3) {
      const body = { metadata: { name: namespace, annotations: { tag } } };
      await client.write(NAMESPACE_OBJECTS, { kind: 'create', namespace: '', name: namespace, tag, body });
    } else if (choice < 5) {
      await client.write(NAMESPACE_OBJECTS, { kind: 'delete', namespace: '', name: namespace, before: 'kept' });
    } else if (choice < 9) {
      const held = hand.rarely(5);
      await client.write(collection, {
        kind: 'create',
        ...key,
        tag,
        held,
        body: hand.object({ name: key.name }, tag, held),
      });
    } else if (choice === 9) {
      await createPod(hand, key, 'none', {});
    } else if (choice === 10) {
      await letGo(hand, collection, key);
    } else {
      const scope = { storageKey: collection.storageKey, namespace, frontOnly: false, name: '', node: '' };
      await client.deleteCollection(collection, scope, NAMES);
    }
  }
}
