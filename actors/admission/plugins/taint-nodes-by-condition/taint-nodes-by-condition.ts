// TaintNodesByCondition: nothing is placed on a new node until it is known to be ready. Taking the taint off is the work of a controller
// (actors/controllers/nodes/node-taints.ts).
import { partAt, partsAt } from '../../../../api/json/object-fields.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

export const taintNodesByCondition: AdmissionPluginKind = {
  name: 'TaintNodesByCondition',
  wants: [{ operations: ['create'], resources: ['core/nodes'] }],
  create: ({ dialect }) => {
    const taint = { key: dialect.spell('node.@label/not-ready'), effect: 'NoSchedule' };
    return {
      mutate: (attributes) => {
        const spec = partAt(attributes.object, 'spec');
        const taints = partsAt(spec, 'taints');
        if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
        attributes.object = { ...attributes.object, spec: { ...spec, taints: [...taints, taint] } };
      },
    };
  },
};
