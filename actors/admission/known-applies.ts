// Applies that are known to leave an object as it is: who keeps a cluster as a repository says applies the same bytes
// again and again. What is remembered is of one revision of the object, and of what the merge alone makes of it; plug-ins
// look at every apply, and validation at what they change. Bounded; forgotten with the thread.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Attributes } from './attributes.ts';
import type { MetadataChange } from './metadata-change.ts';
import type { WriteRequest } from './protocol.ts';
import { takeSteps, UNCHANGED_STEPS } from './steps.ts';
import type { StoredObject } from './stored-object.ts';
import type { WriteContext } from './write-context.ts';

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
 * The change that an apply makes which is known to change nothing of a stored object, read in this turn: none, unless a plugin has
 * something to say. The object is not even parsed for it, since all that is answered is where it lies; undefined where it has to be.
 */
export function changeOfNothing(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  tries: number,
): MetadataChange | undefined {
  const { type, asked } = attributes;
  if (asked.dryRun || type.custom !== undefined || type.apiVersion !== type.storageApiVersion) return undefined;
  if (stored.isStale) return undefined;
  const read = (): JsonObject => stored.object;
  attributes.beginApart(tries, timestampOf(write.context.clock.nowMs()), read, read);
  const admitted = takeSteps(UNCHANGED_STEPS, attributes, write);
  // Whoever goes on after a wait finds it parsed.
  if (admitted !== undefined) void [attributes.object, attributes.old];
  return { draft: undefined, hasVersion: false, admitted };
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
