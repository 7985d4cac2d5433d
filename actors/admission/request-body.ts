// A write's body and options as the pipeline wants them: decoded, of the kind the path names, checked.
import { isJsonObject, type JsonObject } from '../../api/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { badRequest } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import {
  type DeleteOptions,
  isDryRun,
  requireValidOptions,
  validateDeleteOptions,
  validateWriteOptions,
} from '../../api/validation/options.ts';
import { decodeBody } from '../../transport/body.ts';
import type { WriteParameters, WriteRequest } from './protocol.ts';

/** The kind and apiVersion a body must be of; missing ones are taken from the path. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Decodes an object and checks that it is what the path says. Throws 400, 415. */
export async function decodeObject(request: WriteRequest, expected: ExpectedKind): Promise<JsonObject> {
  const value = await decodeBody(request.payload, request.contentType);
  if (!isJsonObject(value)) throw new StatusError(badRequest(`the body must be an object of kind ${expected.kind}`));
  requireKind(value, expected);
  return value;
}

/** Throws 400 when an object names another kind or version than the path. */
export function requireKind(object: JsonObject, expected: ExpectedKind): void {
  const { apiVersion, kind } = object;
  if (apiVersion !== undefined && apiVersion !== '' && apiVersion !== expected.apiVersion) {
    throw new StatusError(
      badRequest(
        `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected.apiVersion})`,
      ),
    );
  }
  if (kind !== undefined && kind !== '' && kind !== expected.kind) {
    throw new StatusError(
      badRequest(`the kind in the data (${String(kind)}) does not match the expected kind (${expected.kind})`),
    );
  }
}

/** Checks the options of a create or update. Returns true for a dry run. Throws 422. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  metaGroup: string,
  parameters: WriteParameters,
): boolean {
  requireValidOptions(kind, metaGroup, validateWriteOptions(parameters));
  return isDryRun(parameters);
}

/** DeleteOptions from the body, or from the query when there is none. Throws 400, 422. */
export async function deleteOptions(request: WriteRequest, metaGroup: string): Promise<DeleteOptions> {
  const options = request.payload.byteLength === 0 ? fromQuery(request.parameters) : await fromBody(request, metaGroup);
  requireValidOptions('DeleteOptions', metaGroup, validateDeleteOptions(options));
  return options;
}

function fromQuery(parameters: WriteParameters): DeleteOptions {
  const { dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy } = parameters;
  return {
    dryRun,
    propagationPolicy,
    gracePeriodSeconds: gracePeriodSeconds === undefined ? undefined : wholeSeconds(Number(gracePeriodSeconds)),
    orphanDependents: orphanDependents === undefined ? undefined : orphanDependents === 'true',
  };
}

async function fromBody(request: WriteRequest, metaGroup: string): Promise<DeleteOptions> {
  const body = await decodeBody(request.payload, request.contentType);
  if (!isJsonObject(body)) throw new StatusError(badRequest('the body of a delete must be DeleteOptions'));
  if (body.kind !== undefined && body.kind !== 'DeleteOptions') {
    throw new StatusError(
      badRequest(
        `the kind in the data (${String(body.kind)}) does not match the expected kind (DeleteOptions of ${metaGroup}/v1)`,
      ),
    );
  }
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = body;
  return {
    dryRun: Array.isArray(dryRun) ? dryRun.map(String) : request.parameters.dryRun,
    gracePeriodSeconds:
      gracePeriodSeconds === undefined || gracePeriodSeconds === null ? undefined : wholeSeconds(gracePeriodSeconds),
    propagationPolicy: typeof propagationPolicy === 'string' ? propagationPolicy : undefined,
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    preconditions: preconditionsOf(preconditions),
  };
}

function preconditionsOf(value: unknown): DeleteOptions['preconditions'] {
  if (!isJsonObject(value)) return undefined;
  return {
    ...(typeof value.uid === 'string' ? { uid: value.uid } : undefined),
    ...(typeof value.resourceVersion === 'string' ? { resourceVersion: value.resourceVersion } : undefined),
  };
}

function wholeSeconds(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new StatusError(badRequest(`gracePeriodSeconds must be an integer, not ${JSON.stringify(value)}`));
}

/** The kind a type's objects are read as at the version of the path. */
export function kindOf(type: KnownType): ExpectedKind {
  return { apiVersion: type.apiVersion, kind: type.kind };
}
