// What controllers need of extension servers' objects: which of them are owned or on their way out, how many there are, and the writes of
// the garbage collector to them.
import type { RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type {
  RemoteCount,
  RemoteListing,
  RemoteObject,
  RemoteType,
  RemoteWrite,
  RemoteWriteReply,
} from '../../../api/aggregation/remote-object.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, textAt } from '../../../api/json/object-fields.ts';
import { messageIn, type RemoteCallParts, RemoteCalls } from './remote-calls.ts';
import { byGroup, collectionPath, pagesOf, type ServedType, typesOf } from './remote-types.ts';

const ACCOUNT = 'generic-garbage-collector';
/** For all servers together. */
const LISTING_MS = 60_000;
const WRITE_MS = 10_000;
/** Of a type with more objects than these pages hold, the rest is not seen. */
const PAGES_MAX = 200;
/** What the original asks of a type, to collect its objects. */
const VERBS = ['delete', 'list', 'watch'];

/** Never rejects. */
export async function listOwned(
  parts: RemoteCallParts,
  apiServices: readonly RemoteApiService[],
): Promise<RemoteListing> {
  const calls = new RemoteCalls(parts, ACCOUNT, LISTING_MS);
  const objects: RemoteObject[] = [];
  const counts: RemoteCount[] = [];
  const types: RemoteType[] = [];
  let isWhole = true;
  const missed = (): void => {
    isWhole = false;
  };
  const one = async (served: ServedType): Promise<void> => {
    const type = remoteType(served);
    const path = collectionPath(served, '');
    const byNamespace = new Map<string, number>();
    let isEnd = false;
    for await (const { items, isLast } of pagesOf(calls, served.apiService, path, PAGES_MAX)) {
      for (const metadata of items) {
        const namespace = textAt(metadata, 'namespace');
        byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + 1);
        if (isTied(metadata)) objects.push({ type, metadata: tiesOf(metadata) });
      }
      isEnd = isLast;
    }
    if (!isEnd) {
      missed();
      return;
    }
    types.push(type);
    const { group, plural } = type;
    if (isLimited(served)) counts.push({ group, plural, byNamespace: [...byNamespace] });
  };
  const group = async (versions: readonly RemoteApiService[]): Promise<void> => {
    for await (const served of typesOf(calls, versions, isCollected, missed)) await one(served).catch(missed);
  };
  await Promise.all(byGroup(apiServices).map(group));
  return { objects, counts, types, isWhole };
}

/** Writes as the garbage collector does in the original. Rejects where the server does not answer. */
export async function writeRemote(
  parts: RemoteCallParts,
  apiService: RemoteApiService,
  { verb, resource, namespace, name, body }: RemoteWrite,
): Promise<RemoteWriteReply> {
  const collection = collectionPath({ apiService, plural: resource }, namespace);
  const answer = await new RemoteCalls(parts, ACCOUNT, WRITE_MS).call(apiService, {
    method: verb === 'patch' ? 'PATCH' : 'DELETE',
    path: `${collection}/${encodeURIComponent(name)}`,
    body: JSON.stringify(body),
    changes: { resource, namespace, name },
  });
  return { code: answer.status, message: answer.status < 300 ? '' : messageIn(answer.text) };
}

function isCollected({ verbs }: ServedType): boolean {
  return VERBS.every((verb) => verbs.includes(verb));
}

/** By quotas. */
function isLimited({ namespaced, verbs }: ServedType): boolean {
  return namespaced && verbs.includes('create');
}

function remoteType({ apiService, plural, kind, namespaced }: ServedType): RemoteType {
  return { group: apiService.group, version: apiService.version, plural, kind, namespaced };
}

function isTied(metadata: JsonObject): boolean {
  return asList(metadata.ownerReferences).length > 0 || textAt(metadata, 'deletionTimestamp') !== '';
}

/** No more than is looked at: it crosses threads. */
function tiesOf(metadata: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } = metadata;
  return { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp };
}
