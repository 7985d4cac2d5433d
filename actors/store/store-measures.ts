// What is not measured for each reading of /metrics, but from time to time: how many objects there are of each resource, and
// what the store takes on the disk.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Series } from '../../runtime/metrics/metrics.ts';
import type { LocalEngine } from '../../storage/engines/local-engine.ts';
import type { MemberBytes, SharedEngine } from '../../storage/engines/shared-engine.ts';
import type { LiveDigests } from '../../storage/live-digest.ts';
import { resourceOf } from '../../storage/object-key.ts';

const PERIOD_MS_MIN = 100;

export interface MeasurePeriods {
  /** Between counts of the objects; 0: never. */
  readonly objectCountMs: number;
  /** Between looks at the disk; 0: never. */
  readonly diskSizeMs: number;
  /** What the dialect calls the store. */
  readonly storeName: string;
  /** Where a store is that is this server's own: the data folder. */
  readonly endpoint: string;
}

/** Who knows what the store takes on the disk, or on those of its members. */
type Weighed = Pick<LocalEngine, 'diskBytes'> | Pick<SharedEngine, 'memberBytes'>;

export class StoreMeasures {
  readonly #context: ActorContext;
  readonly #engine: Weighed;
  readonly #digests: LiveDigests;
  /** Stay at 0 when the last object of a resource is gone. */
  readonly #objects = new Map<string, readonly Series[]>();
  /** What release 1.21 calls them. */
  #countsName = '';
  #sizeName = '';
  #endpoint = '';

  /** `digests`: of everything live, as it is. */
  constructor(context: ActorContext, engine: Weighed, digests: LiveDigests) {
    this.#context = context;
    this.#engine = engine;
    this.#digests = digests;
  }

  /** Measures now, and from now on. */
  start({ objectCountMs, diskSizeMs, storeName, endpoint }: MeasurePeriods): void {
    this.#endpoint = endpoint;
    this.#countsName = `${storeName}_object_counts`;
    this.#sizeName = `${storeName}_db_total_size_in_bytes`;
    this.#each(objectCountMs, () => this.#count());
    // A new store has nothing in it as it opens: whoever asks first need not wait for a period to pass.
    if (objectCountMs > 0) this.#context.metrics.beforeReading(() => this.#objects.size === 0 && this.#count());
    this.#each(diskSizeMs, () => this.#weigh());
  }

  #each(periodMs: number, measure: () => void): void {
    if (periodMs <= 0) return;
    const { timers } = this.#context;
    timers.soon(measure);
    timers.every(Math.max(PERIOD_MS_MIN, periodMs), measure);
  }

  #count(): void {
    this.#publish(new Map(this.#digests.all().map(({ storageKey, objects }) => [storageKey, objects])));
  }

  #publish(counts: ReadonlyMap<string, number>): void {
    for (const storageKey of counts.keys()) {
      if (this.#objects.has(storageKey)) continue;
      const resource = resourceOf(storageKey);
      const help = 'Stored objects of each resource, as last counted.';
      const { metrics } = this.#context;
      const names = ['apiserver_storage_objects', this.#countsName];
      this.#objects.set(
        storageKey,
        names.map((name) => metrics.gauge(name, help, { resource })),
      );
    }
    for (const [storageKey, both] of this.#objects) {
      for (const series of both) series.set(counts.get(storageKey) ?? 0);
    }
  }

  #weigh(): void {
    const help = 'What the store takes on the disk, in bytes.';
    this.#sizes().then(
      (sizes) => {
        for (const [endpoint, bytes] of sizes)
          for (const name of ['apiserver_storage_db_total_size_in_bytes', this.#sizeName])
            this.#context.metrics.gauge(name, help, { endpoint }).set(bytes);
      },
      // The store's own work says what is wrong with the disk.
      () => {},
    );
  }

  async #sizes(): Promise<MemberBytes> {
    if ('memberBytes' in this.#engine) return this.#engine.memberBytes();
    return [[this.#endpoint, await this.#engine.diskBytes()]];
  }
}
