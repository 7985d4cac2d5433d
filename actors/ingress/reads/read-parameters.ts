// The query parameters of get, list and watch, checked and put into the hub's terms (SPEC.md "Query parameters" and
// "Resource-version semantics").
import { countsOf, pageOf, parseVersion, refuseMatchOfWatch, selectorsOf } from '../../../api/list-options.ts';
import { isTrueParameter, type Query } from '../../../api/query.ts';
import type { ResourceRequestInfo } from '../../../api/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { compileFieldSelector, escapeFieldValue, storedFieldSelector } from '../../../api/selectors/field-selector.ts';
import { badRequest, resourceNotFound } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Freshness, ListQuery, Selection } from '../../hub/protocol.ts';

/** What `resourceVersion` asks of a get. Throws 400, also for who expects to get less than there is. */
export function getFreshness(query: Query): Freshness {
  if (isTrueParameter(query.get('export'))) {
    throw new StatusError(badRequest('the export parameter, deprecated since v1.14, is no longer supported'));
  }
  const version = parseVersion(query.get('resourceVersion'));
  if (version === undefined) return { kind: 'mostRecent' };
  return version === 0 ? { kind: 'any' } : { kind: 'notOlderThan', revision: version };
}

/**
 * The objects a list, watch or deletecollection is about: of a watch whose path names an object, that one. Throws 400 for
 * selectors that cannot be read, or that choose another object than the path.
 */
export function selectionOf(info: ResourceRequestInfo, type: KnownType, query: Query): Selection {
  const selectors = selectorsOf(type, query);
  const { storageKey } = type;
  const { namespace } = info;
  if (info.verb !== 'watch' || info.name === '') return { storageKey, namespace, ...selectors };
  const fieldSelector = namedSelector(info, type, query.get('fieldSelector') ?? '');
  return { storageKey, namespace, labelSelector: selectors.labelSelector, fieldSelector };
}

/** The name is the path's (`/watch/…/pods/a`), or one that the selector itself asks for. */
function namedSelector({ name, namespace }: ResourceRequestInfo, type: KnownType, fieldSelector: string): string {
  const { requirements } = compileFieldSelector(fieldSelector, type.selectableFields);
  if (requirements.length > 0) {
    if (requirements.some(({ field, equals, value }) => field === NAME_FIELD && equals && value === name))
      return storedFieldSelector(fieldSelector, type);
    throw new StatusError(badRequest("fieldSelector metadata.name doesn't match requested name"));
  }
  if (type.namespaced && namespace === '') throw new StatusError(resourceNotFound());
  return `${NAME_FIELD}=${escapeFieldValue(name)}`;
}

const NAME_FIELD = 'metadata.name';

/** What a list asks the hub. Throws 400 and 422. */
export function listQuery(info: ResourceRequestInfo, type: KnownType, query: Query, metaGroup: string): ListQuery {
  return { ...selectionOf(info, type, query), ...pageOf(query, metaGroup) };
}

/** What a watch begins with: after a revision, or from the present state. */
export interface WatchStart {
  readonly afterRevision: number | undefined;
  readonly freshness: Freshness;
  readonly bookmarks: boolean;
  readonly sendInitialEventsEnd: boolean;
  /** As asked for; undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

/** What the query asks a watch to begin with. Throws StatusError for parameters that do not go together. */
export function watchStart(query: Query, metaGroup: string): WatchStart {
  const version = parseVersion(query.get('resourceVersion'));
  const bookmarks = isTrueParameter(query.get('allowWatchBookmarks'));
  const sendInitialEvents = query.get('sendInitialEvents');
  if (sendInitialEvents === undefined) refuseMatchOfWatch(query, metaGroup);
  const { timeoutSeconds } = countsOf(query);
  const wantsInitial = isTrueParameter(sendInitialEvents);
  const fromState = version === undefined || version === 0 || wantsInitial;
  return {
    afterRevision: fromState ? (sendInitialEvents !== undefined && !wantsInitial ? version : undefined) : version,
    freshness:
      version === undefined
        ? { kind: 'mostRecent' }
        : version === 0
          ? { kind: 'any' }
          : { kind: 'notOlderThan', revision: version },
    bookmarks,
    sendInitialEventsEnd: wantsInitial && bookmarks,
    timeoutSeconds: timeoutSeconds > 0 ? timeoutSeconds : undefined,
  };
}
