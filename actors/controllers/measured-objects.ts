// The objects that quotas measure by what they are like: where each lies, and what they come to in the namespaces that have been
// asked about. Elsewhere none of them is ever parsed. Writes nothing, and knows no quotas.
import { Tally } from '../../api/quota/tally.ts';
import { type CountedType, isMeasured } from '../../api/quota/usage.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { FeedEvent, KeptRecord } from '../../storage/store-feed.ts';

/** Objects parsed in one go: about 5 ms. */
const SLICE_OBJECTS = 200;

type RecordsByName = Map<string, KeptRecord>;

interface Uncounted {
  readonly storageKey: string;
  readonly name: string;
  readonly record: KeptRecord;
}

interface Counted {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** What was there before anybody asked, and has not been parsed yet; undefined: all has. */
  uncounted: Iterator<Uncounted> | undefined;
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
    return tally?.put(name, event.object()) ?? false;
  }

  /** An object, or one of its states before, lies elsewhere. */
  onMoved(event: FeedEvent): void {
    const known = this.#records.get(event.namespace)?.get(event.storageKey)?.get(event.name);
    if (known?.revision === event.revision) this.#keep(event);
  }

  /**
   * Counts a namespace, from now on, until `release`.
   *
   * @returns false while there is more to count: to be called again, in another turn.
   */
  count(namespace: string): boolean {
    let counted = this.#counted.get(namespace);
    if (counted === undefined) {
      const tallies = new Map([...this.#types].map(([key, type]) => [key, new Tally(type, this.#dialect)]));
      counted = { tallies, uncounted: this.#within(namespace) };
      this.#counted.set(namespace, counted);
    }
    if (counted.uncounted === undefined) return true;
    for (let left = SLICE_OBJECTS; left > 0; left--) {
      const next = counted.uncounted.next();
      if (next.done) {
        counted.uncounted = undefined;
        return true;
      }
      const { storageKey, name, record } = next.value;
      counted.tallies.get(storageKey)?.put(name, record.object());
    }
    return false;
  }

  /** Nobody asks about the namespace any more. */
  release(namespace: string): void {
    this.#counted.delete(namespace);
  }

  /** What the objects of a type come to; undefined where they are not counted. */
  tally(namespace: string, storageKey: string): Tally | undefined {
    return this.#counted.get(namespace)?.tallies.get(storageKey);
  }

  // What changes meanwhile is found as it is then: a record that is replaced is not met again, nor is one that is gone.
  *#within(namespace: string): Iterator<Uncounted> {
    for (const storageKey of this.#types.keys())
      for (const [name, record] of this.#records.get(namespace)?.get(storageKey) ?? [])
        yield { storageKey, name, record };
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
