// AlwaysDeny: refuses every write, for trying out what refusals look like.
import { forbidden } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

function refuse({ type, asked }: Attributes): void {
  throw new StatusError(forbidden(type, asked.name, 'admission control is denying all modifications'));
}

export const alwaysDeny: AdmissionPluginKind = {
  name: 'AlwaysDeny',
  wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
  create: () => ({ mutate: refuse, validate: refuse }),
};
