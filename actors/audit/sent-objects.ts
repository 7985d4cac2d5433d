// What clients send, as events have it: an object to be made or changed is read by its type and has the defaults of its type, as
// Kubernetes records it; a patch is recorded as it came, and so are objects of custom types.
import type { AuditedRequest } from '../../api/audit/event.ts';
import { decode } from '../../api/codec/decode.ts';
import { DecodeError } from '../../api/codec/decode-error.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { apiVersionOf, resourceTable, splitApiVersion } from '../../api/resources/resource-table.ts';
import type { Schema } from '../../api/schema/schema.ts';
import { withData } from '../../api/strategy/core/secret.ts';

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

const DELETE_OPTIONS: Kind = { apiVersion: 'v1', kind: 'DeleteOptions' };

export class SentObjects {
  readonly #schema: Schema;
  readonly #gate: (name: string) => boolean;
  #kinds: ReadonlyMap<string, Kind> | undefined;

  constructor(schema: Schema, gate: (name: string) => boolean) {
    this.#schema = schema;
    this.#gate = gate;
  }

  /** The body of a request as it is recorded. Throws DecodeError for what cannot be read as the kind that the request is about. */
  recorded(body: unknown, request: Pick<AuditedRequest, 'verb' | 'objectRef'>): unknown {
    const expected = body === undefined ? undefined : this.#kindOf(request);
    if (expected === undefined) return body;
    const { kind = expected.kind, apiVersion = expected.apiVersion, ...given } = isJsonObject(body) ? body : NOTHING;
    if (kind !== expected.kind) throw new DecodeError(`it is no ${expected.kind}`);
    if (expected === DELETE_OPTIONS) return { kind, apiVersion, ...given };
    if (apiVersion !== expected.apiVersion) throw new DecodeError(`it is not of ${expected.apiVersion}`);
    return this.#complete({ kind, apiVersion, ...given }, expected);
  }

  #complete(object: JsonObject, { apiVersion, kind }: Kind): JsonObject {
    const { group, version } = splitApiVersion(apiVersion);
    const type = this.#schema.kind(group, version, kind);
    if (type === undefined) return object;
    const read = decode(object, type).object;
    applyDefaults(read, type, this.#gate);
    return apiVersion === 'v1' && kind === 'Secret' ? withData(read) : read;
  }

  #kindOf({ verb, objectRef }: Pick<AuditedRequest, 'verb' | 'objectRef'>): Kind | undefined {
    if (objectRef === undefined) return undefined;
    if (verb === 'delete' || verb === 'deletecollection') return DELETE_OPTIONS;
    if (verb !== 'create' && verb !== 'update') return undefined;
    this.#kinds ??= kindsByPlace(this.#schema);
    const { apiGroup, apiVersion, resource, subresource } = objectRef;
    return this.#kinds.get(placeOf(apiGroup, apiVersion, resource, subresource));
  }
}

const NOTHING: JsonObject = Object.freeze({});

function placeOf(group: string, version: string, plural: string, subresource: string): string {
  return `${group}/${version}/${plural}/${subresource}`;
}

/** What is sent to each address of a built-in type. */
function kindsByPlace({ dialect }: Schema): ReadonlyMap<string, Kind> {
  const kinds = new Map<string, Kind>();
  for (const { group, version, plural, kind, apiVersion, subresources } of resourceTable(dialect)) {
    kinds.set(placeOf(group, version, plural, ''), { apiVersion, kind });
    for (const sub of subresources.values())
      kinds.set(placeOf(group, version, plural, sub.name), {
        apiVersion: apiVersionOf(sub.group, sub.version),
        kind: sub.kind,
      });
  }
  return kinds;
}
