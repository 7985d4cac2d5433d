// Whether a path is another server's. Asked for every request: a look-up in a map, which is empty where there are none.
import type { RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { RequestInfo } from '../../../api/requests/request-info.ts';

/** A group and version, and what is below them. */
const VERSION_PATH = /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/|$)/;

/** Who answers for a path; undefined: this server. */
export function remoteAt(remotes: RemoteGroups, info: RequestInfo): RemoteApiService | undefined {
  if (info.isResource) return remotes.at(info.group, info.version);
  if (remotes.isEmpty) return undefined;
  const [, group = '', version = ''] = VERSION_PATH.exec(info.path) ?? [];
  return version === '' ? undefined : remotes.at(group, version);
}
