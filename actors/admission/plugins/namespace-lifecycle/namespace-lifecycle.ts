// NamespaceLifecycle: writes need their namespace, new objects a live one, and the server's own namespaces stay. That a
// namespace lives is remembered by its revision, and the commit is guarded by it: it cannot go away in between.
import { metadataOf } from '../../../../api/object-meta.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { forbidden, namespaceTerminating, notFound } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { PublishedPlace } from '../../../store/protocol.ts';
import type { Attributes } from '../../attributes.ts';
import { decodePlace, findPlace, keyOf, type StoreReader } from '../../store-reader.ts';
import { nameIn } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

const REMEMBERED_MAX = 10_000;

class NamespaceLifecycle implements AdmissionPlugin {
  readonly #namespaces: KnownType;
  readonly #immortal: ReadonlySet<string>;
  /** Live namespaces by name: the revision that was seen to be live. */
  readonly #live = new Map<string, number>();

  constructor({ registry, dialect }: PluginContext) {
    const namespaces = registry.storageType('core/namespaces');
    if (namespaces === undefined) throw new Error('the registry has no namespaces');
    this.#namespaces = namespaces;
    this.#immortal = new Set(['default', dialect.systemNamespace, dialect.publicNamespace]);
  }

  readonly mutate = (attributes: Attributes): Promise<void> | undefined => {
    const { operation, namespace, name } = attributes.asked;
    const { type } = attributes;
    if (type.storageKey === this.#namespaces.storageKey) {
      if (operation === 'delete' && this.#immortal.has(name))
        throw new StatusError(forbidden(type, name, 'this namespace may not be deleted'));
      return undefined;
    }
    // Reviews are questions: their namespace need not be there.
    if (!type.namespaced || !(type.persisted || attributes.subresource !== '')) return undefined;
    return operation === 'create' ? this.#requireLive(attributes, namespace) : undefined;
  };

  async #requireLive(attributes: Attributes, namespace: string): Promise<void> {
    const place = await this.#find(attributes.asked.reader, namespace);
    if (this.#live.get(namespace) !== place.revision) {
      if (metadataOf(decodePlace(attributes.asked.reader, place)).deletionTimestamp) {
        throw new StatusError(namespaceTerminating(attributes.type, nameIn(attributes), namespace));
      }
      if (this.#live.size >= REMEMBERED_MAX) this.#live.clear();
      this.#live.set(namespace, place.revision);
    }
    attributes.guardBy({ key: keyOf(this.#namespaces, '', namespace), expect: place.revision });
  }

  /** Any state will do first: the guard makes it exact. Only absence is looked at again. */
  async #find(reader: StoreReader, namespace: string): Promise<PublishedPlace> {
    const place =
      (await findPlace(reader, this.#namespaces, '', namespace, { kind: 'local' })) ??
      (await findPlace(reader, this.#namespaces, '', namespace));
    if (place !== null) return place;
    this.#live.delete(namespace);
    throw new StatusError(notFound(this.#namespaces, namespace));
  }
}

export const namespaceLifecycle: AdmissionPluginKind = {
  name: 'NamespaceLifecycle',
  wants: [
    { operations: ['create'], resources: ['**'] },
    { operations: ['delete'], resources: ['core/namespaces'] },
  ],
  create: (context) => new NamespaceLifecycle(context),
};
