// What becomes of a stream that a node agent sends elsewhere (to the container runtime's own server, say): whether it is
// followed there, and where that is. Pure; passage.ts sends the requests.
import { isIpText } from '../../../api/connect/backends.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { AgentTarget } from '../../../transport/outgoing/agent-address.ts';
import { bracketed, hostPort } from '../../../values/host-text.ts';

/**
 * How far redirections of streams are followed: `none` fails there (StreamingProxyRedirects is off), `sameHost`
 * to other ports and paths of the agent's own host, `any` to all hosts (ValidateProxyRedirects is off).
 */
export type Redirections = 'none' | 'sameHost' | 'any';

/** A backend and what is asked there. */
export interface Place {
  readonly target: AgentTarget;
  /** With the query. */
  readonly path: string;
}

/** Redirections of one stream; one more is given up. */
export const REDIRECTIONS_MAX = 9;
/** The only status that is followed. */
export const REDIRECTED = 302;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Where a redirection leads. `at`: what answered with it; `first`: what was asked at the beginning. Returns why it cannot be
 * followed as a text. Whatever the host, it must be one that the server connects to.
 */
export function redirectedTo(
  headers: HeaderList,
  at: Place,
  first: AgentTarget,
  followed: Redirections,
): Place | string {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '';
  if (location === '') return 'it redirects without a Location header';
  const base = urlOf(at);
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (url === undefined || defaultPort === undefined) return 'it redirects to what is no address of HTTP';
  const to = url.hostname.replace(/^\[|\]$/g, '');
  if (followed !== 'any' && to !== hostOf(first)) return 'it redirects to another host';
  const problem = isIpText(to) ? first.addressProblem?.(to) : undefined;
  if (problem !== undefined) return `it redirects to where the server does not go: ${problem}`;
  return {
    target: {
      ...first,
      scheme: url.protocol === 'http:' ? 'http' : 'https',
      host: to,
      port: url.port === '' ? defaultPort : Number(url.port),
    },
    path: `${url.pathname}${url.search}`,
  };
}

/** The URL of a place. */
export function urlOf({ target: { scheme, host, port }, path }: Place): string {
  return `${scheme}://${hostPort(host, port)}${path}`;
}

/** As the address of a URL spells it. */
function hostOf({ host }: AgentTarget): string {
  const url = `http://${bracketed(host)}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : host;
}
