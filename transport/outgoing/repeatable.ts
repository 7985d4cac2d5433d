// Whether a request that found its kept connection closed may be sent once more. Knows methods and the system's words for errors;
// sending again is the clients' work.
import type { ClientRequest } from 'node:http';

/** Methods that may be carried out twice as well as once (RFC 9110 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** How a connection ends that the other side has closed; what Node calls a socket hang up is a reset, too. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** The end of the request was never sent: nobody has read all of it, and so nobody has carried it out. */
export function wasCutShort({ code, syscall }: NodeJS.ErrnoException): boolean {
  return syscall === 'write' && code !== undefined && CLOSED.has(code);
}

/**
 * A request on a kept connection that failed before anything of its answer came: it may be sent again where that does no harm, or
 * where it has certainly not been carried out. `doesNothing`: it only asks, whatever its method.
 */
export function mayRepeatOnNew(
  outgoing: Pick<ClientRequest, 'method' | 'reusedSocket'> & { readonly doesNothing?: boolean },
  error: NodeJS.ErrnoException,
): boolean {
  if (!outgoing.reusedSocket || error.code === undefined || !CLOSED.has(error.code)) return false;
  return outgoing.doesNothing === true || SAFE_METHODS.has(outgoing.method) || wasCutShort(error);
}
