// What the store needs of an engine that only this process writes to: durable batches, and everything back at start. The
// store numbers the revisions and chains their event records; where others write too, see storage/engines/shared-engine.ts.
// Engines: storage/level/level-engine.ts (a directory on disk), storage/engines/memory-engine.ts (nothing survives).

/** One write of a batch: the latest value of a key, or its removal. */
export interface EngineWrite {
  /** `<group>/<plural>/<namespace>/<name>`. */
  readonly key: string;
  /** The stored value (storage/forms/stored-value.ts); undefined removes the key. */
  readonly value: Uint8Array | undefined;
}

/** Everything that became durable together: consecutive revisions, and their event record (storage/records/event-log.ts). */
export interface EngineBatch {
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly writes: readonly EngineWrite[];
  readonly events: Uint8Array;
}

/** What an engine held when it was opened. Values and records are verified by the caller, who knows their layout. */
export interface EngineContents {
  /** Fixed at creation: continue tokens are authenticated with it. */
  readonly tokenKey: Uint8Array;
  /** Events up to this revision were compacted. */
  readonly compactedRevision: number;
  /** The revision the head marker says was acknowledged; the event log must reach it. */
  readonly markedRevision: number;
}

/** Every value as of one commit, whatever is committed meanwhile. */
export interface EngineView {
  /** The next values, of about so many bytes together; empty at the end. One at a time. */
  next(bytesMax: number): Promise<readonly (readonly [key: string, value: Uint8Array])[]>;
  close(): Promise<void>;
}

export interface CloseOptions {
  readonly asFound: boolean;
}

export interface LocalEngine {
  /** Opens or creates. Throws OrchError StoreUnusable with one clear line when it is locked, damaged or of another dialect. */
  open(): Promise<EngineContents>;
  /** Every stored value, in no particular order; waits for a visitor that answers a promise. */
  loadValues(visit: (key: string, value: Uint8Array) => unknown): Promise<void>;
  /** Every event record after the compacted revision, in order. */
  loadEvents(visit: (events: Uint8Array) => void): Promise<void>;
  /** Everything was loaded, and is not read again: what reading took is given back. For engines that keep any of it. */
  loaded?(): Promise<void>;
  /**
   * Makes a batch durable: when it resolves, a crash of process or machine cannot lose it. One at a time. Rejects with
   * OrchError StorageFull or StorageFailed when nothing of the batch is stored or will be, and later ones may be; with
   * StorageUnsure when that holds once a later one is made, and a start before then may find the batch; any other rejection
   * leaves open what is stored, and the engine must be opened anew.
   */
  commit(batch: EngineBatch): Promise<void>;
  /** Forgets event records up to a revision, a slice at a time; true while there is more to do. Rejects as `commit` does. */
  compact(upToRevision: number): Promise<boolean>;
  /** Gives the room of what was overwritten and removed back to the disk. Long work, for engines that have any of it. */
  reclaim?(): Promise<void>;
  /** The values as of the last commit. Only between commits. Holds room on the disk until it is closed. Throws as `commit` rejects. */
  view(): EngineView;
  /** What the engine's files take on the disk. */
  diskBytes(): Promise<number>;
  /** Reads one value back from the disk, as a health check. Resolves on a full disk, from which all can be read. */
  probe(): Promise<void>;
  /** `asFound`: what was opened is refused; an engine that can leaves its files as they were before. */
  close(options?: CloseOptions): Promise<void>;
}
