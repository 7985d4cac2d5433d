// KnownDemands: refuses on every node what no plug-in checks, and says what that is.
import { type FilterPlugin, refusal } from '../framework/framework.ts';

export const knownDemands: FilterPlugin = {
  name: 'KnownDemands',
  prepareFilter({ unknownDemands }) {
    if (unknownDemands.length === 0) return null;
    return refusal('unresolvable', 0, `this scheduler does not support ${unknownDemands.join(', ')}`);
  },
};
