// New objects need a live namespace (admission step NamespaceLifecycle). The answer is remembered by the namespace's
// revision, and the commit is guarded by it: the namespace cannot go away in between.

import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { namespaceTerminating, notFound } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { Guard } from '../store/protocol.ts';
import { decodePlace, findPlace, keyOf } from './store-reader.ts';
import type { WriteContext } from './write-context.ts';

const REMEMBERED_MAX = 10_000;

export class NamespaceGuard {
  readonly #write: WriteContext;
  /** Live namespaces by name: the revision that was seen to be live. */
  readonly #live = new Map<string, number>();
  readonly #namespaces: KnownType;

  constructor(write: WriteContext) {
    this.#write = write;
    const namespaces = write.registry.storageType('core/namespaces');
    if (namespaces === undefined) throw new Error('the registry has no namespaces');
    this.#namespaces = namespaces;
  }

  /** The guard for creating something in a namespace. Throws 404 and 403. */
  async guardFor(type: KnownType, namespace: string, name: string): Promise<Guard> {
    // Any state will do first: the guard makes it exact. Only absence is looked at again.
    const place =
      (await findPlace(this.#write, this.#namespaces, '', namespace, { kind: 'local' })) ??
      (await findPlace(this.#write, this.#namespaces, '', namespace));
    if (place === null) {
      this.#live.delete(namespace);
      throw new StatusError(notFound(this.#namespaces, namespace));
    }
    if (this.#live.get(namespace) !== place.revision) {
      if (metadataOf(decodePlace(this.#write, place)).deletionTimestamp) {
        throw new StatusError(namespaceTerminating(type, name, namespace));
      }
      if (this.#live.size >= REMEMBERED_MAX) this.#live.clear();
      this.#live.set(namespace, place.revision);
    }
    return { key: keyOf(this.#namespaces, '', namespace), expect: place.revision };
  }
}
