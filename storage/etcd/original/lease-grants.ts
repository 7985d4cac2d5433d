// etcd leases for what ends by itself. As the original does it, several objects share one lease for a while, so that there are far
// fewer of them: a lease is granted for a little longer than asked for, and taken again as long as it lasts as long as asked for.
import type { EtcdCluster } from '../etcd-cluster.ts';

/** Of what is asked for, that a lease may last longer at most. */
const REUSE_SHARE = 0.05;
const OBJECTS_MAX = 1000;

export interface LeaseGrantsParts {
  readonly cluster: EtcdCluster;
  readonly monotonicMs: () => number;
  /** A name that no lease has. */
  readonly freshId: () => number;
  /** `--lease-reuse-duration-seconds` */
  readonly reuseSeconds: number;
  /** Told of a lease that nothing more is put under: how many objects were. */
  readonly onFull?: ((objects: number) => void) | undefined;
}

interface Granted {
  readonly id: number;
  readonly endMs: number;
  objects: number;
}

export class LeaseGrants {
  readonly #parts: LeaseGrantsParts;
  /** The last of each duration. */
  readonly #granted = new Map<number, Promise<Granted>>();

  constructor(parts: LeaseGrantsParts) {
    this.#parts = parts;
  }

  /** A lease that lasts so long at least. Rejects as the cluster does, when nothing waits for it any more. */
  async take(seconds: number): Promise<number> {
    for (;;) {
      const current = this.#granted.get(seconds);
      const last = await current?.catch(() => undefined);
      if (last !== undefined && this.#lasts(last, seconds)) {
        last.objects++;
        return last.id;
      }
      // Another that asked meanwhile has it granted already.
      if (this.#granted.get(seconds) !== current) continue;
      if (last !== undefined) this.#parts.onFull?.(last.objects);
      return (await this.#grant(seconds)).id;
    }
  }

  /** It turned out to have ended: the next is another one. */
  forget(seconds: number): void {
    this.#granted.delete(seconds);
  }

  #lasts({ endMs, objects }: Granted, seconds: number): boolean {
    return this.#parts.monotonicMs() + seconds * 1000 < endMs && objects < OBJECTS_MAX;
  }

  #grant(seconds: number): Promise<Granted> {
    const { cluster, monotonicMs, freshId, reuseSeconds } = this.#parts;
    const more = Math.min(reuseSeconds, Math.floor(seconds * REUSE_SHARE));
    const id = freshId();
    // From before it was asked for: it does not end earlier than this says.
    const endMs = monotonicMs() + (seconds + more) * 1000;
    const granted = cluster.grantLease(id, seconds + more).then(() => ({ id, endMs, objects: 1 }));
    this.#granted.set(seconds, granted);
    return granted;
  }
}
