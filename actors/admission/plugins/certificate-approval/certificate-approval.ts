// CertificateApproval: who decides about a certificate request has the verb `approve` on its signer.
import type { AdmissionPluginKind } from '../plugin.ts';
import { requireSigner, signerOf } from '../signer-permission.ts';

export const certificateApproval: AdmissionPluginKind = {
  name: 'CertificateApproval',
  wants: [{ operations: ['update'], resources: ['certificates/certificatesigningrequests/approval'] }],
  create: (context) => ({
    // Of the stored request: who decides cannot choose another signer by the way.
    validate: (attributes) => requireSigner(attributes, context, 'approve', signerOf(attributes.old)),
  }),
};
