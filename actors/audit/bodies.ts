// The bodies of requests and answers as audit events hold them: JSON values, whatever they were sent as. What cannot be read is left
// out, since the client has been told so.
import { type AuditEvent, type AuditedObject, isNamedByBody } from '../../api/audit/event.ts';
import { DecodeError } from '../../api/codec/decode-error.ts';
import { decodeEnveloped } from '../../api/codec/protobuf.ts';
import { isJsonObject } from '../../api/json/json-value.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import { splitApiVersion } from '../../api/resources/resource-table.ts';
import type { Schema } from '../../api/schema/schema.ts';
import { isAtLeast } from '../../config/audit-policy.ts';
import { DIALECT_NAMES, DIALECTS } from '../../config/dialect.ts';
import { decodeBody } from '../../transport/body.ts';
import { parseMediaType } from '../../transport/media-type.ts';
import type { AuditedBody, UnreadAuditEvent } from './protocol.ts';
import type { SentObjects } from './sent-objects.ts';

const PROTOBUF_TYPES: ReadonlySet<string> = new Set(DIALECT_NAMES.map((name) => DIALECTS[name].protobufMediaType));
/** Patches are text, too. */
const TEXT_FORM = /[/+](json|yaml)$/;

/** The event with its bodies, as far as its level has them, and what the request is about as its body says. */
export function readEvent(unread: UnreadAuditEvent, schema: Schema, sent: SentObjects): AuditEvent {
  if (unread.requestBody === undefined && unread.responseBody === undefined) return unread;
  const { requestBody, responseBody, request, ...event } = unread;
  const { level, objectRef } = request;
  const isSentRecorded = isAtLeast(level, 'Request');
  const requestObject =
    requestBody && jsonOf(requestBody, schema, (value) => (isSentRecorded ? sent.recorded(value, request) : value));
  const responseObject = responseBody === undefined ? event.responseObject : jsonOf(responseBody, schema);
  return {
    ...event,
    request: {
      ...request,
      texts: undefined,
      objectRef: objectRef && (isNamedByBody(request.verb) ? completed(objectRef, requestObject) : objectRef),
    },
    requestObject: isSentRecorded ? requestObject : undefined,
    responseObject: isAtLeast(level, 'RequestResponse') && isApiObject(responseObject) ? responseObject : undefined,
  };
}

/** Lists of paths and the like are not recorded, as in Kubernetes. */
function isApiObject(value: unknown): boolean {
  return isJsonObject(value) && typeof value.kind === 'string';
}

/** A path does not say what an object that is made is called, nor which version of it is replaced. */
function completed(about: AuditedObject, body: unknown): AuditedObject {
  if (!isJsonObject(body) || !isJsonObject(body.metadata)) return about;
  const { name, namespace, uid, resourceVersion } = metadataOf(body);
  const or = (known: string, said: unknown): string => known || (typeof said === 'string' ? said : '');
  return {
    ...about,
    name: or(about.name, name),
    namespace: or(about.namespace, namespace),
    uid: or(about.uid, uid),
    resourceVersion: or(about.resourceVersion, resourceVersion),
  };
}

function jsonOf(body: AuditedBody, schema: Schema, recorded = AS_IT_IS): unknown {
  try {
    return recorded(readBody(body, schema));
  } catch {
    return undefined;
  }
}

const AS_IT_IS = (value: unknown): unknown => value;

function readBody({ contentType, bytes }: AuditedBody, schema: Schema): unknown {
  if (bytes.length === 0) return undefined;
  const { type } = parseMediaType(contentType);
  if (!PROTOBUF_TYPES.has(type)) {
    const form = TEXT_FORM.exec(type)?.[1];
    return form === undefined && type !== '' ? undefined : decodeBody(bytes, `application/${form ?? 'json'}`);
  }
  return decodeEnveloped(bytes, (apiVersion, kind) => {
    const { group, version } = splitApiVersion(apiVersion);
    const found = schema.kind(group, version, kind);
    if (found === undefined) throw new DecodeError('no such kind is known');
    return found;
  }).object;
}
