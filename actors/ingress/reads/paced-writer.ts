// Writes a streamed answer no faster than its client reads.
import type { HttpResponse } from '../../../transport/http.ts';

/** Writes one piece; resolves when the next may be written, at once when the client is gone. One call at a time. */
export type PacedWrite = (piece: Uint8Array) => Promise<void>;

/** What is answered, and where it is counted. */
export interface Answered {
  readonly response: HttpResponse;
  sentBytes: number;
}

/** Takes over the response's `onDrained`. The response was started. */
export function pacedWriter(answered: Answered): PacedWrite {
  const { response } = answered;
  let resume = (): void => {};
  response.onDrained(() => resume());
  response.onAborted(() => resume());
  return async (piece) => {
    answered.sentBytes += piece.byteLength;
    if (response.write(piece) || response.aborted) return;
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
  };
}
