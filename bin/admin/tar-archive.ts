// A tar archive (POSIX ustar) of small files that are held in memory. Knows no folders and no owners.

const BLOCK = 512;
const NAME_BYTES_MAX = 100;
const REGULAR_FILE = '0';

export interface ArchivedFile {
  /** At most 100 bytes, without a leading slash. */
  readonly name: string;
  readonly body: Buffer;
}

/** The archive, with every file readable by its owner only. `seconds`: when it was made, since the epoch. */
export function tarArchive(files: readonly ArchivedFile[], seconds: number): Buffer {
  const pieces = files.flatMap(({ name, body }) => [
    headerOf(name, body.length, seconds),
    body,
    Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name: string, bytes: number, seconds: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new RangeError(`${name} is too long a name`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  };
  header.write(name, 0);
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(bytes, 124, 11);
  octal(Math.floor(seconds), 136, 11);
  header.write(' '.repeat(8), 148, 'latin1');
  header.write(`${REGULAR_FILE}`, 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  // The sum counts its own field as blanks.
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header.write('\0 ', 154, 'latin1');
  return header;
}
