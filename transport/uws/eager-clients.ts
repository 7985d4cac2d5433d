// Which clients use what a chunk holds before the line end that closes it: the binary sends that end only with the next chunk.

/** By how they name themselves. */
const EAGER_AGENTS: readonly RegExp[] = [
  /^(?:curl|Go-http-client|node-fetch|okhttp|Java-http-client|Apache-HttpClient|fabric8-\w+-client)\//,
  /^(?:node|node-fetch|undici)$/,
  // All that is made of client-go: kubectl, controllers.
  /^\S+ \(\w+\/\w+\) \w+\//,
  /^\w+ Java Client\//,
  /^(?:OpenAPI-Generator|Swagger-Codegen)\/\S+\/(?:java|csharp|go)\b/,
  // .NET: the client made by AutoRest, and the others by their saying nothing.
  /^FxVersion\//,
  /^$/,
];

/**
 * True for a client that is known not to wait for the end of a chunk. One that does (urllib3, so most of Python's) would hold
 * back each event of a watch until the next; whoever is not known is taken for such a one. Those that read by lines and take an
 * empty one for a broken event (Java's, .NET's) are all known.
 */
export function isEagerClient(userAgent: string): boolean {
  return EAGER_AGENTS.some((agent) => agent.test(userAgent));
}
