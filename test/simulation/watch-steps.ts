// Watches: from the present, from a list or from a while ago; of everything or through selectors; of whole objects, Tables
// or metadata. Each is read in bits, breaks, and is resumed from where it was.
import { CONFIG_MAPS, type Collection, PODS, SECRETS } from './client.ts';
import type { Hand } from './hand.ts';
import type { Look } from './history.ts';
import { scopeOf } from './plain-steps.ts';
import type { RunningWatch } from './running-watch.ts';

const LOOKS: readonly Look[] = ['whole', 'whole', 'whole', 'table', 'partial'];
const RESUMED_MAX = 4;

export class WatchSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  /** Lists and watches from there, as clients do; or takes the present as it comes; or goes back a little. */
  async watch(): Promise<void> {
    const hand = this.#hand;
    await this.watchOf(hand.rarely(6) ? PODS : hand.rarely(4) ? SECRETS : CONFIG_MAPS);
  }

  async watchOf(collection: Collection): Promise<void> {
    const hand = this.#hand;
    const { random, client } = hand;
    const scope = scopeOf(hand, collection);
    const choice = random.below(4);
    let after: number | undefined;
    if (choice === 1) after = Math.max(1, hand.seen - random.below(10));
    else if (choice > 1) {
      after = await client.list(collection, scope, 'mostRecent', 0, 0);
      if (after === 0) return;
    }
    this.#follow(collection, await client.watch(collection, scope, hand.pick(LOOKS), after, hand.known));
  }

  /** Goes on from what another client was told, perhaps by another hub, which the one that is asked has yet to hear of. */
  async watchAhead(): Promise<void> {
    const hand = this.#hand;
    const scope = scopeOf(hand, CONFIG_MAPS);
    this.#follow(CONFIG_MAPS, await hand.client.watch(CONFIG_MAPS, scope, hand.pick(LOOKS), hand.told(), hand.known));
  }

  /** The connection of some watch ends. */
  breakOne(): void {
    const { watches } = this.#hand.client;
    watches[this.#hand.random.below(Math.max(1, watches.length))]?.connection.disconnect();
  }

  /** Drains the watch now and then, and resumes it from where it was when it ends. */
  #follow(collection: Collection, first: RunningWatch): void {
    const { client, random, known } = this.#hand;
    const { world } = client;
    const live = async (): Promise<void> => {
      let watch = first;
      for (let resumed = 0; resumed < RESUMED_MAX; ) {
        await world.sleep(20 + random.below(1500));
        if (random.below(10) > 0) watch.connection.drain();
        if (world.faults.isOver) return;
        if (!watch.connection.isOver) continue;
        if (watch.isExpired || watch.position === undefined || watch.connection.status >= 400) return;
        const { scope, facts } = watch;
        watch = await client.watch(collection, scope, facts.look, watch.position, known);
        resumed++;
      }
    };
    live().catch((error: unknown) => client.problems.push(`a watch: ${String(error)}`));
  }
}
