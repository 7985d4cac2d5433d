// Deployments and replica sets of which more or fewer are wanted: by whole objects and by patches, through what is above and below
// them, and by writers who say a generation of their own.
import { type Collection, DEPLOYMENTS, MERGE_PATCH, MERGED, REPLICA_SETS } from './client.ts';
import { type Hand, NAMESPACES, type ObjectName } from './hand.ts';

const NAMES = ['r0', 'r1'] as const;
const REPLICAS_MAX = 3;
const DRY_RUNS = 10;
const LABELS = { app: 'r' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'c', image: 'i' }] } };

export class WantedSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async step(): Promise<void> {
    const collection = this.#hand.pick([DEPLOYMENTS, REPLICA_SETS]);
    const choice = this.#hand.random.below(12);
    if (choice < 2) await this.#write(collection, 'create');
    else if (choice < 4) await this.#write(collection, 'update');
    else if (choice < 7) await this.#patch(collection);
    else if (choice < 9) await this.#scale(collection);
    else if (choice < 11) await this.#report(collection);
    else await this.#delete(collection);
  }

  async #write(collection: Collection, kind: 'create' | 'update'): Promise<void> {
    const hand = this.#hand;
    const key = this.#name();
    const tag = hand.tag();
    const held = hand.rarely(4);
    const said = { ...key, ...this.#generation() };
    const spec = { replicas: this.#replicas(), selector: { matchLabels: LABELS }, template: TEMPLATE };
    const body = { ...hand.object(said, tag, held), spec, status: { replicas: this.#replicas() } };
    await hand.client.write(collection, { kind, ...key, tag, held, dry: hand.rarely(DRY_RUNS), body });
  }

  /** Of the metadata, and of what is wanted as well. */
  async #patch(collection: Collection): Promise<void> {
    const hand = this.#hand;
    const tag = hand.tag();
    const spec = hand.rarely(2) ? { replicas: this.#replicas() } : {};
    await hand.client.write(collection, {
      ...MERGED,
      ...this.#name(),
      tag,
      dry: hand.rarely(DRY_RUNS),
      body: { metadata: { annotations: { tag }, ...this.#generation() }, spec },
    });
  }

  async #scale(collection: Collection): Promise<void> {
    await this.#below(collection, 'scale', { spec: { replicas: this.#replicas() } });
  }

  /** A status, and what cannot be said with it. */
  async #report(collection: Collection): Promise<void> {
    const metadata = { labels: { told: String(this.#replicas()) }, ...this.#generation() };
    const said = { replicas: this.#replicas(), observedGeneration: this.#replicas() };
    await this.#below(collection, 'status', { metadata, spec: { replicas: this.#replicas() }, status: said });
  }

  async #below({ path }: Collection, subresource: string, body: object): Promise<void> {
    const { namespace, name } = this.#name();
    await this.#hand.client.request({
      method: 'PATCH',
      path: `${path(namespace)}/${name}/${subresource}`,
      query: this.#hand.rarely(DRY_RUNS) ? 'dryRun=All' : '',
      contentType: MERGE_PATCH,
      body: JSON.stringify(body),
    });
  }

  async #delete(collection: Collection): Promise<void> {
    const hand = this.#hand;
    await hand.client.write(collection, {
      kind: 'delete',
      ...this.#name(),
      before: 'kept',
      dry: hand.rarely(DRY_RUNS),
    });
  }

  #name(): ObjectName {
    return { namespace: this.#hand.pick(NAMESPACES), name: this.#hand.pick(NAMES) };
  }

  #replicas(): number {
    return this.#hand.random.below(REPLICAS_MAX + 1);
  }

  #generation(): { readonly generation?: number } {
    return this.#hand.rarely(2) ? { generation: 1 + this.#hand.random.below(100) } : {};
  }
}
