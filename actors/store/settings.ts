// What can be set of the store: by the server's options, and in a placement file.
import type { ActorContext } from '../../runtime/actor.ts';
import type { SettingRange } from '../../runtime/actor-facts.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';
import type { StorageMedia, StoredValue } from '../../storage/forms/stored-value.ts';
import type { MeasurePeriods } from './store-measures.ts';

export interface StoreOptions {
  /** Makes the engine, unopened. */
  readonly engine: (
    context: ActorContext,
    encryption: StoredEncryption | undefined,
  ) => StoreEngine | Promise<StoreEngine>;
  readonly media: StorageMedia;
  /** What values pass through on their way to disk and back; absent: they lie there as they are. */
  readonly encryption?: () => Promise<StoredEncryption>;
  /** Events older than this are compacted; 0: only when the window outgrows its bounds. */
  readonly compactionIntervalMs: number;
  readonly healthcheckTimeoutMs: number;
  /** Bytes that only the history window keeps; older events are compacted beyond it. */
  readonly historyBytesMax: number;
  /** How often objects and disk are measured for the metrics; absent: never. */
  readonly measures?: MeasurePeriods;
  /** Brings a value that is read back from the engine into the version it is stored in now; absent: it is. */
  readonly currentVersion?: CurrentVersion;
}

/** The value given, or another of the same object and revision. */
export type CurrentVersion = (key: string, value: StoredValue) => StoredValue;

export const STORE_SETTINGS = {
  slabBytes: 1024 * 1024,
  historyEventsMax: 200_000,
  /** Transactions in one commit batch. */
  batchTransactionsMax: 1024,
  /** Bytes of values in one commit batch; a single message may be larger. */
  batchBytesMax: 8 * 1024 * 1024,
  /** Events of the history window forgotten at once, between two batches. */
  compactionSliceEvents: 4000,
  /** A sealed slab that is live to at most this share is emptied and reused. */
  sparseShare: 0.25,
  /** While much is written, the scheduler and the controllers hear of it together for as long; 0: of each batch as it comes. */
  patienceMs: 10,
  /** Much is written: as many objects in that time. One client that writes one object after another stays below it. */
  denseRecords: 32,
} as const;

export const STORE_RANGES: Readonly<Record<keyof typeof STORE_SETTINGS, SettingRange>> = {
  // Places are counted in words of 32 bits, and one slab is one allocation.
  slabBytes: { least: 64 * 1024, most: 256 * 1024 * 1024 },
  historyEventsMax: { least: 1, most: 100_000_000 },
  batchTransactionsMax: { least: 1, most: 65_536 },
  batchBytesMax: { least: 1, most: 256 * 1024 * 1024 },
  compactionSliceEvents: { least: 1, most: 10_000_000 },
  sparseShare: { least: 0, most: 0.9, isFraction: true },
  patienceMs: { least: 0, most: 1000 },
  denseRecords: { least: 1, most: 1_000_000 },
};
