// The query parameters of get, list and watch, checked and put into the hub's terms (SPEC.md "Query parameters" and
// "Resource-version semantics").
import { askedOptions, listOptions, parseVersion, refuseMatchOfWatch } from '../../../api/list-options.ts';
import { isTrueParameter, type Query } from '../../../api/requests/query.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { compileFieldSelector, escapeFieldValue } from '../../../api/selectors/field-selector.ts';
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

/** The name is the path's (`/watch/…/pods/a`), or one that the selector itself asks for. */
function namedSelector(
  { name, namespace }: ResourceRequestInfo,
  type: KnownType,
  stored: string,
  asked: string,
): string {
  if (stored !== '') {
    const { requirements } = compileFieldSelector(asked, type.selectableFields);
    if (requirements.some(({ field, equals, value }) => field === NAME_FIELD && equals && value === name))
      return stored;
    throw new StatusError(badRequest("fieldSelector metadata.name doesn't match requested name"));
  }
  if (type.namespaced && namespace === '') throw new StatusError(resourceNotFound());
  return `${NAME_FIELD}=${escapeFieldValue(name)}`;
}

const NAME_FIELD = 'metadata.name';

/** What a list asks the hub. Throws 400 and 422. */
export function listQuery(info: ResourceRequestInfo, type: KnownType, query: Query, metaGroup: string): ListQuery {
  return { storageKey: type.storageKey, namespace: info.namespace, ...listOptions(type, query, metaGroup) };
}

/** What a watch is about, and what it begins with: after a revision, or from the present state. */
export interface WatchStart extends Selection {
  readonly afterRevision: number | undefined;
  readonly freshness: Freshness;
  readonly bookmarks: boolean;
  readonly sendInitialEventsEnd: boolean;
  /** As asked for: of one that is negative, the watch ends at once. Undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

/**
 * What the query asks a watch for: where the path names an object, of that one. Throws StatusError for parameters that
 * cannot be read, that do not go together, or that choose another object than the path.
 */
export function watchStart(info: ResourceRequestInfo, type: KnownType, query: Query, metaGroup: string): WatchStart {
  const sendInitialEvents = query.get('sendInitialEvents');
  const checkMatch = sendInitialEvents === undefined ? refuseMatchOfWatch : ANY_MATCH;
  const { labelSelector, fieldSelector, timeoutSeconds } = askedOptions(type, query, metaGroup, checkMatch);
  const ofName = info.name === '' ? undefined : (query.get('fieldSelector') ?? '');
  const selector = ofName === undefined ? fieldSelector : namedSelector(info, type, fieldSelector, ofName);
  const version = parseVersion(query.get('resourceVersion'));
  const bookmarks = isTrueParameter(query.get('allowWatchBookmarks'));
  const wantsInitial = isTrueParameter(sendInitialEvents);
  const fromState = version === undefined || version === 0 || wantsInitial;
  return {
    storageKey: type.storageKey,
    namespace: info.namespace,
    labelSelector,
    fieldSelector: selector,
    afterRevision: fromState ? (sendInitialEvents !== undefined && !wantsInitial ? version : undefined) : version,
    freshness:
      version === undefined
        ? { kind: 'mostRecent' }
        : version === 0
          ? { kind: 'any' }
          : { kind: 'notOlderThan', revision: version },
    bookmarks,
    sendInitialEventsEnd: wantsInitial && bookmarks,
    timeoutSeconds: timeoutSeconds === 0 ? undefined : timeoutSeconds,
  };
}

const ANY_MATCH = (): void => undefined;
