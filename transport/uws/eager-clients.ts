// Which clients use what a chunk holds before the line end that closes it: the binary sends that end only with the next chunk.

/** By how they name themselves. */
const EAGER_AGENTS: readonly RegExp[] = [
  /^(?:curl|Go-http-client|node-fetch|okhttp|Java-http-client|Apache-HttpClient|fabric8-\w+-client)\//,
  /^(?:node|node-fetch|undici)$/,
  // Node again, under other names.
  /^(?:axios\/|got \(|\w+-fluent-client$)/,
  // Python's, but for urllib3: httpx and aiohttp, under which operators are written.
  /^(?:python-httpx|kr8s|Python\/\S+ aiohttp|kopf)\//,
  // All that is made of client-go: kubectl, controllers.
  /^\S+ \(\w+\/\w+\) \w+\//,
  /^\w+ Java Client\//,
  /^(?:OpenAPI-Generator|Swagger-Codegen)\/\S+\/(?:java|csharp|go)\b/,
  // .NET: the client made by AutoRest, and the others by their saying nothing.
  /^FxVersion\//,
  /^$/,
];

/** The clients made for Python name themselves alike. Of those the one on urllib3 waits, and takes nothing encoded. */
const PYTHON_CLIENT = /^(?:OpenAPI-Generator|Swagger-Codegen)\/\S+\/python\b/;

/**
 * True for a client that is known not to wait for the end of a chunk. One that does (urllib3, so most of Python's) would hold
 * back each event of a watch until the next; whoever is not known is taken for such a one. Those that read by lines and take an
 * empty one for a broken event (Java's, .NET's, those on httpx and aiohttp) are all known.
 */
export function isEagerClient(userAgent: string, acceptEncoding: string): boolean {
  if (PYTHON_CLIENT.test(userAgent)) return /\bgzip\b/.test(acceptEncoding);
  return EAGER_AGENTS.some((agent) => agent.test(userAgent));
}
