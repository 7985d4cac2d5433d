// ServiceAccount: a pod that names no service account runs as its namespace's default one. Of what the plugin's name
// promises this is a part: nothing is mounted yet, and the account need not exist.
import { isJsonObject } from '../../../../api/json-value.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

function nameAccount(attributes: Attributes): void {
  const spec = isJsonObject(attributes.object.spec) ? attributes.object.spec : {};
  if (spec.serviceAccountName) return;
  // The older name of the same member says the same.
  attributes.object = {
    ...attributes.object,
    spec: { ...spec, serviceAccountName: 'default', serviceAccount: 'default' },
  };
}

export const serviceAccount: AdmissionPluginKind = {
  name: 'ServiceAccount',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  create: () => ({ mutate: nameAccount }),
};
