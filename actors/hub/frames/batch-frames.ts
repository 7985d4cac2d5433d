// The chunks framed for one batch, found again by cohorts that select differently and yet see the same events in the same
// rendering: the bytes are then made once for all of them. Kept for the length of a flush, and while watchers wait for their turn to have
// the same.
import type { FramedEvent } from './frames.ts';

/** Chunks compared at most: beyond that, framing again is no dearer than looking. */
const KEPT_MAX = 16;

interface KeptChunk {
  readonly rendering: string;
  readonly events: readonly FramedEvent[];
  readonly chunk: Buffer;
}

export class BatchFrames {
  readonly #kept: KeptChunk[] = [];

  /** The chunk of these events; `rendering` says the same of equal renderings. `frame` makes it where there is none. */
  chunkOf(rendering: string, events: readonly FramedEvent[], frame: () => Buffer): Buffer {
    for (const kept of this.#kept) {
      if (kept.rendering === rendering && sameEvents(kept.events, events)) return kept.chunk;
    }
    const chunk = frame();
    if (this.#kept.length < KEPT_MAX) this.#kept.push({ rendering, events, chunk });
    return chunk;
  }

  /** The batch is sent. */
  clear(): void {
    this.#kept.length = 0;
  }
}

function sameEvents(left: readonly FramedEvent[], right: readonly FramedEvent[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    const [a, b] = [left[i]!, right[i]!];
    if (a === b) continue;
    if (a.entry !== b.entry || a.type !== b.type || a.shownRevision !== b.shownRevision) return false;
  }
  return true;
}
