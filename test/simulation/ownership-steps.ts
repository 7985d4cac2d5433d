// Objects that own others across kinds, created and deleted with every propagation policy, some held by a finalizer: what
// the garbage collector has to carry out while everything else goes on.
import { CONFIG_MAPS, type Collection, PODS, SECRETS } from './client.ts';
import { FINALIZER, type Hand, NAMESPACES } from './hand.ts';
import { DEFINED_GROUP } from './history.ts';
import { createPod } from './plain-steps.ts';

const NAMESPACE = NAMESPACES[0];
const POLICIES = ['Orphan', 'Background', 'Foreground'] as const;
/** Who can own whom: config maps own secrets and pods, secrets own config maps. */
const OWNERS = { collection: CONFIG_MAPS, apiKind: 'ConfigMap', names: ['g0', 'g1'] };
const MIDDLE = { collection: SECRETS, apiKind: 'Secret', names: ['d0', 'd1'] };

interface Owners {
  readonly collection: Collection;
  readonly apiKind: string;
  readonly names: readonly string[];
}

export class OwnershipSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async step(): Promise<void> {
    const choice = this.#hand.random.below(8);
    if (choice < 2) await this.#create(CONFIG_MAPS, this.#hand.pick(OWNERS.names), []);
    else if (choice < 5) await this.#createDependent();
    else if (choice < 7) await this.#delete();
    else await this.#letGo();
  }

  async #createDependent(): Promise<void> {
    const hand = this.#hand;
    const [collection, name, owners] = hand.pick([
      [SECRETS, 'd0', OWNERS],
      [SECRETS, 'd1', OWNERS],
      [PODS, 'd2', OWNERS],
      [CONFIG_MAPS, 'd3', MIDDLE],
    ] as const);
    const references: object[] = [];
    for (const owner of hand.rarely(3) ? owners.names : [hand.pick(owners.names)]) {
      const reference = await this.#referenceTo(owners, owner);
      if (reference !== undefined) references.push(reference);
    }
    if (references.length > 0) await this.#create(collection, name, references);
  }

  async #create(collection: Collection, name: string, ownerReferences: readonly object[]): Promise<void> {
    const hand = this.#hand;
    const key = { namespace: NAMESPACE, name };
    if (collection === PODS) {
      await createPod(hand, key, 'none', { ownerReferences });
      return;
    }
    const tag = hand.tag();
    const held = hand.rarely(5);
    const body = hand.object({ name, ...(ownerReferences.length === 0 ? {} : { ownerReferences }) }, tag, held);
    await hand.client.write(collection, { kind: 'create', ...key, tag, held, body });
  }

  async #referenceTo({ collection, apiKind }: Owners, name: string): Promise<object | undefined> {
    const hand = this.#hand;
    // An old read may name an owner that is gone: then its dependents are garbage from the beginning.
    const read = await hand.read(collection, { namespace: NAMESPACE, name }, hand.pick(['mostRecent', 'any']));
    if (read === undefined) return undefined;
    const { uid } = read.metadata as { uid: string };
    return { apiVersion: 'v1', kind: apiKind, name, uid, blockOwnerDeletion: hand.rarely(2) };
  }

  async #delete(): Promise<void> {
    const hand = this.#hand;
    const { collection, names } = hand.rarely(4) ? MIDDLE : OWNERS;
    const policy = hand.pick(POLICIES);
    const query = [`propagationPolicy=${policy}`];
    await hand.client.write(collection, {
      kind: 'delete',
      namespace: NAMESPACE,
      name: hand.pick(names),
      before: 'kept',
      query,
      policy,
    });
  }

  async #letGo(): Promise<void> {
    const hand = this.#hand;
    const { collection, names } = hand.pick([OWNERS, MIDDLE]);
    await letGo(hand, collection, { namespace: NAMESPACE, name: hand.pick(names) });
  }
}

const WITHOUT_FINALIZER = {
  contentType: 'application/strategic-merge-patch+json',
  body: { metadata: { '$deleteFromPrimitiveList/finalizers': [FINALIZER] } },
};
/** Custom types take no strategic patches. */
const WITHOUT_FINALIZERS = {
  contentType: 'application/merge-patch+json',
  body: { metadata: { finalizers: null } },
};

/** Takes the clients' finalizer from an object. */
export async function letGo(
  { client }: Pick<Hand, 'client'>,
  collection: Collection,
  key: { readonly namespace: string; readonly name: string },
): Promise<void> {
  await client.write(collection, {
    kind: 'patch',
    ...key,
    before: 'kept',
    held: false,
    ...(collection.storageKey.startsWith(`${DEFINED_GROUP}/`) ? WITHOUT_FINALIZERS : WITHOUT_FINALIZER),
  });
}
