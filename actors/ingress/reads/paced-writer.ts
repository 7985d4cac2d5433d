// Writes a streamed answer no faster than its client reads.
import type { HttpResponse } from '../../../transport/http.ts';

/** Writes one piece; resolves when the next may be written, at once when the client is gone. One call at a time. */
export type PacedWrite = (piece: Uint8Array) => Promise<void>;

/** Takes over the response's `onDrained`. The response was started. */
export function pacedWriter(response: HttpResponse): PacedWrite {
  let resume = (): void => {};
  response.onDrained(() => resume());
  response.onAborted(() => resume());
  return async (piece) => {
    if (response.write(piece) || response.aborted) return;
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
  };
}
