// Finds out which records lists and watches begin with. Where there is much to look at, that takes several turns of the thread, between
// which others have theirs; what is found is of one revision all the same.
import type { Reply } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { ownTurn } from '../../../runtime/next-turn.ts';
import type { Tree } from '../caches/resource-cache.ts';
import type { ReadRefusal } from '../protocol.ts';
import { type Gathered, Gathering, type GatheringParts } from './lists.ts';

/** An entry of which a selector asks takes so many times as long as one that is only taken. */
const SELECTOR_COST = 16;

export interface Found extends Gathered {
  /** The state that was looked at. */
  readonly tree: Tree;
  /** Keeps the records where they are. */
  readonly pin: number;
}

export interface GatheringsParts {
  readonly timers: Timers;
  /** Entries that a selector is asked about in one turn. */
  readonly turnEntries: number;
  /** Keeps the records that can be reached now in place until `release`. */
  readonly pin: () => number;
  readonly release: (pin: number) => void;
}

/** Nobody can be told from what there was any more, or nobody wants to know. */
const GIVEN_UP: ReadRefusal = { refused: 'notReady' };

export class Gatherings {
  readonly #parts: GatheringsParts;
  /** Those under way, by storage key. */
  readonly #underWay = new Map<symbol, string>();

  constructor(parts: GatheringsParts) {
    this.#parts = parts;
  }

  /**
   * Tells what was found, within the call where there is little to look at. Where it is given up, that is answered and nothing told.
   *
   * @param reply to who waits for it
   */
  begin(of: GatheringParts, storageKey: string, reply: Reply, onFound: (found: Found) => void): void {
    const { pin, turnEntries } = this.#parts;
    const entries = of.selection.matches === undefined ? turnEntries * SELECTOR_COST : turnEntries;
    const pinned = pin();
    const gathering = new Gathering(of);
    if (gathering.goOn(entries)) {
      onFound({ ...gathering.gathered, tree: of.tree, pin: pinned });
      return;
    }
    const tree = gathering.keepState();
    const id = Symbol(storageKey);
    const isWanted = (): boolean => this.#underWay.has(id) && reply.isAwaited;
    this.#underWay.set(id, storageKey);
    void this.#isGathered(gathering, entries, isWanted).then((isAll) => {
      this.#underWay.delete(id);
      if (isAll) {
        onFound({ ...gathering.gathered, tree, pin: pinned });
        return;
      }
      this.#parts.release(pinned);
      reply.send(GIVEN_UP);
    });
  }

  /** What is under way is given up: of one type, as it is shown otherwise from now on, or all, as the store is gone. */
  giveUp(storageKey?: string): void {
    for (const [id, of] of this.#underWay) if (storageKey === undefined || of === storageKey) this.#underWay.delete(id);
  }

  async #isGathered(gathering: Gathering, entries: number, isWanted: () => boolean): Promise<boolean> {
    do {
      await ownTurn(this.#parts.timers);
      if (!isWanted()) return false;
    } while (!gathering.goOn(entries));
    return true;
  }
}
