// The outline of a batch, which lies beside its values: at which place each of its removals stands, and who wrote it. A value says its
// place itself; a removal has none to say it in. By who wrote it, one history is told from another.
import { createHash } from 'node:crypto';
import type { SharedTransaction } from '../engines/shared-engine.ts';

/** Beside the places, under a key that no object has. */
const MARK = '';
const MARK_BYTES = 6;

/** Tells a process from all others; one that has lost batches to a restore of etcd goes on as another. */
export function markOf(processId: string): number {
  return createHash('sha256').update(processId).digest().readUIntBE(0, MARK_BYTES);
}

/** JSON: the places by key. */
export function outlineOf(batch: readonly SharedTransaction[], mark: number): Buffer {
  const places: Record<string, number> = Object.create(null);
  places[MARK] = mark;
  for (const { writes, place } of batch) {
    for (const { key, value } of writes) if (value === undefined) places[key] = place;
  }
  return Buffer.from(JSON.stringify(places));
}

/** Who wrote it; undefined where that is not said. */
export function readMark(bytes: Uint8Array): number | undefined {
  return readOutline(bytes).get(MARK);
}

/** The outline of a batch that removes nothing, or only what nobody sees. */
export const EMPTY_OUTLINE: Uint8Array = Buffer.from('{}');

/** The places of removals by their keys; none where it cannot be read. */
export function readOutline(bytes: Uint8Array): ReadonlyMap<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(Buffer.from(bytes).toString()) as Record<string, number>));
  } catch {
    return new Map();
  }
}

/** Whether it can be read. */
export function isOutline(bytes: Uint8Array): boolean {
  try {
    const places = JSON.parse(Buffer.from(bytes).toString()) as unknown;
    return typeof places === 'object' && places !== null && Object.values(places).every(Number.isSafeInteger);
  } catch {
    return false;
  }
}
