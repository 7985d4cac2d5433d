// Whether an object that another names as its owner is there, where an extension server has it: asked of that server, as the garbage
// collector would be. Says `unknown` wherever there is doubt: what has no owner is deleted.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import { type RemoteOwner, type RemoteOwnerAsked, UNKNOWN_OWNER } from '../../../api/aggregation/remote-owner.ts';
import { partAt, textAt, textsAt } from '../../../api/json/object-fields.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../api/metadata/deletion.ts';
import { type Answered, accepted, jsonOf, type RemoteCallParts, RemoteCalls } from './remote-calls.ts';

const ACCOUNT = 'generic-garbage-collector';
const LOOK_UP_MS = 15_000;

/** Never rejects. */
export async function lookUpOwner(
  parts: RemoteCallParts,
  apiService: RemoteApiService,
  asked: RemoteOwnerAsked,
): Promise<RemoteOwner> {
  const calls = new RemoteCalls(parts, ACCOUNT, LOOK_UP_MS);
  try {
    const row = (await calls.types(apiService)).find((one) => textAt(one, 'kind') === asked.kind);
    if (row === undefined || (row.namespaced === true && asked.namespace === '')) return UNKNOWN_OWNER;
    const namespace = row.namespaced === true ? `/namespaces/${encodeURIComponent(asked.namespace)}` : '';
    const path = `${pathOf(apiService)}${namespace}/${textAt(row, 'name')}/${encodeURIComponent(asked.name)}`;
    return ownerIn(await calls.call(apiService, { method: 'GET', path }));
  } catch {
    return UNKNOWN_OWNER;
  }
}

/** Throws where the answer is neither the object nor that there is none. */
function ownerIn(answer: Answered): RemoteOwner {
  // A server that knows no such path says 404 too, and not of the object.
  if (answer.status === 404) return textAt(jsonOf(answer), 'reason') === 'NotFound' ? { is: 'absent' } : UNKNOWN_OWNER;
  const metadata = partAt(jsonOf(accepted(answer)), 'metadata');
  const uid = textAt(metadata, 'uid');
  if (uid === '') return UNKNOWN_OWNER;
  const finalizers = textAt(metadata, 'deletionTimestamp') === '' ? [] : textsAt(metadata, 'finalizers');
  if (finalizers.includes(FOREGROUND_FINALIZER)) return { is: 'present', uid, deletion: 'foreground' };
  return { is: 'present', uid, deletion: finalizers.includes(ORPHAN_FINALIZER) ? 'orphan' : 'none' };
}
