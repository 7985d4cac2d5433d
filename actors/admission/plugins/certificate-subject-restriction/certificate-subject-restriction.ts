// CertificateSubjectRestriction: nobody asks for a client certificate of the superusers' group.
import { SUPERUSERS } from '../../../../api/authorization/attributes.ts';
import { parseCertificateRequest } from '../../../../api/certificates/certificate-request.ts';
import { asObject, asText } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { forbidden } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPluginKind } from '../plugin.ts';
import { signerOf } from '../signer-permission.ts';

function restrict({ object, type, dialect }: Attributes): void {
  const signer = signerOf(object);
  if (signer !== dialect.spell('@label/@short-apiserver-client')) return;
  const pem = Buffer.from(asText(asObject(object.spec).request), 'base64').toString('latin1');
  const request = parseCertificateRequest(pem);
  const problem =
    request === undefined
      ? 'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST'
      : request.organizations.includes(SUPERUSERS)
        ? `use of ${signer} signer with ${SUPERUSERS} group is not allowed`
        : '';
  if (problem !== '') throw new StatusError(forbidden(type, metadataOf(object).name ?? '', problem));
}

export const certificateSubjectRestriction: AdmissionPluginKind = {
  name: 'CertificateSubjectRestriction',
  wants: [{ operations: ['create'], resources: ['certificates/certificatesigningrequests'] }],
  create: () => ({ validate: restrict }),
};
