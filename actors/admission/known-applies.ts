// Applies that are known to leave an object as it is: who keeps a cluster as a repository says applies the same bytes
// again and again. What is remembered is of one revision of the object, and of what the merge alone makes of it; plug-ins
// look at every apply, and validation at what they change. Bounded; forgotten with the thread.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../api/json/json-value.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { WriteRequest } from './protocol.ts';

/** An entry takes some 150 bytes. */
const KNOWN_MAX = 16_384;

export class KnownApplies {
  /** The revision that an apply changes nothing of, by its digest; the ones asked for last come last. */
  readonly #revisions = new Map<string, string>();

  /** True when the apply of that digest makes of the object what it is at a revision. */
  changesNothing(digest: string, liveRevision: string | undefined): boolean {
    const revision = this.#revisions.get(digest);
    if (revision === undefined || revision !== liveRevision) return false;
    this.#revisions.delete(digest);
    this.#revisions.set(digest, revision);
    return true;
  }

  remember(digest: string, live: JsonObject): void {
    const { resourceVersion } = metadataOf(live);
    if (resourceVersion === undefined) return;
    this.#revisions.delete(digest);
    this.#revisions.set(digest, resourceVersion);
    if (this.#revisions.size > KNOWN_MAX) this.#revisions.delete(this.#revisions.keys().next().value!);
  }
}

/**
 * All that the merge of an apply comes from beside the live object, as one text that no other apply has; undefined where
 * a webhook has a part in it, which may answer differently each time.
 */
export function digestOfApply({ target, parameters, payload }: WriteRequest, type: KnownType): string | undefined {
  const definition = type.custom?.definition;
  if (definition?.webhook !== undefined) return undefined;
  const { fieldManager, force, fieldValidation } = parameters;
  const { namespace, name, subresource } = target;
  const { storageKey, apiVersion } = type;
  const rest = [storageKey, apiVersion, definition?.revision, namespace, name, subresource, fieldManager, force];
  return `${hash('sha256', payload, 'base64')} ${hash('sha256', JSON.stringify([...rest, fieldValidation]), 'base64')}`;
}
