// The journal that write-journal.c keeps of a process's files, read back: what was done, in order, without what failed.

/** Kinds and layouts are those of write-journal.c. */
const BIND = 1;
const CREATE = 2;
const WRITE = 3;
const TRUNCATE = 4;
const SYNC = 5;
const RENAME = 6;
const UNLINK = 7;
const MAKE_DIRECTORY = 8;
const REMOVE_DIRECTORY = 9;
const SYNC_DIRECTORY = 10;
const CANCEL = 11;
const LINK = 12;

const HEAD_BYTES = 5;

/** One thing done. `number` counts all records of the journal; files are known by numbers of their own. */
export type Operation = { readonly number: number } /** An old file is opened for the first time. */ & (
  | { readonly kind: 'bind'; readonly file: number; readonly path: string }
  | { readonly kind: 'create'; readonly file: number; readonly path: string }
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  /** What was done to the file in records before this number is durable. */
  | { readonly kind: 'sync'; readonly file: number; readonly before: number }
  | { readonly kind: 'syncDirectory'; readonly path: string; readonly before: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  /** The same file under a second name. */
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'makeDirectory'; readonly path: string }
  | { readonly kind: 'removeDirectory'; readonly path: string }
);

/** A last record that was cut short by the end of the process is left out: what it announces was not done. */
export function readJournal(journal: Buffer): Operation[] {
  const operations: Operation[] = [];
  const cancelled = new Set<number>();
  let number = 0;
  for (let at = 0; at + HEAD_BYTES <= journal.length; number++) {
    const end = at + HEAD_BYTES + journal.readUInt32LE(at);
    if (end > journal.length) break;
    const kind = journal[at + 4]!;
    const body = journal.subarray(at + HEAD_BYTES, end);
    if (kind === CANCEL) cancelled.add(body.readUInt32LE());
    else operations.push({ number, ...operationOf(kind, body) });
    at = end;
  }
  return operations.filter((operation) => !cancelled.has(operation.number));
}

function operationOf(kind: number, body: Buffer): DistributiveOmit<Operation, 'number'> {
  switch (kind) {
    case BIND:
    case CREATE:
      return { kind: kind === BIND ? 'bind' : 'create', file: body.readUInt32LE(), path: body.toString('utf8', 4) };
    case WRITE:
      return { kind: 'write', file: body.readUInt32LE(), offset: longAt(body, 4), bytes: body.subarray(12) };
    case TRUNCATE:
      return { kind: 'truncate', file: body.readUInt32LE(), size: longAt(body, 4) };
    case SYNC:
      return { kind: 'sync', file: body.readUInt32LE(), before: body.readUInt32LE(4) };
    case SYNC_DIRECTORY:
      return { kind: 'syncDirectory', before: body.readUInt32LE(), path: body.toString('utf8', 4) };
    case RENAME:
    case LINK: {
      const [path = '', to = ''] = body.toString('utf8').split('\0');
      return { kind: kind === RENAME ? 'rename' : 'link', path, to };
    }
    case UNLINK:
      return { kind: 'unlink', path: body.toString('utf8') };
    case MAKE_DIRECTORY:
      return { kind: 'makeDirectory', path: body.toString('utf8') };
    case REMOVE_DIRECTORY:
      return { kind: 'removeDirectory', path: body.toString('utf8') };
    default:
      throw new Error(`the journal holds a record of kind ${kind}`);
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function longAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}
