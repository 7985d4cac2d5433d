// What a request's method, path and query mean: the verb and what it is about. No route per resource: the path's shape
// decides (SPEC.md "Resource paths"). Knows no resource types; runs on every request.

import { decodePercent } from '../../values/percent.ts';
import { isListing, verbOfMethod } from '../verbs.ts';
import { knownBeginning, learnBeginning, plainNameStart } from './named-paths.ts';
import type { Query } from './query.ts';
import { isTrueParameter, parseQuery } from './query.ts';

/** A request about resources (`/api/v1/…`, `/apis/<group>/<version>/…`) or about another path. */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

export interface ResourceRequestInfo {
  readonly isResource: true;
  /**
   * As authorization names it: get, list, watch, create, update, patch, delete, deletecollection; `proxy` on the old
   * `/proxy/` paths; empty for methods that mean nothing on resources.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty when there is none. */
  readonly subresource: string;
  /**
   * Empty for cluster-scoped resources and for requests across all namespaces. Also for a namespace itself, though
   * authorization puts that request inside it: see `authorizationNamespace`.
   */
  readonly namespace: string;
  /**
   * Empty for requests on a collection; but a list or watch that a field selector narrows to `metadata.name=x` names x,
   * for authorization. So it is the verb that tells a collection.
   */
  readonly name: string;
  /** What follows the subresource in the path, decoded, with its leading slash (`proxy`), else empty. */
  readonly rest: string;
}

export interface NonResourceRequestInfo {
  readonly isResource: false;
  /** The HTTP method in lower case. */
  readonly verb: string;
  /** Decoded. As sent where it cannot be decoded. */
  readonly path: string;
  /** Set when the address cannot be understood: why. Such a request is answered 400. */
  readonly badRequest?: string;
}

/**
 * Reads a request's method, its path as sent and its query (as sent, or already wrapped by `parseQuery`, so that it is
 * decoded once). Never throws. Percent-encoded slashes separate segments like plain ones; trailing slashes are ignored;
 * an empty segment makes it a request about a path, not a resource, unless it stands for the namespace. A path that is badly
 * encoded, holds control characters, or has `.` or `..` where a name belongs comes back with `badRequest`.
 */
export function parseRequestInfo(method: string, path: string, query: string | Query): RequestInfo {
  const nameStart = plainNameStart(path);
  const known = nameStart === 0 ? undefined : knownBeginning(path, nameStart);
  if (known !== undefined) {
    const { group, version, resource, namespace } = known;
    const name = path.slice(nameStart);
    const verb = verbOfMethod(method);
    return { isResource: true, verb, group, version, resource, subresource: '', namespace, name, rest: '' };
  }
  const info = parseAnew(method, path, query);
  if (nameStart > 0 && info.isResource && isNamedByEnd(info, path, nameStart)) learnBeginning(path, nameStart, info);
  return info;
}

/** True of a path that would mean the same with any other name at its end. */
function isNamedByEnd({ verb, subresource, name }: ResourceRequestInfo, path: string, nameStart: number): boolean {
  // The old verbs stand in the path, and a listing has its name from the query.
  if (subresource !== '' || isListing(verb) || isSpecialVerb(verb)) return false;
  return name.length === path.length - nameStart && path.endsWith(name);
}

function parseAnew(method: string, path: string, query: string | Query): RequestInfo {
  const decoded = decodePercent(path);
  if (decoded === undefined) return badRequest(method, path, 'the path is not properly percent-encoded');
  if (hasControlCharacter(decoded)) return badRequest(method, path, 'the path holds a control character');
  const core = decoded.startsWith('/api/');
  if (!core && !decoded.startsWith('/apis/')) return nonResource(method, decoded);

  const groupStart = core ? 5 : 6;
  const groupEnd = core ? groupStart - 1 : decoded.indexOf('/', groupStart);
  if (groupEnd === groupStart || groupEnd < 0) return nonResource(method, decoded);
  const versionEnd = decoded.indexOf('/', groupEnd + 1);
  if (versionEnd < 0 || versionEnd === groupEnd + 1) return nonResource(method, decoded);
  const group = core ? '' : decoded.slice(groupStart, groupEnd);
  const version = decoded.slice(groupEnd + 1, versionEnd);

  const parts = cut(decoded, versionEnd + 1);
  if (parts === undefined || parts.segments.length === 0) return nonResource(method, decoded);
  for (const segment of parts.segments) {
    if (segment === '.' || segment === '..')
      return badRequest(method, decoded, invalidName(segment, `may not be '${segment}'`));
  }
  return resourceInfo(method, decoded, group, version, parts, query);
}

/**
 * The namespace a request is authorized in: that of its object, and for a request on one namespace object the one it
 * names.
 */
export function authorizationNamespace(info: ResourceRequestInfo): string {
  const onNamespace = info.resource === 'namespaces' && info.group === '' && !isListing(info.verb);
  return onNamespace ? info.name : info.namespace;
}

/** The path after the version, as far as it is ours to read: `[watch] [namespaces <ns>] <resource> <name> <subresource>`. */
interface Parts {
  /** None but the namespace is empty. */
  readonly segments: readonly string[];
  /** The index of the resource's segment. */
  readonly resourceAt: number;
  /** Where the last segment ends in the path. */
  readonly end: number;
}

