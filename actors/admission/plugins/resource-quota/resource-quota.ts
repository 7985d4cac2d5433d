// ResourceQuota: what is created in a namespace keeps to its quotas. The usage is committed with the object, against the revision
// of the quota that it was decided by, so that no two writes ever share what is left.

import { isCounted } from '../../../../api/quota/usage.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { draftPut } from '../../draft.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { addedBy, chargesOf, isLimited, type Quota, quotaOf } from './check.ts';
import { type LimitedResource, readLimitedResources } from './configuration.ts';
import { Turns } from './turns.ts';

const QUOTAS = 'core/resourcequotas';

class ResourceQuota implements AdmissionPlugin {
  readonly #quotas: KindView<Quota>;
  readonly #type: KnownType;
  readonly #context: PluginContext;
  readonly #limited: readonly LimitedResource[];
  readonly #turns = new Turns();
  /** The writes whose turn it is, with all their tries. */
  readonly #inTurn = new WeakSet<Attributes>();

  constructor(context: PluginContext, limited: readonly LimitedResource[]) {
    this.#context = context;
    this.#limited = limited;
    this.#type = context.registry.storageType(QUOTAS)!;
    this.#quotas = context.cluster.follow('v1/resourcequotas', quotaOf);
  }

  readonly validate = (attributes: Attributes): Promise<void> | undefined => {
    const { type, asked } = attributes;
    const { namespace, dryRun } = asked;
    if (namespace === '' || !type.namespaced || !type.persisted || !isCounted(type)) return undefined;
    const hasQuotas = this.#quotas.within(namespace).size > 0;
    if (!hasQuotas && !isLimited(this.#limited, attributes)) return undefined;
    if (!hasQuotas || dryRun || this.#inTurn.has(attributes)) {
      this.#charge(attributes);
      return undefined;
    }
    return this.#chargeInTurn(attributes);
  };

  async #chargeInTurn(attributes: Attributes): Promise<void> {
    const { namespace } = attributes.asked;
    // Who adds nothing waits for nobody.
    if (Object.keys(addedBy(attributes, this.#nowMs())).length > 0) {
      await this.#turns.begin(namespace);
      this.#inTurn.add(attributes);
      attributes.whenEnded(() => this.#turns.end(namespace));
      // The turn before has changed the quotas.
      await this.#context.cluster.current();
    }
    this.#charge(attributes);
  }

  #charge(attributes: Attributes): void {
    const { namespace, dryRun } = attributes.asked;
    const within = this.#quotas.within(namespace);
    const quotas = [...within.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const charges = chargesOf(attributes, quotas, this.#limited, addedBy(attributes, this.#nowMs()));
    if (dryRun || charges.length === 0) return;
    const drafts = charges.map(({ quota, object }) => draftPut(this.#type, object, quota.revision));
    attributes.commitAlso(drafts);
    for (const { key } of drafts) attributes.contendFor(key);
  }

  #nowMs(): number {
    return this.#context.reader.context.clock.nowMs();
  }
}

export const resourceQuota = configurable<readonly LimitedResource[]>({
  name: 'ResourceQuota',
  wants: [
    { operations: ['create'], resources: ['*'] },
    { operations: ['update'], resources: ['core/services', 'core/persistentvolumeclaims'] },
  ],
  readConfiguration: readLimitedResources,
  create: (context, limited = []) => new ResourceQuota(context, limited),
});
