// One constructor for each way a request is refused: code, reason, message form and details as clients expect them.
// They answer a Status; `throw new StatusError(…)` where it has to leave deep code. Field errors are in field-error.ts.
import type { Own } from '../json/own-copy.ts';
import { qualifiedName } from '../resource-type.ts';
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts';

/** What names a type in messages: a ResourceType, or a subresource as `{group: 'autoscaling', plural: 'deployments/scale'}`. */
export interface NamedType {
  readonly group: string;
  readonly plural: string;
}

/** Bytes of a request body, and of what a patch may grow an object by. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;
/** Bytes that an object may take in the store: patches, defaults and webhooks could make it grow without end. etcd takes 1.5 MiB. */
export const OBJECT_BYTES_MAX = 8 * 1024 * 1024;

/** A failed Status. Without `details` the member is left out; `{}` is written as an empty object. */
export function failure(code: number, reason: StatusReason, message: string, details?: StatusDetails): Status {
  const status: Own<Status> = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message };
  if (reason !== '') status.reason = reason;
  if (details !== undefined) status.details = details;
  status.code = code;
  return status;
}

/** Details of one object or type, empty members left out. */
function about(name: string, type: NamedType, more?: StatusDetails): StatusDetails {
  const details: Own<StatusDetails> = {};
  if (name !== '') details.name = name;
  if (type.group !== '') details.group = type.group;
  details.kind = type.plural;
  return more === undefined ? details : Object.assign(details, more);
}

function retry(seconds: number): StatusDetails {
  return seconds > 0 ? { retryAfterSeconds: seconds } : {};
}

/** 400: the request itself cannot be understood. */
export function badRequest(message: string): Status {
  return failure(400, 'BadRequest', message);
}