/**
 * Cuts the path from `start` on; undefined when a segment is empty, but for that of the namespace: clients that are told to read an empty
 * namespace mean all. What follows the subresource is not looked at.
 */
function cut(path: string, start: number): Parts | undefined {
  let pathEnd = path.length;
  while (pathEnd > start && path.charCodeAt(pathEnd - 1) === SLASH) pathEnd--;
  const segments: string[] = [];
  let resourceAt = 0;
  let namespaced = false;
  let end = start;
  for (let from = start; from < pathEnd && segments.length < resourceAt + 3; from = end + 1) {
    end = path.indexOf('/', from);
    if (end < 0 || end > pathEnd) end = pathEnd;
    const isInNamespaces = !namespaced && segments[resourceAt] === 'namespaces';
    if (end === from && !(isInNamespaces && segments.length === resourceAt + 1)) return undefined;
    const segment = path.slice(from, end);
    segments.push(segment);
    if (segments.length === 1 && isSpecialVerb(segment)) {
      resourceAt = 1;
    } else if (isInNamespaces && segments.length === resourceAt + 3) {
      namespaced = segment !== 'status' && segment !== 'finalize';
      if (namespaced) resourceAt += 2;
      else if (segments[resourceAt + 1] === '') return undefined;
    }
  }
  return { segments, resourceAt, end };
}

/** First segments that once stood for a verb. */
function isSpecialVerb(segment: string): boolean {
  return segment === 'watch' || segment === 'proxy';
}

function invalidName(name: string, problem: string): string {
  return `Name parameter invalid: ${JSON.stringify(name)}: ${problem}`;
}

function resourceInfo(
  method: string,
  path: string,
  group: string,
  version: string,
  { segments, resourceAt, end }: Parts,
  query: string | Query,
): RequestInfo {
  const resource = segments[resourceAt];
  if (resource === undefined) return badRequest(method, path, `${segments[0]} needs a resource after it`);
  const namespace = resourceAt >= 2 ? segments[resourceAt - 1]! : '';
  const subresource = segments[resourceAt + 2] ?? '';
  const rest = subresource === '' ? '' : restAfter(path, end, subresource);
  let name = segments[resourceAt + 1] ?? '';
  if (name.includes('%')) return badRequest(method, path, invalidName(name, "may not contain '%'"));
  let verb: string = isSpecialVerb(segments[0]!) ? segments[0]! : verbOfMethod(method);
  if (name === '' && verb === 'get') {
    const collection = collectionRead(query);
    if (typeof collection === 'string') return badRequest(method, path, collection);
    verb = collection.watch ? 'watch' : 'list';
    name = collection.name;
  } else if (name === '' && verb === 'delete') {
    verb = 'deletecollection';
  }
  return { isResource: true, verb, group, version, resource, subresource, namespace, name, rest };
}

/** Lone trailing slashes count only for `proxy`, where they are part of the address behind it. */
function restAfter(path: string, end: number, subresource: string): string {
  if (end === path.length) return '';
  if (subresource === 'proxy') return path.slice(end);
  for (let i = end; i < path.length; i++) if (path.charCodeAt(i) !== SLASH) return path.slice(end);
  return '';
}

interface CollectionRead {
  readonly watch: boolean;
  readonly name: string;
}

const PLAIN_LIST: CollectionRead = { watch: false, name: '' };

/** What the query makes of a GET on a collection, or why it cannot be read. */
function collectionRead(query: string | Query): CollectionRead | string {
  if (query === '') return PLAIN_LIST;
  const parameters = typeof query === 'string' ? parseQuery(query) : query;
  if (parameters.badRequest !== '') return parameters.badRequest;
  const fieldSelector = parameters.get('fieldSelector');
  return {
    watch: isTrueParameter(parameters.get('watch')),
    name: fieldSelector === undefined ? '' : nameRequiredBy(fieldSelector),
  };
}

/**
 * The one name a field selector leaves: the value of its first `metadata.name=x` or `==x` term. Empty when there is
 * none, and when the value is escaped or no name: such a request is authorized as one on the whole collection.
 */
function nameRequiredBy(fieldSelector: string): string {
  if (!fieldSelector.includes('metadata.name')) return '';
  for (const term of fieldSelector.split(',', SELECTOR_TERMS_MAX)) {
    if (!term.startsWith('metadata.name=')) continue;
    const value = term.slice(term.startsWith('metadata.name==') ? 15 : 14);
    return /[\\=/%]/.test(value) || value === '.' || value === '..' ? '' : value;
  }
  return '';
}

/** Terms looked at; the rest of a longer selector only narrows further. */
const SELECTOR_TERMS_MAX = 64;

const SLASH = 0x2f;

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function nonResource(method: string, path: string): NonResourceRequestInfo {
  return { isResource: false, verb: method.toLowerCase(), path };
}

function badRequest(method: string, path: string, reason: string): NonResourceRequestInfo {
  return { isResource: false, verb: method.toLowerCase(), path, badRequest: reason };
}
