// What is live, as a few numbers a resource type: how many objects, how many changes, and the sum of a digest of each
// object's key and revision. Sums do not depend on order, so that the store keeps them change by change and a reader can
// add up what it holds: where both are of one revision and differ, the reader has gone astray.
import type { Own } from '../api/json/own-copy.ts';
import { ByType } from './by-type.ts';
import { liveDigestOf } from './records/event-log.ts';

/** Of one resource type. */
export interface ResourceDigest {
  /** ResourceType.storageKey. */
  readonly storageKey: string;
  readonly objects: number;
  /** Sum of `liveDigestOf` of the objects, modulo 2^32. */
  readonly digest: number;
  /** Changes since some moment: only differences say something. */
  readonly changes: number;
}

type Kept = Own<ResourceDigest>;

/** Keeps the digests of everything live. */
export class LiveDigests {
  readonly #byType = new ByType<Kept>((storageKey) => ({ storageKey, objects: 0, digest: 0, changes: 0 }));
  /** Sum over all resource types, modulo 2^32. */
  total = 0;

  /** A key's revision has become another; 0 stands for absence. */
  change(key: string, keyChecksum: number, before: number, next: number): void {
    const resource = this.#byType.of(key);
    let digest = 0;
    if (before > 0) {
      digest -= liveDigestOf(keyChecksum, before);
      resource.objects--;
    }
    if (next > 0) {
      digest += liveDigestOf(keyChecksum, next);
      resource.objects++;
    }
    resource.digest = (resource.digest + digest) >>> 0;
    resource.changes++;
    this.total = (this.total + digest) >>> 0;
  }

  /** A change that nobody has seen is taken back, the newest first: neither it nor this counts as one. */
  retract(key: string, keyChecksum: number, before: number, next: number): void {
    this.change(key, keyChecksum, before, next);
    this.#byType.of(key).changes -= 2;
  }

  /** A copy of what holds now. Types that never had an object are left out. */
  all(): readonly ResourceDigest[] {
    return [...this.#byType.values()].map((resource) => ({ ...resource }));
  }
}
