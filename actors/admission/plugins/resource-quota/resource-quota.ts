// ResourceQuota: what is created in a namespace keeps to its quotas. The usage is committed with the object, against the revision
// of the quota that it was decided by, so that no two writes ever share what is left.

import type { Amounts } from '../../../../api/quota/amounts.ts';
import { isCounted } from '../../../../api/quota/usage.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { type Draft, draftPut } from '../../commits/draft.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { addedBy, chargesOf, isAnyAbout, isLimited, type Quota, quotaOf, withUsed } from './check.ts';
import { type LimitedResource, readLimitedResources } from './configuration.ts';
import { type Charging, Desks } from './desks.ts';

const QUOTAS = 'core/resourcequotas';

/** A write, and what it adds. */
interface Addition {
  readonly attributes: Attributes;
  readonly added: Amounts;
}

class ResourceQuota implements AdmissionPlugin {
  readonly #quotas: KindView<Quota>;
  readonly #type: KnownType;
  readonly #context: PluginContext;
  readonly #limited: readonly LimitedResource[];
  readonly #desks: Desks<Addition>;

  constructor(context: PluginContext, limited: readonly LimitedResource[]) {
    this.#context = context;
    this.#limited = limited;
    this.#desks = new Desks((namespace) => this.#charging(namespace), context.options.commitsEach);
    this.#type = context.registry.storageType(QUOTAS)!;
    this.#quotas = context.cluster.follow('v1/resourcequotas', quotaOf, { withOwners: true });
  }

  readonly validate = (attributes: Attributes): void => {
    const { type, asked } = attributes;
    const { namespace, dryRun } = asked;
    if (namespace === '' || !type.namespaced || !type.persisted || !isCounted(type)) return;
    const quotas = this.#quotas.within(namespace);
    if (quotas.size === 0 && !isLimited(this.#limited, attributes)) return;
    const nowMs = this.#nowMs();
    const added = addedBy(attributes, nowMs);
    // Who adds nothing waits for nobody.
    if (dryRun || Object.keys(added).length === 0 || !isAnyAbout(attributes, quotas.values()))
      chargesOf(attributes, inOrder(quotas), this.#limited, added, nowMs);
    else attributes.commitBy = (write, draft) => this.#desks.commit(namespace, { attributes, added }, write, draft);
  };

  /** From what is used by now. */
  async #charging(namespace: string): Promise<Charging<Addition>> {
    await this.#context.cluster.current();
    return this.#chargingFrom(inOrder(this.#quotas.within(namespace)));
  }

  #chargingFrom(before: readonly Quota[]): Charging<Addition> {
    const quotas = new Map(before.map((quota) => [quota.name, quota]));
    const charged = new Map<Quota['name'], Quota>();
    const nowMs = this.#nowMs();
    const add = ({ attributes, added }: Addition): void => {
      for (const { quota, used } of chargesOf(attributes, [...quotas.values()], this.#limited, added, nowMs)) {
        charged.set(quota.name, charged.get(quota.name) ?? quota);
        quotas.set(quota.name, { ...quota, used });
      }
    };
    const draftsAt = (revision?: number): readonly Draft[] =>
      [...charged.values()].map((quota) =>
        draftPut(this.#type, withUsed(quota, quotas.get(quota.name)!.used), revision ?? quota.revision),
      );
    const corrections = (revision: number, accepted: readonly Addition[]): readonly Draft[] => {
      for (const quota of charged.values()) quotas.set(quota.name, quota);
      for (const one of accepted) add(one);
      return draftsAt(revision);
    };
    return { add, drafts: () => draftsAt(), corrections };
  }

  #nowMs(): number {
    return this.#context.reader.context.clock.nowMs();
  }
}

function inOrder(quotas: ReadonlyMap<string, Quota>): readonly Quota[] {
  return [...quotas.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
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
