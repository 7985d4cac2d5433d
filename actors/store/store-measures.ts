// What is too long to measure for each reading of /metrics: how many objects there are of each resource, and what the store
// takes on the disk. Measured from time to time, in slices, so that no write waits for it.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Series } from '../../runtime/metrics.ts';
import { parseKey, resourceOf } from '../../storage/object-key.ts';
import type { StoreEngine } from '../../storage/shared-engine.ts';

const SLICE_KEYS = 5000;
const PERIOD_MS_MIN = 100;

export interface MeasurePeriods {
  /** Between counts of the objects; 0: never. */
  readonly objectCountMs: number;
  /** Between looks at the disk; 0: never. */
  readonly diskSizeMs: number;
  /** What the dialect calls the store. */
  readonly storeName: string;
}

export class StoreMeasures {
  readonly #context: ActorContext;
  readonly #engine: Pick<StoreEngine, 'diskBytes'>;
  readonly #current: ReadonlyMap<string, unknown>;
  /** Stay at 0 when the last object of a resource is gone. */
  readonly #objects = new Map<string, readonly Series[]>();
  /** What release 1.21 calls them. */
  #countsName = '';
  #sizeName = '';
  #isCounting = false;

  /** `current`: all objects by their keys, as they are. */
  constructor(context: ActorContext, engine: Pick<StoreEngine, 'diskBytes'>, current: ReadonlyMap<string, unknown>) {
    this.#context = context;
    this.#engine = engine;
    this.#current = current;
  }

  /** Measures now, and from now on. */
  start({ objectCountMs, diskSizeMs, storeName }: MeasurePeriods): void {
    this.#countsName = `${storeName}_object_counts`;
    this.#sizeName = `${storeName}_db_total_size_in_bytes`;
    this.#each(objectCountMs, () => this.#count());
    this.#each(diskSizeMs, () => this.#weigh());
  }

  #each(periodMs: number, measure: () => void): void {
    if (periodMs <= 0) return;
    const { timers } = this.#context;
    timers.soon(measure);
    timers.every(Math.max(PERIOD_MS_MIN, periodMs), measure);
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    // A map may be walked while it changes.
    this.#countSlice(this.#current.keys(), new Map());
  }

  #countSlice(keys: Iterator<string>, counts: Map<string, number>): void {
    for (let left = SLICE_KEYS; left > 0; left--) {
      const { value: key, done } = keys.next();
      if (done === true) {
        this.#isCounting = false;
        this.#publish(counts);
        return;
      }
      const { storageKey } = parseKey(key);
      counts.set(storageKey, (counts.get(storageKey) ?? 0) + 1);
    }
    this.#context.timers.soon(() => this.#countSlice(keys, counts));
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
    this.#engine.diskBytes().then(
      (bytes) => {
        for (const name of ['apiserver_storage_db_total_size_in_bytes', this.#sizeName])
          this.#context.metrics.gauge(name, help).set(bytes);
      },
      // The store's own work says what is wrong with the disk.
      () => {},
    );
  }
}
