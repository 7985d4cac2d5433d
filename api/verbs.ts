// The one table of what can be done to resources: each verb with the method it comes by and the paths it is for; and where
// the resources of a group version are. Requests are read by it, served by it, described by it and counted by it.

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

interface VerbRow {
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** `collection`: the path names no object. */
  readonly on: 'collection' | 'object';
  readonly writes: boolean;
}

/** In the order in which discovery lists them. */
export const VERBS: Readonly<Record<Verb, VerbRow>> = {
  create: { method: 'POST', on: 'collection', writes: true },
  delete: { method: 'DELETE', on: 'object', writes: true },
  deletecollection: { method: 'DELETE', on: 'collection', writes: true },
  get: { method: 'GET', on: 'object', writes: false },
  list: { method: 'GET', on: 'collection', writes: false },
  patch: { method: 'PATCH', on: 'object', writes: true },
  update: { method: 'PUT', on: 'object', writes: true },
  watch: { method: 'GET', on: 'collection', writes: false },
};

export const EVERY_VERB = Object.keys(VERBS) as readonly Verb[];

export type WriteVerb = 'create' | 'delete' | 'deletecollection' | 'patch' | 'update';

const WRITE_VERBS: ReadonlySet<string> = new Set(EVERY_VERB.filter((verb) => VERBS[verb].writes));
const COLLECTION_VERBS: ReadonlySet<string> = new Set(EVERY_VERB.filter((verb) => VERBS[verb].on === 'collection'));

/** True for verbs that change what is stored. */
export function isWriteVerb(verb: string): verb is WriteVerb {
  return WRITE_VERBS.has(verb);
}

/** True for verbs whose path names no object. */
export function isOnCollection(verb: string): boolean {
  return COLLECTION_VERBS.has(verb);
}

/** True for the verbs that read a collection: their name may come from a field selector, and they go across namespaces. */
export function isListing(verb: string): boolean {
  return verb === 'list' || verb === 'watch';
}

/** The verb of a method where the path names an object, or for a POST a collection; empty where there is none. */
export function verbOfMethod(method: string): Verb | '' {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      return '';
  }
}

/** Methods that change nothing (RFC 9110 section 9.2.1), so that what failed may be asked again. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Methods whose requests have a body. */
export const METHODS_WITH_BODY: ReadonlySet<string> = new Set(
  [...WRITE_VERBS].map((verb) => VERBS[verb as Verb].method),
);

/** Methods that are passed on to what stands behind a proxy. */
export const PROXY_METHODS: readonly string[] = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'];

/** Where a group and version is served: `/api/v1` or `/apis/<group>/<version>`. */
export function rootPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
