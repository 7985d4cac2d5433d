// The outline of a batch, which lies beside its values: at which place each of its removals stands. A value says its place
// itself; a removal has none to say it in.
import type { SharedTransaction } from '../shared-engine.ts';

/** JSON: the places by key. */
export function outlineOf(batch: readonly SharedTransaction[]): Buffer {
  const places: Record<string, number> = Object.create(null);
  for (const { writes, place } of batch) {
    for (const { key, value } of writes) if (value === undefined) places[key] = place;
  }
  return Buffer.from(JSON.stringify(places));
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
