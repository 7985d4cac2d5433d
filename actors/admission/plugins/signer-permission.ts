// Whether a user may approve or sign certificate requests for a signer: the verbs are on the resource `signers`, whose names
// are the signers' own, or a domain with a `*` for all signers of it.
import type { AccessAttributes } from '../../../api/authorization/attributes.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { forbidden } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Attributes } from '../attributes.ts';
import type { PluginContext } from './plugin.ts';

/** The signer that a certificate request is for. */
export function signerOf(request: JsonObject | undefined): string {
  return asText(asObject(request?.spec).signerName);
}

/** Throws 403 for a user who has the verb neither on the signer nor on its domain. */
export async function requireSigner(
  attributes: Attributes,
  { authorize }: Pick<PluginContext, 'authorize'>,
  verb: 'approve' | 'sign',
  signer: string,
): Promise<void> {
  const { asked, type } = attributes;
  const domain = signer.slice(0, Math.max(0, signer.indexOf('/')));
  for (const name of [signer, `${domain}/*`]) {
    const access: AccessAttributes = {
      verb,
      isResource: true,
      group: type.group,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    };
    if ((await authorize(attributes, access)).allowed) return;
  }
  const problem = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`;
  throw new StatusError(forbidden(type, asked.name, problem));
}
