// How controllers learn which groups other servers answer for: from the APIServices that the store tells of.
import type { RemoteGroups } from '../../api/aggregation/remote-groups.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';

/** One event of an APIService. True when it tells something new of another server. */
export function noteApiService(remotes: RemoteGroups, event: FeedEvent): boolean {
  const { edition } = remotes;
  if (event.type === 'delete') remotes.remove(event.name);
  else remotes.put(event.object());
  return remotes.edition !== edition;
}
