// CertificateSigning: who writes the certificate of a request, or its conditions, has the verb `sign` on its signer.
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asList, asObject, asText } from '../../../../api/json/object-fields.ts';
import type { AdmissionPluginKind } from '../plugin.ts';
import { requireSigner, signerOf } from '../signer-permission.ts';

export const certificateSigning: AdmissionPluginKind = {
  name: 'CertificateSigning',
  wants: [{ operations: ['update'], resources: ['certificates/certificatesigningrequests/status'] }],
  create: (context) => ({
    validate: (attributes) => {
      const { old, object } = attributes;
      if (deepEqual(signedPart(old), signedPart(object))) return undefined;
      return requireSigner(attributes, context, 'sign', signerOf(old));
    },
  }),
};

function signedPart(request: JsonObject | undefined): readonly unknown[] {
  const { certificate, conditions } = asObject(request?.status);
  return [asText(certificate), asList(conditions)];
}
