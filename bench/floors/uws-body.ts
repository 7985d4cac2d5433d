// A request's body on a bare uWebSockets.js.
import type { HttpResponse } from 'uWebSockets.js';

/** Calls `use` with all of the body when it has come. Before that the response has to be told what to do when it is aborted. */
export function withBody(response: HttpResponse, use: (body: Buffer) => void): void {
  const parts: Buffer[] = [];
  response.onData((part, isLast) => {
    // The bytes are valid during the call only.
    parts.push(Buffer.from(new Uint8Array(part).slice()));
    if (isLast) use(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  });
}
