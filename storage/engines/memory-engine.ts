// An engine without a disk: commits succeed at once and nothing survives. For tests of controllers that want a fresh
// control plane in milliseconds, and for measuring what durability costs.
import type { EngineBatch, EngineContents, EngineView, LocalEngine } from './local-engine.ts';

export class MemoryEngine implements LocalEngine {
  readonly #values = new Map<string, Uint8Array>();
  readonly #events: { lastRevision: number; bytes: Uint8Array }[] = [];
  readonly #tokenKey: Uint8Array;
  #compactedRevision = 0;
  #lastRevision = 0;

  /** `tokenKey`: 32 random bytes for continue tokens. */
  constructor(tokenKey: Uint8Array) {
    this.#tokenKey = tokenKey;
  }

  open(): Promise<EngineContents> {
    return Promise.resolve({
      tokenKey: this.#tokenKey,
      compactedRevision: this.#compactedRevision,
      markedRevision: this.#lastRevision,
    });
  }

  async loadValues(visit: (key: string, value: Uint8Array) => unknown): Promise<void> {
    for (const [key, value] of this.#values) await visit(key, value);
  }

  loadEvents(visit: (events: Uint8Array) => void): Promise<void> {
    for (const { bytes, lastRevision } of this.#events) if (lastRevision > this.#compactedRevision) visit(bytes);
    return Promise.resolve();
  }

  /** Copies what it keeps, as a disk would: the caller reuses its buffers. */
  commit(batch: EngineBatch): Promise<void> {
    for (const { key, value } of batch.writes) {
      if (value === undefined) this.#values.delete(key);
      else this.#values.set(key, Uint8Array.from(value));
    }
    this.#events.push({ lastRevision: batch.lastRevision, bytes: Uint8Array.from(batch.events) });
    this.#lastRevision = batch.lastRevision;
    return Promise.resolve();
  }

  compact(upToRevision: number): Promise<boolean> {
    this.#compactedRevision = Math.max(this.#compactedRevision, upToRevision);
    const kept = this.#events.findIndex(({ lastRevision }) => lastRevision > this.#compactedRevision);
    this.#events.splice(0, kept < 0 ? this.#events.length : kept);
    return Promise.resolve(false);
  }

  view(): EngineView {
    // Values are replaced, never changed.
    return viewOf([...this.#values]);
  }

  /** There is no disk. */
  diskBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  probe(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A view over values that nobody changes. */
export function viewOf(values: readonly (readonly [key: string, value: Uint8Array])[]): EngineView {
  let at = 0;
  return {
    next: (bytesMax) => {
      const from = at;
      for (let bytes = 0; at < values.length && bytes < bytesMax; at++) bytes += values[at]![1].byteLength;
      return Promise.resolve(values.slice(from, at));
    },
    close: () => Promise.resolve(),
  };
}
