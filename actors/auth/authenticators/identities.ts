// Whether the objects that tokens speak for are still there: uid and deletion of a service account, a pod, a secret, as the
// hub of this thread knows them. What was read is remembered by the record's revision.
import { metadataOf } from '../../../api/object-meta.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { ThreadSlabs } from '../../../storage/thread-slabs.ts';
import type { Freshness, HubProtocol } from '../../hub/protocol.ts';

export interface Identity {
  readonly uid: string;
  /** When its deletion is due; infinite while it is not being deleted. */
  readonly deletedMs: number;
}

/** Undefined when there is no such object. Rejects with ActorDown while the store has not been read. */
export type FindIdentity = (
  storageKey: string,
  namespace: string,
  name: string,
  freshness: Freshness,
) => Promise<Identity | undefined>;

const REMEMBERED_MAX = 10_000;
const HUB_DEADLINE_MS = 10_000;

/** Reads through the hub of the actor's thread. */
export function identityReader(context: ActorContext): FindIdentity {
  const slabs = ThreadSlabs.of(context);
  const remembered = new Map<string, Identity & { readonly revision: number }>();
  let hub: Ref<HubProtocol> | undefined;
  return async (storageKey, namespace, name, freshness) => {
    hub ??= context.ref('hub');
    const question = { type: 'get', storageKey, namespace, name, freshness } as const;
    const answer = await hub.ask(question, { deadlineMs: HUB_DEADLINE_MS });
    if (answer.refused !== undefined) throw new OrchError('ActorDown', 'the store has not been read yet');
    if (answer.place === null) return undefined;
    const key = `${storageKey}/${namespace}/${name}`;
    const { revision } = answer.place;
    const known = remembered.get(key);
    if (known?.revision === revision) return known;
    const { uid = '', deletionTimestamp } = metadataOf(slabs.decode(answer.place));
    const deletedMs = deletionTimestamp ? Date.parse(deletionTimestamp) : Number.POSITIVE_INFINITY;
    const identity = { revision, uid, deletedMs };
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(key, identity);
    return identity;
  };
}
