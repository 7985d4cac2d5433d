// The renderings that the pool makes, as whoever wants one names them, and what has to be said for one. What they do is
// job-functions.ts, which is loaded in the pool's thread alone.
import type { PieceJob } from '../runtime/jobs/job-pool.ts';
import type { ListEnvelope, ListItems } from './list.ts';
import type { Rendering } from './rendering.ts';

/** Stored bytes from which a rendering is the pool's: less is made here before the other thread has woken up. */
export const JOB_BYTES_MIN = 256 * 1024;

export interface ListInput {
  readonly envelope: ListEnvelope;
  /** By index into `slabs`, and the offset. */
  readonly places: Uint32Array;
  /** Only those that hold records of the list. They must lie still until the job has ended. */
  readonly slabs: readonly SharedArrayBuffer[];
  /** `ListItems.areWhole`. */
  readonly areWhole: boolean;
  readonly rendering: Rendering;
  readonly nowMs: number;
}

export interface ValueInput {
  /** Moved to the job. */
  readonly json: Uint8Array;
  readonly rendering: Rendering;
  readonly nowMs: number;
  readonly isRendered: boolean;
}

const module = new URL('./job-functions.js', import.meta.url).href;

export const LIST_JOB: PieceJob<ListInput> = { module, name: 'renderList' };
export const VALUE_JOB: PieceJob<ValueInput> = { module, name: 'renderValue' };

/** The part of a list that its job needs of the records. */
export function listInputOf({
  places,
  slabs,
  areWhole = false,
}: ListItems): Pick<ListInput, 'places' | 'slabs' | 'areWhole'> {
  const indexes = new Map<number, number>();
  const used: SharedArrayBuffer[] = [];
  const compact = new Uint32Array(places.length);
  let last = -1;
  let lastIndex = -1;
  for (let i = 0; i < places.length; i += 2) {
    const slab = places[i]!;
    if (slab !== last) {
      last = slab;
      lastIndex = indexes.get(slab) ?? -1;
      if (lastIndex < 0) {
        lastIndex = used.push(slabs[slab]!.memory) - 1;
        indexes.set(slab, lastIndex);
      }
    }
    compact[i] = lastIndex;
    compact[i + 1] = places[i + 1]!;
  }
  return { places: compact, slabs: used, areWhole };
}
