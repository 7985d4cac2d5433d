// The entries of one cache that were read by name lately: found by one look-up, where the tree compares a dozen keys that lie all over
// the heap. Holds nothing that the tree has not, and lets go of what is replaced there.
import { keep } from '../../../values/kept.ts';

/** Names, beyond which it begins anew. */
const NAMES_MAX = 4096;
/** One of so many that were not found is kept: what is read once, one after the other, costs little that way. */
const KEPT_OF = 4;

interface Named<E> {
  readonly namespace: string;
  readonly entry: E;
}

/** Of entries whose keys are `<namespace>/<name>`. */
export class EntriesByName<E extends { readonly key: string }> {
  /** Of namesakes in several namespaces one. */
  readonly #byName = new Map<string, Named<E>>();
  #missed = 0;

  get(namespace: string, name: string): E | undefined {
    const named = this.#byName.get(name);
    return named?.namespace === namespace ? named.entry : undefined;
  }

  /** An entry was read that was not found here. */
  missed(namespace: string, name: string, entry: E): void {
    if (++this.#missed % KEPT_OF !== 0) return;
    keep(this.#byName, NAMES_MAX, name, { namespace, entry });
  }

  /** The tree no longer has the entry. */
  forget(entry: E): void {
    if (this.#byName.size === 0) return;
    const name = entry.key.slice(entry.key.indexOf('/') + 1);
    if (this.#byName.get(name)?.entry === entry) this.#byName.delete(name);
  }

  clear(): void {
    this.#byName.clear();
  }
}
