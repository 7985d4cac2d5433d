// Certificate signing requests as the controllers of them read and write them: what is in a stored one, and the writes of its
// status and its decision.
import { type CertificateRequest, parseCertificateRequest } from '../../../api/certificates/certificate-request.ts';
import { asList, asObject, asText, asTexts, asTimeMs } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import type { ApiObject, Write } from '../controller.ts';

export type Decision = 'Approved' | 'Denied' | 'Failed';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** `certificates.orch.io`. */
export function certificatesGroup(dialect: Dialect): string {
  return dialect.spell('certificates.@group');
}

/** Of the type, as `FeedEvent` has it. */
export function requestsStorageKey(dialect: Dialect): string {
  return `${certificatesGroup(dialect)}/certificatesigningrequests`;
}

export function signerNameOf(request: ApiObject): string {
  return asText(asObject(request.spec).signerName);
}

export function usagesOf(request: ApiObject): readonly string[] {
  return asTexts(asObject(request.spec).usages);
}

/** The PEM text that was sent in. */
export function pemOf(request: ApiObject): string {
  return Buffer.from(asText(asObject(request.spec).request), 'base64').toString('latin1');
}

/** The request itself; undefined for one that cannot be read, which validation lets nobody store. */
export function parsedRequest(request: ApiObject): CertificateRequest | undefined {
  return parseCertificateRequest(pemOf(request));
}

/** The certificate as PEM; empty while there is none. */
export function certificateOf(request: ApiObject): string {
  return Buffer.from(asText(asObject(request.status).certificate), 'base64').toString('latin1');
}

/** When a decision was last written; undefined where it was not made. */
export function decidedMs(request: ApiObject, decision: Decision): number | undefined {
  const condition = conditionsOf(request).find(({ type, status }) => type === decision && status === 'True');
  return condition && (asTimeMs(condition.lastUpdateTime) ?? createdMs(request));
}

export function isDecided(request: ApiObject, decision: Decision): boolean {
  return decidedMs(request, decision) !== undefined;
}

export function hasConditions(request: ApiObject): boolean {
  return conditionsOf(request).length > 0;
}

export function createdMs(request: ApiObject): number {
  return asTimeMs(metadataOf(request).creationTimestamp) ?? 0;
}

/** Writes a request with more in its status. The stored resourceVersion guards it. */
export function statusWrite(
  request: ApiObject,
  dialect: Dialect,
  subresource: 'status' | 'approval',
  more: { readonly certificate?: string; readonly condition?: Condition },
): Write {
  const status = asObject(request.status);
  const { certificate, condition } = more;
  const body = {
    ...request,
    status: {
      ...status,
      ...(certificate === undefined ? {} : { certificate: Buffer.from(certificate).toString('base64') }),
      ...(condition === undefined ? {} : { conditions: [...conditionsOf(request), condition] }),
    },
  };
  return { verb: 'update', target: requestTarget(request, dialect, subresource), body };
}

export function requestTarget(request: ApiObject, dialect: Dialect, subresource = ''): WriteTarget {
  const group = certificatesGroup(dialect);
  const { name = '' } = metadataOf(request);
  const version = asText(request.apiVersion).split('/')[1] ?? 'v1';
  return { group, version, resource: 'certificatesigningrequests', subresource, namespace: '', name };
}

function conditionsOf(request: ApiObject): readonly ApiObject[] {
  return asList(asObject(request.status).conditions).map(asObject);
}
