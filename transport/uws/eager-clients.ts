// Which clients use what a chunk holds before the line end that closes it: the binary sends that end only with the next chunk.

/** By how they name themselves: curl, Go's client and all that is made of client-go (kubectl, controllers), Node's. */
const EAGER_AGENT = /^(?:curl|Go-http-client|node-fetch)\/|^(?:node|node-fetch|undici)$|^\S+ \(\w+\/\w+\) \w+\//;

/**
 * True for a client that is known not to wait for the end of a chunk. One that does (urllib3, so most of Python's) would hold
 * back each event of a watch until the next; whoever is not known is taken for such a one.
 */
export function isEagerClient(userAgent: string): boolean {
  return EAGER_AGENT.test(userAgent);
}
