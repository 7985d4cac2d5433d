// LimitPodHardAntiAffinityTopology: a pod keeps others off its node at most, not off its zone.
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { forbidNamed } from '../forbid.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

export const limitPodHardAntiAffinityTopology: AdmissionPluginKind = {
  name: 'LimitPodHardAntiAffinityTopology',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  create: ({ dialect }) => {
    const allowed = dialect.spell('@label/hostname');
    return {
      validate: (attributes) => {
        const affinity = partAt(partAt(partAt(attributes.object, 'spec'), 'affinity'), 'podAntiAffinity');
        for (const term of partsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')) {
          const key = textAt(term, 'topologyKey');
          if (key === allowed) continue;
          throw forbidNamed(
            attributes,
            `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${key} but only key ${allowed} is allowed`,
          );
        }
      },
    };
  },
};
