// NamespaceLifecycle: writes need their namespace, new objects a live one, and the server's own namespaces stay. The
// commit is guarded by the revision at which a namespace was seen to live: it cannot go away in between.
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { forbidden, namespaceTerminating, notFound } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { keyOf } from '../../stored/store-reader.ts';
import { nameIn } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

/** A namespace that is there. */
interface Namespace {
  readonly revision: number;
  readonly isTerminating: boolean;
}

class NamespaceLifecycle implements AdmissionPlugin {
  readonly #cluster: PluginContext['cluster'];
  readonly #type: KnownType;
  readonly #namespaces: KindView<Namespace>;
  readonly #immortal: ReadonlySet<string>;

  constructor({ cluster, registry, dialect }: PluginContext) {
    const type = registry.storageType('core/namespaces');
    if (type === undefined) throw new Error('the registry has no namespaces');
    this.#cluster = cluster;
    this.#type = type;
    this.#namespaces = cluster.follow('v1/namespaces', (object, { revision }) => {
      return { revision, isTerminating: metadataOf(object).deletionTimestamp !== undefined };
    });
    this.#immortal = new Set(['default', dialect.systemNamespace, dialect.publicNamespace]);
  }

  readonly mutate = (attributes: Attributes): Promise<void> | undefined => {
    const { operation, namespace, name } = attributes.asked;
    const { type } = attributes;
    if (type.storageKey === this.#type.storageKey) {
      if (operation === 'delete' && this.#immortal.has(name))
        throw new StatusError(forbidden(type, name, 'this namespace may not be deleted'));
      return undefined;
    }
    // Reviews are questions: their namespace need not be there.
    if (!type.namespaced || !(type.persisted || attributes.subresource !== '')) return undefined;
    return operation === 'create' ? this.#requireLive(attributes, namespace) : undefined;
  };

  /** Only absence is looked at again: a plugin before this one may have made the namespace just now. */
  #requireLive(attributes: Attributes, name: string): Promise<void> | undefined {
    const namespace = this.#namespaces.get('', name);
    if (namespace === undefined) return this.#requireLater(attributes, name);
    this.#guard(attributes, name, namespace);
    return undefined;
  }

  async #requireLater(attributes: Attributes, name: string): Promise<void> {
    await this.#cluster.current();
    const namespace = this.#namespaces.get('', name);
    if (namespace === undefined) throw new StatusError(notFound(this.#type, name));
    this.#guard(attributes, name, namespace);
  }

  #guard(attributes: Attributes, name: string, { revision, isTerminating }: Namespace): void {
    if (isTerminating) throw new StatusError(namespaceTerminating(attributes.type, nameIn(attributes), name));
    attributes.guardBy({ key: keyOf(this.#type, '', name), expect: revision });
  }
}

export const namespaceLifecycle: AdmissionPluginKind = {
  name: 'NamespaceLifecycle',
  wants: [
    { operations: ['create'], resources: ['**'] },
    { operations: ['delete'], resources: ['core/namespaces'] },
  ],
  isRepeatable: true,
  create: (context) => new NamespaceLifecycle(context),
};