/** 401: no authenticator accepts the credentials, or there are none and anonymous access is off. */
export function unauthorized(): Status {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** 403 by authorization or admission. An empty name speaks of the whole type. */
export function forbidden(type: NamedType, name: string, detail: string): Status {
  const subject = name === '' ? qualifiedName(type) : `${qualifiedName(type)} ${quote(name)}`;
  return failure(403, 'Forbidden', `${subject} is forbidden: ${detail}`, about(name, type));
}

/** 403 for a path that is no resource. */
export function forbiddenPath(detail: string): Status {
  return failure(403, 'Forbidden', `forbidden: ${detail}`, {});
}

/** 403: nothing is created in a namespace that is being deleted. */
export function namespaceTerminating(type: NamedType, name: string, namespace: string): Status {
  const status = forbidden(
    type,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause: StatusCause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return { ...status, details: { ...status.details, causes: [cause] } };
}

/** 404: no such object. Also for the namespace of a create: `notFound(namespaces, ns)`. */
export function notFound(type: NamedType, name: string): Status {
  return failure(404, 'NotFound', `${qualifiedName(type)} ${quote(name)} not found`, about(name, type));
}

/** 404: the path names no served group, version or resource. */
export function resourceNotFound(): Status {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 405: the path exists, the method is not served on it. */
export function methodNotAllowed(): Status {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** The same of a type that definitions have made; `verb` is empty where the method stands for none. */
export function verbNotSupported(type: NamedType, verb: string): Status {
  const message = `${verb} is not supported on resources of kind ${quote(qualifiedName(type))}`;
  return failure(405, 'MethodNotAllowed', message, { group: type.group, kind: type.plural });
}

/** 405: what is of a type goes with its definition, and nothing more comes. */
export function definitionTerminating(group: string, kind: string): Status {
  const message = 'create not allowed while custom resource definition is terminating';
  return failure(405, 'MethodNotAllowed', message, { group, kind });
}

/** 406: nothing the Accept header names is served. With `accepted`, for who takes a type and no form of it, the message lists what is. */
export function notAcceptable(accepted: readonly string[] = []): Status {
  if (accepted.length === 0) return failure(406, 'NotAcceptable', '406: Not Acceptable', {});
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);
}

/** 409: a create met an existing name. `isLeaving`: of an object that is being deleted, so that trying again may help. */
export function alreadyExists(type: NamedType, name: string, isLeaving = false): Status {
  const text = `${qualifiedName(type)} ${quote(name)} already exists`;
  return failure(409, 'AlreadyExists', isLeaving ? `object is being deleted: ${text}` : text, about(name, type));
}

/** 409: the object is not in the state the request counts on. */
export function conflict(type: NamedType, name: string, detail: string): Status {
  const message = `Operation cannot be fulfilled on ${qualifiedName(type)} ${quote(name)}: ${detail}`;
  return failure(409, 'Conflict', message, about(name, type));
}

/** 409: the resourceVersion given is no longer the current one. */
export function conflictModified(type: NamedType, name: string): Status {
  return conflict(
    type,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** One field an apply would take from another manager. */
export interface ManagerConflict {
  readonly manager: string;
  /** Empty when the manager did not say. */
  readonly apiVersion: string;
  readonly field: string;
}

/** 409: an apply without force meets fields of other managers. */
export function applyConflict(conflicts: readonly ManagerConflict[]): Status {
  const fieldsByOwner = new Map<string, string[]>();
  const causes = conflicts.map(({ manager, apiVersion, field }): StatusCause => {
    const owner = apiVersion === '' ? quote(manager) : `${quote(manager)} using ${apiVersion}`;
    const fields = fieldsByOwner.get(owner);
    if (fields === undefined) fieldsByOwner.set(owner, [field]);
    else fields.push(field);
    return { reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field };
  });
  const [only, ...more] = causes;
  if (only !== undefined && more.length === 0) {
    return failure(409, 'Conflict', `Apply failed with 1 conflict: ${only.message}: ${only.field}`, { causes });
  }
  const owners = [...fieldsByOwner].map(([owner, fields]) => `conflicts with ${owner}:\n- ${fields.join('\n- ')}`);
  return failure(409, 'Conflict', `Apply failed with ${conflicts.length} conflicts: ${owners.join('\n')}`, { causes });
}

/** 410: the version a watch is to go on from is before the history window. Sent in an ERROR event. */
export function expired(askedVersion: number | string, oldestVersion: number | string): Status {
  return failure(410, 'Expired', `too old resource version: ${askedVersion} (${oldestVersion})`);
}

/** 410: a list as it was at a version before the history window. */
export function expiredList(): Status {
  return failure(410, 'Expired', 'The resourceVersion for the provided list is too old.');
}

/** 410: the snapshot of a continue token is gone. `continueToken` goes on with the list at a newer version, if not empty. */
export function expiredContinue(continueToken: string): Status {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter';
  if (continueToken === '') return failure(410, 'Expired', `${message}.`);
  const way =
    'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results ' +
    'in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now ' +
    'may show up in the list.';
  return { ...failure(410, 'Expired', `${message}, ${way}`), metadata: { continue: continueToken } };
}

/** 413: the body, or what a patch makes of the object, is larger than the limit. */
export function tooLarge(detail = `limit is ${BODY_BYTES_MAX}`): Status {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: ${detail}`);
}

/** An object that its schema's defaults would make larger than it may be. */
export function defaultsTooLarge(): Status {
  return tooLarge(`the defaults come to more than ${OBJECT_BYTES_MAX} bytes`);
}

/** 415: the Content-Type of a body is not among those served. */
export function unsupportedMediaType(accepted: readonly string[]): Status {
  return failure(415, 'UnsupportedMediaType', unknownFormat(accepted));
}

/** What a body in none of the formats that are read is told. */
export function unknownFormat(accepted: readonly string[]): string {
  return `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
}

/** 415: no such kind of patch for this type. */
export function unsupportedPatchType(): Status {
  return failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** 422: a well-formed patch that does not apply to the object (a missing path, a failed test). */
export function patchNotApplicable(): Status {
  return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** 422: PUT without resourceVersion on a type that insists on one. */
export function missingResourceVersion(type: NamedType, name: string): Status {
  const cause: StatusCause = {
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0x0: must be specified for an update',
    field: 'metadata.resourceVersion',
  };
  const message = `${qualifiedName(type)} ${quote(name)} is invalid: ${cause.field}: ${cause.message}`;
  return failure(422, 'Invalid', message, about(name, type, { causes: [cause] }));
}

/** 429: what serves such requests has as many as it may. */
export function tooManyRequests(detail: string, retryAfter: number): Status {
  return failure(429, 'TooManyRequests', detail, retry(retryAfter));
}

/** 429: an eviction would break a disruption budget. `retryAfter` 0 when waiting may not help. */
export function disruptionBudgetExceeded(detail: string, retryAfter: number): Status {
  const details: StatusDetails = {
    causes: [{ reason: 'DisruptionBudget', message: detail }],
    ...retry(retryAfter),
  };
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

/** 500: something unexpected. `detail` is shown to the client: no secrets, no stack. */
export function internalError(detail: string): Status {
  return failure(500, 'InternalError', `Internal error occurred: ${detail}`, { causes: [{ message: detail }] });
}

/** 500 without a reason, for the few refusals that have none (such as resourceVersion set on create). */
export function unnamedError(message: string): Status {
  return failure(500, '', message);
}

/** 500 ServerTimeout: the operation (`POST`, `get`, `list`, …) could not be done now and may be repeated. */
export function serverTimeout(operation: string, type: NamedType, retryAfter: number): Status {
  const message = `${operation} of ${qualifiedName(type)} could not be completed now, try again`;
  return failure(500, 'ServerTimeout', message, about(operation, type, retry(retryAfter)));
}

/** 503: a part of the server, or a server behind it, cannot answer. */
export function serviceUnavailable(detail: string): Status {
  return failure(503, 'ServiceUnavailable', detail);
}

/** 503: the store has only just started and nothing of it is known yet. Nothing was done. */
export function storeNotRead(): Status {
  return failure(503, 'ServiceUnavailable', 'the server has not read the store yet, try again', retry(1));
}

/**
 * 503: the actor that was asked is being started again. Clients repeat by themselves what has a `Retry-After`; a request
 * that may have changed something has none.
 */
export function restarting(mayHaveChanged: boolean): Status {
  const message = 'a part of the server is restarting, try again';
  return failure(503, 'ServiceUnavailable', message, mayHaveChanged ? undefined : retry(1));
}

/** 507: what was sent cannot be stored now; nothing of it is. */
export function insufficientStorage(detail: string): Status {
  return failure(507, 'InsufficientStorage', detail);
}

/** 504: the request's deadline has passed. */
export function timeout(detail: string, retryAfter = 0): Status {
  return failure(504, 'Timeout', `Timeout: ${detail}`, retry(retryAfter));
}

/** 504: the version asked for has not been reached (SPEC.md "Errors"; clients look for the cause and for this text). */
export function tooLargeResourceVersion(askedVersion: number | string, currentVersion: number | string): Status {
  const text = 'Too large resource version';
  return failure(504, 'Timeout', `Timeout: ${text}: ${askedVersion}, current: ${currentVersion}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: text }],
    retryAfterSeconds: 1,
  });
}

/** A text in double quotes, as messages show names. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
