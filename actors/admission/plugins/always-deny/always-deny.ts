// AlwaysDeny: refuses every write, for trying out what refusals look like.
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

function refuse(attributes: Attributes): void {
  throw forbid(attributes, 'admission control is denying all modifications');
}

export const alwaysDeny: AdmissionPluginKind = {
  name: 'AlwaysDeny',
  wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
  create: () => ({ mutate: refuse, validate: refuse }),
};
