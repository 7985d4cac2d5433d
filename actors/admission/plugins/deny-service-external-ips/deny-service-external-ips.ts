// DenyServiceExternalIPs: services get no external addresses beyond those they have.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, textsAt } from '../../../../api/json/object-fields.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

function refuseNew(attributes: Attributes): void {
  const known = new Set(addressesOf(attributes.old ?? {}));
  if (addressesOf(attributes.object).some((address) => !known.has(address)))
    throw forbid(attributes, 'Use of external IPs is denied by admission control');
}

function addressesOf(service: JsonObject): readonly string[] {
  return textsAt(partAt(service, 'spec'), 'externalIPs');
}

export const denyServiceExternalIPs: AdmissionPluginKind = {
  name: 'DenyServiceExternalIPs',
  wants: [{ operations: ['create', 'update'], resources: ['core/services'] }],
  create: () => ({ validate: refuseNew }),
};
