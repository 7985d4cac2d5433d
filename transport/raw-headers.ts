// The headers of one request as both listeners keep them: name and value in turn, names in lower case.

/** Every value of `name`, joined by `, `; empty when there is none. */
export function headerValue(headers: readonly string[], name: string): string {
  let joined: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) joined = joined === undefined ? headers[i + 1]! : `${joined}, ${headers[i + 1]}`;
  }
  return joined ?? '';
}

/** Whether the headers of a request by HTTP/1.1 say that a body follows them. */
export function announceBody(headers: readonly string[]): boolean {
  const length = headerValue(headers, 'content-length');
  return (length !== '' && length !== '0') || headerValue(headers, 'transfer-encoding') !== '';
}

/** True when a header's name begins with `prefix`. */
export function hasHeaderStarting(headers: readonly string[], prefix: string): boolean {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.startsWith(prefix)) return true;
  return false;
}

/** Name and value of each header whose name begins with `prefix`. */
export function headersStarting(
  headers: readonly string[],
  prefix: string,
): readonly (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.startsWith(prefix)) found.push([headers[i]!, headers[i + 1]!]);
  }
  return found;
}
