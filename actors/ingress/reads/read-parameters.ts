// The query parameters of get, list and watch, checked and put into the hub's terms (SPEC.md "Query parameters" and
// "Resource-version semantics").
import { isTrueParameter, type Query } from '../../../api/query.ts';
import type { ResourceRequestInfo } from '../../../api/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { compileFieldSelector, escapeFieldValue, storedFieldSelector } from '../../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import { badRequest, resourceNotFound, unnamedError } from '../../../api/status/failures.ts';
import {
  type FieldError,
  forbidden as forbiddenField,
  invalidFrom,
  notSupported,
} from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Freshness, ListQuery, Selection } from '../../hub/protocol.ts';

/** What `resourceVersion` asks of a get. */
export function getFreshness(query: Query): Freshness {
  const version = parseVersion(query.get('resourceVersion'));
  if (version === undefined) return { kind: 'mostRecent' };
  return version === 0 ? { kind: 'any' } : { kind: 'notOlderThan', revision: version };
}

/**
 * The objects a list, watch or deletecollection is about: of a watch whose path names an object, that one. Throws 400 for
 * selectors that cannot be read, or that choose another object than the path.
 */
export function selectionOf(info: ResourceRequestInfo, type: KnownType, query: Query): Selection {
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (labelSelector !== '') parseLabelSelector(labelSelector);
  return {
    storageKey: type.storageKey,
    namespace: info.namespace,
    labelSelector,
    fieldSelector:
      info.verb === 'watch' && info.name !== ''
        ? namedSelector(info, type, fieldSelector)
        : fieldSelector === ''
          ? ''
          : storedFieldSelector(fieldSelector, type),
  };
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

/** Every cell of the list table: match × paging × version. */
export function listQuery(info: ResourceRequestInfo, type: KnownType, query: Query, metaGroup: string): ListQuery {
  const selection = selectionOf(info, type, query);
  const limit = countParameter(query, 'limit');
  const continueToken = query.get('continue') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const versionText = query.get('resourceVersion') ?? '';
  checkMatch(match, versionText, continueToken, metaGroup);
  const version = parseVersion(versionText);
  if (continueToken !== '' && version !== undefined && version !== 0) {
    throw new StatusError(badRequest('specifying resource version is not allowed when using continue'));
  }
  return { ...selection, limit, continueToken, freshness: listFreshness(version, match, limit) };
}

function listFreshness(version: number | undefined, match: string, limit: number): Freshness {
  if (version === undefined) return { kind: 'mostRecent' };
  if (match === 'Exact') return { kind: 'exact', revision: version };
  if (version === 0) return { kind: 'any' };
  return match === '' && limit > 0 ? { kind: 'exact', revision: version } : { kind: 'notOlderThan', revision: version };
}

function checkMatch(match: string, version: string, continueToken: string, metaGroup: string): void {
  if (match === '') return;
  const errors: FieldError[] = [];
  const path = 'resourceVersionMatch';
  if (continueToken !== '')
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden when continue is provided'));
  if (version === '')
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan')
    errors.push(notSupported(path, match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && version === '0')
    errors.push(forbiddenField(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  if (errors.length > 0) throw new StatusError(invalidFrom('ListOptions', metaGroup, '', errors));
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

export function watchStart(query: Query, metaGroup: string): WatchStart {
  const version = parseVersion(query.get('resourceVersion'));
  const bookmarks = isTrueParameter(query.get('allowWatchBookmarks'));
  const sendInitialEvents = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && sendInitialEvents === undefined) {
    const error = forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch');
    throw new StatusError(invalidFrom('ListOptions', metaGroup, '', [error]));
  }
  const timeout = query.get('timeoutSeconds');
  const timeoutSeconds = timeout === undefined || timeout === '' ? 0 : countParameter(query, 'timeoutSeconds');
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

/** A resourceVersion as sent; undefined when unset. Throws for what no version of ours looks like. */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const version = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(version)) {
    throw new StatusError({
      ...unnamedError(`invalid resource version ${JSON.stringify(text)}`),
      reason: 'BadRequest',
      code: 400,
    });
  }
  return version;
}

function countParameter(query: Query, name: string): number {
  const text = query.get(name);
  if (text === undefined || text === '') return 0;
  if (!/^-?\d{1,15}$/.test(text))
    throw new StatusError(badRequest(`${name} must be an integer, not ${JSON.stringify(text)}`));
  return Math.max(0, Number(text));
}
