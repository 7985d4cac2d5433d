// LevelDB's manifest: which tables and logs make up the database. CURRENT names it; its records are edits, the last of
// which win.
import type { FileDamage } from './damage.ts';
import { readLogFile } from './log-file.ts';
import { readBytes, readVarint } from './varint.ts';

export interface Manifest {
  /** Numbers of the live tables, with their lengths in bytes. */
  readonly tables: ReadonlyMap<number, number>;
  /** Logs from this number on are not in tables yet. */
  readonly logNumber: number;
  readonly damages: readonly FileDamage[];
}

interface State {
  readonly tables: Map<number, number>;
  logNumber: number;
}

/** Walks over one field of an edit; undefined when it is not well formed. */
type FieldReader = (edit: Buffer, at: number, state: State) => number | undefined;

const skipNumber: FieldReader = (edit, at) => readVarint(edit, at)[1];
const skipBytes: FieldReader = (edit, at) => readBytes(edit, at)?.[1];

const FIELDS: Readonly<Record<number, FieldReader>> = {
  // Comparator.
  1: skipBytes,
  2: (edit, at, state) => {
    const [number, end] = readVarint(edit, at);
    state.logNumber = number;
    return end;
  },
  // Next file number, last sequence.
  3: skipNumber,
  4: skipNumber,
  // Where compaction of a level goes on.
  5: (edit, at) => skipBytes(edit, readVarint(edit, at)[1], NOWHERE),
  6: (edit, at, state) => {
    const [number, end] = readVarint(edit, readVarint(edit, at)[1]);
    state.tables.delete(number);
    return end;
  },
  7: (edit, at, state) => {
    const [number, afterNumber] = readVarint(edit, readVarint(edit, at)[1]);
    const [bytes, afterBytes] = readVarint(edit, afterNumber);
    const smallest = readBytes(edit, afterBytes);
    const largest = smallest && readBytes(edit, smallest[1]);
    if (largest === undefined) return undefined;
    state.tables.set(number, bytes);
    return largest[1];
  },
  // Number of a log being turned into a table: always 0 since LevelDB 1.3.
  9: skipNumber,
};

const NOWHERE: State = { tables: new Map(), logNumber: 0 };

/** Reads a manifest; undefined when it has no sound edit. One that ends within an edit is as it was before that one. */
export function readManifest(file: Buffer): Manifest | undefined {
  const { records, damages } = readLogFile(file);
  const state: State = { tables: new Map(), logNumber: Number.NaN };
  const wrong = records.filter((record) => !applyEdit(record, state));
  if (Number.isNaN(state.logNumber)) return undefined;
  const edits = wrong.map(() => ({ offset: 0, what: 'an edit is not well formed' }));
  return { ...state, damages: [...damages, ...edits] };
}

function applyEdit(edit: Buffer, state: State): boolean {
  let at = 0;
  while (at < edit.length) {
    const [field, start] = readVarint(edit, at);
    const end = FIELDS[field]?.(edit, start, state);
    if (end === undefined) return false;
    at = end;
  }
  return true;
}
