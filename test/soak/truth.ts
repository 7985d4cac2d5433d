// What happened, as one watch of everything saw it: for each selection, sums over its events and over its members at every
// version, so that what a watcher saw between two versions, and what it holds at one, is checked by comparing numbers.
import type { EventType } from './event-reader.ts';
import { selectionKeys, type Tier } from './selections.ts';

/** What a watcher saw: sums over the events after one version up to another, and over its cache at the latter. */
export interface Seen {
  readonly key: string;
  readonly after: number;
  readonly through: number;
  readonly events: number;
  readonly members: number;
}

/** A number that stands for one event, or for one member (`member` true), in sums modulo 2^32. */
export function mixed(type: EventType | 'MEMBER', object: number, version: number): number {
  let mix =
    Math.imul(version, 0x9e3779b1) ^ Math.imul(object + 1, 0x85ebca6b) ^ Math.imul(type.charCodeAt(0), 0xc2b2ae35);
  mix = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
  mix = Math.imul(mix ^ (mix >>> 15), 0x735a2d97);
  return (mix ^ (mix >>> 15)) >>> 0;
}

/** The sums of one selection after each of its events. */
class SelectionHistory {
  readonly #versions: number[] = [0];
  readonly #events: number[] = [0];
  readonly #members: number[] = [0];

  add(version: number, event: number, joining: number, leaving: number): void {
    this.#versions.push(version);
    this.#events.push((this.#events.at(-1)! + event) >>> 0);
    this.#members.push((this.#members.at(-1)! + joining - leaving) >>> 0);
  }

  events(version: number): number {
    return this.#events[this.#indexAt(version)]!;
  }

  members(version: number): number {
    return this.#members[this.#indexAt(version)]!;
  }

  /** The last entry that is not after the version. */
  #indexAt(version: number): number {
    let low = 0;
    let high = this.#versions.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#versions[middle]! <= version) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

interface Stored {
  readonly version: number;
  readonly tier: Tier;
}

const NOTHING = new SelectionHistory();

export class Truth {
  /** Everything up to this version is known. */
  position = 0;
  changes = 0;
  readonly #stored = new Map<number, Stored>();
  readonly #histories = new Map<string, SelectionHistory>();
  /** Acknowledged writes that the watch has not shown yet: version → object. */
  readonly #unseen = new Map<number, number>();
  /** Writes that the watch has shown: version → object. For writes whose answer comes later; the newest ones only. */
  readonly #seen = new Map<number, number>();

  /** An event of the watch of everything. Returns what is wrong with it. */
  apply(type: EventType, object: number, version: number, tier: Tier): string | undefined {
    const before = this.#stored.get(object);
    if ((type === 'ADDED') !== (before === undefined))
      return `everything: ${type} ${object} at ${version}, unexpectedly`;
    this.position = version;
    this.changes++;
    const after = type === 'DELETED' ? undefined : { version, tier };
    if (after === undefined) this.#stored.delete(object);
    else this.#stored.set(object, after);
    this.#remember(object, version);
    const keysBefore = before === undefined ? [] : selectionKeys(object, before.tier);
    const keysAfter = after === undefined ? [] : selectionKeys(object, after.tier);
    for (const key of new Set([...keysBefore, ...keysAfter])) {
      const was = keysBefore.includes(key);
      const is = keysAfter.includes(key);
      const seenAs = was && is ? 'MODIFIED' : is ? 'ADDED' : 'DELETED';
      this.#history(key).add(
        version,
        mixed(seenAs, object, version),
        is ? mixed('MEMBER', object, version) : 0,
        was ? mixed('MEMBER', object, before!.version) : 0,
      );
    }
    return this.#unseenBefore(version);
  }

  /** A write was acknowledged under a version. Returns what is wrong with that. */
  acknowledge(object: number, version: number): string | undefined {
    const seen = this.#seen.get(version);
    if (seen === object) return undefined;
    if (version > this.position) {
      this.#unseen.set(version, object);
      return undefined;
    }
    return `the write of ${object} at ${version} was acknowledged, and no watch has shown it`;
  }

  get acknowledgedUnseen(): number {
    return this.#unseen.size;
  }

  /** What is wrong with what a watcher saw. The truth must be known up to there. */
  problemOf({ key, after, through, events, members }: Seen): string | undefined {
    const history = this.#histories.get(key) ?? NOTHING;
    if ((history.events(through) - history.events(after)) >>> 0 !== events) {
      return `${key}: the events after ${after} up to ${through} are not those that were`;
    }
    return history.members(through) === members ? undefined : `${key}: the cache at ${through} is not right`;
  }

  /** The sum over a selection's members at a version. */
  members(key: string, version: number): number {
    return (this.#histories.get(key) ?? NOTHING).members(version);
  }

  #remember(object: number, version: number): void {
    if (this.#unseen.get(version) === object) this.#unseen.delete(version);
    this.#seen.set(version, object);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > SEEN_MAX) this.#seen.delete(oldest!);
  }

  #unseenBefore(version: number): string | undefined {
    for (const [unseen, object] of this.#unseen) {
      if (unseen > version) continue;
      this.#unseen.delete(unseen);
      return `the write of ${object} at ${unseen} was acknowledged, and the watch of everything went past it`;
    }
    return undefined;
  }

  #history(key: string): SelectionHistory {
    let history = this.#histories.get(key);
    if (history === undefined) {
      history = new SelectionHistory();
      this.#histories.set(key, history);
    }
    return history;
  }
}

const SEEN_MAX = 20_000;
