// What a backend says of its own places, as those who reach it through this server have to hear it. Pure.
import { bracketed } from '../../values/host-text.ts';

/** What a proxy's path names, all of the core group. */
interface ProxiedObject {
  readonly version: string;
  /** Empty for a node. */
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
}

/** Where a backend is, and where it is seen. */
export interface ProxyPlace {
  /** Where the backend's root is at this server, encoded, without a closing slash. */
  readonly prefix: string;
  /** What the backend may call itself: its name and port, as an address spells them. */
  readonly backends: readonly string[];
  /** What the client calls this server, as its Host header says. */
  readonly asked: string;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** The place of what a proxy subresource leads to. */
export function proxyPlace(
  { version, namespace, resource, name, subresource }: ProxiedObject,
  { scheme, host, port }: { readonly scheme: string; readonly host: string; readonly port: number },
  asked: string,
): ProxyPlace {
  const scope = namespace === '' ? [] : ['namespaces', namespace];
  const bare = bracketed(host).toLowerCase();
  return {
    prefix: `/api/${[version, ...scope, resource, name, subresource].join('/')}`,
    backends: [`${bare}:${port}`, ...(DEFAULT_PORTS[scheme] === port ? [bare] : [])],
    asked,
  };
}

/** RFC 3986's parts of a reference: scheme, authority, path, and the query with the fragment. */
const REFERENCE = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is;

/**
 * A reference (of a Location header, say) that leads to a path of the backend, as one to the same place behind this
 * server. What leads to other hosts stays as it is, and so does what counts from where it is read: that is below the
 * prefix already.
 */
export function referenceOutside(reference: string, { prefix, backends, asked }: ProxyPlace): string {
  const [, scheme = '', authority, path = '', rest = ''] = REFERENCE.exec(reference) ?? [];
  if (!path.startsWith('/') || (scheme !== '' && authority === undefined)) return reference;
  const host = authority?.toLowerCase() ?? '';
  const isAsked = host !== '' && host === asked.toLowerCase();
  if (host !== '' && !isAsked && !backends.includes(host)) return reference;
  // A backend that knows of the proxy, by X-Forwarded-Uri for one, says it whole.
  const isInside = path === prefix || path.startsWith(`${prefix}/`);
  return `${isAsked ? `${scheme}//${authority}` : ''}${isInside ? '' : prefix}${path}${rest}`;
}

/** The headers with a Location as it is seen here. */
export function headersOutside(
  headers: readonly (readonly [name: string, value: string])[],
  place: ProxyPlace,
): readonly (readonly [name: string, value: string])[] {
  return headers.map(([name, value]) =>
    name.toLowerCase() === 'location' ? [name, referenceOutside(value, place)] : [name, value],
  );
}
