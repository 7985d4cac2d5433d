// Steps on objects that nobody but the clients changes: creations, updates, deletions of one or of a collection, reads of
// every freshness; and pods that are created and bound by several at once.
import { CONFIG_MAPS, type Collection, PODS, SECRETS } from './client.ts';
import { type Hand, insistingOn, NAMESPACES, NODES, PLAIN_NAMES } from './hand.ts';
import type { Freshness, Scope } from './history.ts';

const FRESHNESS: readonly Freshness[] = ['mostRecent', 'any', 'notOlderThan', 'exact'];
const DRY_RUNS = 10;

/** All names that any client gives to config maps and secrets in the namespaces that stay. */
const ALL_NAMES: readonly string[] = [
  ...PLAIN_NAMES,
  ...['left', 'right', 's0', 's1', 'g0', 'g1', 'd0', 'd1', 'd2', 'd3'],
];

export class PlainSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async create(): Promise<void> {
    const hand = this.#hand;
    const key = hand.plainName();
    const tag = hand.tag();
    const held = hand.rarely(4);
    const body = hand.object(key, tag, held);
    await hand.client.write(this.#collection(), {
      kind: 'create',
      ...key,
      tag,
      held,
      dry: hand.rarely(DRY_RUNS),
      body,
    });
  }

  /** With the version that was read before, or without any. */
  async update(): Promise<void> {
    const hand = this.#hand;
    const collection = this.#collection();
    const key = hand.plainName();
    const insists = hand.random.below(3) > 0;
    const read = insists ? await hand.lastRead(collection, key) : undefined;
    const tag = hand.tag();
    const held = hand.rarely(4);
    const what = { kind: 'update', ...key, tag, held, dry: hand.rarely(DRY_RUNS) } as const;
    if (read === undefined) {
      await hand.client.write(collection, { ...what, body: hand.object(key, tag, held) });
      return;
    }
    const { metadata, ...rest } = read as { metadata: Record<string, unknown> };
    const { finalizers: _finalizers, ...kept } = metadata;
    const { expects } = insistingOn(collection, read);
    const body = { ...rest, ...hand.object(kept, tag, held) };
    const outcome = await hand.client.write(collection, { ...what, expects, body });
    if (outcome.is !== 'ok') hand.forget(collection, key);
  }

  async delete(): Promise<void> {
    const hand = this.#hand;
    const dry = hand.rarely(DRY_RUNS);
    await hand.client.write(this.#collection(), { kind: 'delete', ...hand.plainName(), before: 'kept', dry });
  }

  /** What a selector lets through of a namespace. */
  async deleteCollection(): Promise<void> {
    const hand = this.#hand;
    const collection = this.#collection();
    const namespace = hand.pick(NAMESPACES);
    const everything = { storageKey: collection.storageKey, namespace, frontOnly: false, name: '', node: '' };
    const scope = hand.rarely(3) ? { ...everything, name: hand.pick(PLAIN_NAMES) } : { ...everything, frontOnly: true };
    await hand.client.deleteCollection(collection, scope, ALL_NAMES);
  }

  async get(): Promise<void> {
    const hand = this.#hand;
    await hand.read(
      this.#collection(),
      hand.plainName(),
      hand.pick(['mostRecent', 'mostRecent', 'any', 'notOlderThan']),
    );
  }

  async list(): Promise<void> {
    const hand = this.#hand;
    const { random } = hand;
    const collection = this.#collection();
    const freshness = hand.pick(FRESHNESS);
    const asked = freshness === 'exact' ? Math.max(1, hand.seen - random.below(12)) : hand.told();
    const limit = hand.rarely(2) ? 1 + random.below(3) : 0;
    const needsVersion = freshness === 'notOlderThan' || freshness === 'exact';
    const scope = scopeOf(hand, collection);
    const revision = await hand.client.list(collection, scope, freshness, needsVersion ? asked : 0, limit);
    if (freshness !== 'exact') hand.seen = Math.max(hand.seen, revision);
  }

  /** Two objects under one revision, as only an actor can write them. */
  async pair(): Promise<void> {
    const hand = this.#hand;
    const namespace = hand.pick(NAMESPACES);
    const tag = hand.tag();
    const objects = ['left', 'right'].map((name) => hand.object({ name, namespace }, tag, false));
    await hand.client.commitTogether(CONFIG_MAPS, objects);
  }

  /** Creates a pod, binds one as a scheduler would, or deletes one. */
  async pod(): Promise<void> {
    const hand = this.#hand;
    const { random, client } = hand;
    const key = { namespace: hand.pick(NAMESPACES), name: `p${random.below(2)}` };
    const choice = random.below(5);
    if (choice < 2) {
      // Some are left to the scheduler, and bound by clients all the same.
      const schedulerName = hand.rarely(2) ? 'none' : 'default-scheduler';
      await createPod(hand, key, schedulerName, {});
    } else if (choice < 4) {
      const body = { target: { kind: 'Node', name: hand.pick(NODES) }, metadata: { name: key.name } };
      const path = `${PODS.path(key.namespace)}/${key.name}/binding`;
      const query = hand.rarely(DRY_RUNS) ? 'dryRun=All' : '';
      await client.request({ method: 'POST', path, query, body: JSON.stringify(body) });
    } else {
      await client.write(PODS, { kind: 'delete', ...key, before: 'kept', body: { gracePeriodSeconds: 0 } });
    }
  }

  #collection(): Collection {
    return this.#hand.rarely(4) ? SECRETS : CONFIG_MAPS;
  }
}

/** A pod that says which scheduler it is for. */
export async function createPod(
  hand: Hand,
  key: { readonly namespace: string; readonly name: string },
  schedulerName: string,
  metadata: object,
  annotations: object = {},
): Promise<void> {
  const tag = hand.tag();
  const spec = { containers: [{ name: 'c', image: 'i' }], schedulerName };
  const body = { metadata: { ...metadata, name: key.name, annotations: { ...annotations, tag } }, spec };
  await hand.client.write(PODS, { kind: 'create', ...key, tag, body });
}

/** What a list or watch is about. */
export function scopeOf(hand: Hand, { storageKey }: Collection): Scope {
  const namespace = hand.pick(['', ...NAMESPACES]);
  const { random } = hand;
  const all = { storageKey, namespace, frontOnly: random.below(3) === 0, name: '', node: '' };
  if (random.below(5) > 0) return all;
  return storageKey === PODS.storageKey ? { ...all, node: hand.pick(NODES) } : { ...all, name: hand.pick(PLAIN_NAMES) };
}
