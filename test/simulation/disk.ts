// A disk under a storage engine: what was synced survives a crash, what was not is gone or, when the crash came late
// enough, there after all. A commit may be slow or fail. Bytes are copied in, as a disk would.
import { OrchError } from '../../runtime/errors.ts';
import type { EngineBatch, EngineContents, EngineView, LocalEngine } from '../../storage/engines/local-engine.ts';
import { viewOf } from '../../storage/engines/memory-engine.ts';

/** How one commit goes: how long it takes, and whether it fails, with or without having reached the disk. */
export interface CommitFate {
  readonly delayMs: number;
  /** By an error of the disk, or because it is full. */
  readonly fails: 'error' | 'full' | undefined;
  /** Reaches the disk although it fails, or although the process dies in the middle of it. */
  readonly isKept: boolean;
}

export interface DiskParts {
  readonly tokenKey: Uint8Array;
  readonly nowMs: () => number;
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly nextFate: () => CommitFate;
  /** A batch has become durable. */
  readonly onDurable: (batch: EngineBatch) => void;
}

interface Written {
  readonly batch: EngineBatch;
  readonly fate: CommitFate;
  readonly dueMs: number;
}

/** Holds the durable bytes. One engine at a time is open on it. */
export class SimulatedDisk {
  readonly #parts: DiskParts;
  readonly values = new Map<string, Uint8Array>();
  events: { readonly lastRevision: number; readonly bytes: Uint8Array }[] = [];
  compactedRevision = 0;
  lastRevision = 0;
  /** Handed to the disk and not synced yet, in order. */
  #unsynced: Written[] = [];
  #engine: SimulatedEngine | undefined;
  /** Told when the process or the thread of the engine is gone. */
  onCrash: () => void = () => {};

  constructor(parts: DiskParts) {
    this.#parts = parts;
  }

  get tokenKey(): Uint8Array {
    return this.#parts.tokenKey;
  }

  /** A new engine on what is durable. */
  engine(): LocalEngine {
    this.crash();
    this.#engine = new SimulatedEngine(this);
    return this.#engine;
  }

  /** The process or the thread of the engine is gone. What was written last is lost first. */
  crash(): void {
    this.onCrash();
    if (this.#engine !== undefined) this.#engine.isOpen = false;
    this.#engine = undefined;
    const unsynced = this.#unsynced;
    this.#unsynced = [];
    for (const { batch, fate } of unsynced) {
      if (!fate.isKept) return;
      this.#sync(batch);
    }
  }

  write(engine: SimulatedEngine, batch: EngineBatch): Promise<void> {
    const { after, nextFate, nowMs } = this.#parts;
    const fate = nextFate();
    const dueMs = Math.max(nowMs() + fate.delayMs, this.#unsynced.at(-1)?.dueMs ?? 0);
    const written: Written = { batch: copyOf(batch), fate, dueMs };
    this.#unsynced.push(written);
    return new Promise((resolve, reject) => {
      after(dueMs - nowMs(), () => {
        // Whoever waited for it is gone.
        if (!engine.isOpen || this.#unsynced[0] !== written) return;
        this.#unsynced.shift();
        if (fate.fails === undefined || fate.isKept) this.#sync(written.batch);
        if (fate.fails === undefined) resolve();
        else reject(diskError(fate.fails));
      });
    });
  }

  #sync(batch: EngineBatch): void {
    for (const { key, value } of batch.writes) {
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, value);
    }
    this.events.push({ lastRevision: batch.lastRevision, bytes: batch.events });
    this.lastRevision = batch.lastRevision;
    this.#parts.onDurable(batch);
  }
}

class SimulatedEngine implements LocalEngine {
  readonly #disk: SimulatedDisk;
  isOpen = true;

  constructor(disk: SimulatedDisk) {
    this.#disk = disk;
  }

  open(): Promise<EngineContents> {
    const { tokenKey, compactedRevision, lastRevision } = this.#disk;
    return Promise.resolve({ tokenKey, compactedRevision, markedRevision: lastRevision });
  }

  async loadValues(visit: (key: string, value: Uint8Array) => unknown): Promise<void> {
    for (const [key, value] of this.#disk.values) await visit(key, value);
  }

  loadEvents(visit: (events: Uint8Array) => void): Promise<void> {
    const { events, compactedRevision } = this.#disk;
    for (const { lastRevision, bytes } of events) if (lastRevision > compactedRevision) visit(bytes);
    return Promise.resolve();
  }

  commit(batch: EngineBatch): Promise<void> {
    return this.isOpen ? this.#disk.write(this, batch) : new Promise(() => {});
  }

  compact(upToRevision: number): Promise<boolean> {
    const disk = this.#disk;
    if (!this.isOpen) return new Promise(() => {});
    disk.compactedRevision = Math.max(disk.compactedRevision, upToRevision);
    disk.events = disk.events.filter(({ lastRevision }) => lastRevision > disk.compactedRevision);
    return Promise.resolve(false);
  }

  view(): EngineView {
    return viewOf([...this.#disk.values]);
  }

  diskBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  probe(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.isOpen = false;
    return Promise.resolve();
  }
}

/** A full disk keeps nothing of a batch, and the engine knows; after an error nobody does. */
function diskError(kind: 'error' | 'full'): Error {
  if (kind === 'full') return new OrchError('StorageFull', 'the disk is full');
  return Object.assign(new Error('the disk reports an error'), { code: 'EIO' });
}

function copyOf({ firstRevision, lastRevision, writes, events }: EngineBatch): EngineBatch {
  return {
    firstRevision,
    lastRevision,
    writes: writes.map(({ key, value }) => ({ key, value: value && Uint8Array.from(value) })),
    events: Uint8Array.from(events),
  };
}
