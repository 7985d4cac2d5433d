// What a request's method, path and query mean: the verb and what it is about. No route per resource: the path's shape
// decides (SPEC.md "Resource paths").

/** A request about resources (`/api/v1/…`, `/apis/<group>/<version>/…`) or about another path. */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

export interface ResourceRequestInfo {
  readonly isResource: true;
  /** As authorization names it: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty when there is none. */
  readonly subresource: string;
  /** Empty for cluster-scoped resources and for requests across all namespaces. */
  readonly namespace: string;
  /** Empty for requests on a collection. */
  readonly name: string;
  /** What follows the subresource in the path, with its leading slash (`proxy`), else empty. */
  readonly rest: string;
}

export interface NonResourceRequestInfo {
  readonly isResource: false;
  /** The HTTP method in lower case. */
  readonly verb: string;
  /** Decoded. */
  readonly path: string;
}
