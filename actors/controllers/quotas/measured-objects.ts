// The objects that quotas measure by what they are like: where each lies, and what they come to in the namespaces that have been
// asked about. None is parsed before somebody wants to know what it comes to. Writes nothing, and knows no quotas.
import { Tally } from '../../../api/quota/tally.ts';
import { type CountedType, isMeasured } from '../../../api/quota/usage.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent, KeptRecord } from '../../../storage/following/store-feed.ts';

/** Objects parsed in one go: about 5 ms. */
const SLICE_OBJECTS = 200;

type RecordsByName = Map<string, KeptRecord>;

interface Counted {
  /** By storage key. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** When all that there was had been read; undefined: not yet once. */
  wholeAtMs: number | undefined;
}

export class MeasuredObjects {
  readonly #dialect: Dialect;
  /** By storage key. */
  readonly #types = new Map<string, CountedType>();
  /** By namespace and storage key. */
  readonly #records = new Map<string, Map<string, RecordsByName>>();
  readonly #counted = new Map<string, Counted>();

  /** @param types of which those that are not measured are left out. */
  constructor(dialect: Dialect, types: ReadonlyMap<string, readonly CountedType[]>) {
    this.#dialect = dialect;
    for (const [storageKey, [type]] of types)
      if (type !== undefined && isMeasured(type)) this.#types.set(storageKey, type);
  }

  reset(): void {
    this.#records.clear();
    this.#counted.clear();
  }

  isAbout(storageKey: string): boolean {
    return this.#types.has(storageKey);
  }

  /** False where it makes no difference to what has been counted. */
  onEvent(event: FeedEvent): boolean {
    const { namespace, storageKey, name } = event;
    const tally = this.#counted.get(namespace)?.tallies.get(storageKey);
    if (event.type === 'delete') {
      this.#forget(event);
      return tally?.remove(name) ?? false;
    }
    this.#keep(event);
    if (tally === undefined) return false;
    if (tally.has(name)) return tally.put(name, event.object());
    tally.arrived(name);
    return true;
  }

  /** An object, or one of its states before, lies elsewhere. */
  onMoved(event: FeedEvent): void {
    const known = this.#records.get(event.namespace)?.get(event.storageKey)?.get(event.name);
    if (known?.revision === event.revision) this.#keep(event);
  }

  /** When a namespace was read as a whole; undefined where it has not been. */
  wholeAtMs(namespace: string): number | undefined {
    return this.#counted.get(namespace)?.wholeAtMs;
  }

  /**
   * Reads what of a namespace is not yet read. What comes to it is noted from now on, until `release`.
   *
   * @returns false while there is more to read: to be called again, in another turn.
   */
  count(namespace: string, nowMs: number): boolean {
    const counted = this.#counted.get(namespace) ?? this.#begin(namespace);
    let left = SLICE_OBJECTS;
    for (const [storageKey, tally] of counted.tallies) {
      const records = this.#records.get(namespace)?.get(storageKey);
      for (const name of tally.unread()) {
        if (left-- === 0) return false;
        const record = records?.get(name);
        if (record === undefined) throw new Error(`${storageKey} ${namespace}/${name} is not kept`);
        tally.put(name, record.object());
      }
    }
    counted.wholeAtMs = nowMs;
    return true;
  }

  /** Nobody asks about the namespace any more. */
  release(namespace: string): void {
    this.#counted.delete(namespace);
  }

  /** What the objects of a type come to; undefined where they are not counted. */
  tally(namespace: string, storageKey: string): Tally | undefined {
    return this.#counted.get(namespace)?.tallies.get(storageKey);
  }

  #begin(namespace: string): Counted {
    const tallies = new Map([...this.#types].map(([key, type]) => [key, new Tally(type, this.#dialect)]));
    for (const [storageKey, records] of this.#records.get(namespace) ?? [])
      for (const name of records.keys()) tallies.get(storageKey)?.arrived(name);
    const counted: Counted = { tallies, wholeAtMs: undefined };
    this.#counted.set(namespace, counted);
    return counted;
  }

  #keep(event: FeedEvent): void {
    const { namespace, storageKey, name } = event;
    let types = this.#records.get(namespace);
    if (types === undefined) {
      types = new Map();
      this.#records.set(namespace, types);
    }
    const records = types.get(storageKey);
    if (records === undefined) types.set(storageKey, new Map([[name, event.kept()]]));
    else records.set(name, event.kept());
  }

  #forget({ namespace, storageKey, name }: FeedEvent): void {
    const types = this.#records.get(namespace);
    const records = types?.get(storageKey);
    if (types === undefined || !records?.delete(name)) return;
    if (records.size > 0) return;
    types.delete(storageKey);
    if (types.size === 0) this.#records.delete(namespace);
  }
}
