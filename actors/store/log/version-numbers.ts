// How versions are numbered where an engine numbers batches: the engine's revision times a stride, and the place in the batch.
// At a stride of 1 a version is a revision, which all that one transaction writes have in common.
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';

/** A value whose place is this much higher is its object's last: it is removed again at the place after. */
export const DYING_PLACE = 1024;

export class VersionNumbers {
  readonly #base: number;
  readonly stride: number;

  constructor(base: number, stride = REVISION_STRIDE) {
    this.#base = base;
    this.stride = stride;
  }

  version(engineRevision: number, place: number): number {
    return this.#base + engineRevision * this.stride + (this.stride === 1 ? 0 : place);
  }

  /** The version of a whole engine revision: no event of it is later, none of the next is as early. */
  endOf(engineRevision: number): number {
    return this.version(engineRevision, this.stride - 1);
  }

  engineOf(version: number): number {
    return Math.floor((version - this.#base) / this.stride);
  }
}
