// Whose a folder is: what a new one is given, and what a start under other options is refused for. Reads and writes only the metadata
// of the database; each value has a checksum of its own.
import { randomBytes } from 'node:crypto';
import { OrchError } from '../../runtime/errors.ts';
import { storeDamage } from '../engines/store-damage.ts';
import type { LevelDatabase } from './level-database.ts';
import {
  FORMAT,
  formatProblem,
  formatValue,
  META_FORMAT,
  META_TOKEN_KEY,
  type StoreIdentity,
  sealed,
  TOKEN_KEY_BYTES,
  unsealed,
} from './level-layout.ts';

export interface FolderOptions {
  readonly directory: string;
  /** `--store-prefix`, without a closing slash. */
  readonly prefix: string;
  /** A directory belongs to one dialect and is refused under the other. */
  readonly dialect: string;
}

/**
 * Checks whose folder this is, or writes it down in a new one. Returns the key of continue tokens. `isUsed`: something was committed in
 * it. Throws where it is another's or damaged.
 */
export async function identify(
  database: LevelDatabase,
  { directory, dialect, prefix }: FolderOptions,
  isUsed: boolean,
): Promise<Uint8Array> {
  const known = await metadataAt(database, META_FORMAT, directory);
  if (known === undefined) {
    const [any] = await database.keys({ limit: 1 }).all();
    if (any !== undefined || isUsed) throw storeDamage('what it belongs to is missing', directory);
    const tokenKey = randomBytes(TOKEN_KEY_BYTES);
    await database.batch(
      [
        { type: 'put', key: META_FORMAT, value: formatValue(dialect, prefix) },
        { type: 'put', key: META_TOKEN_KEY, value: sealed(tokenKey) },
      ],
      { sync: true },
    );
    return tokenKey;
  }
  const stored = JSON.parse(known.toString()) as StoreIdentity;
  const mismatch = mismatchOf(stored, dialect, prefix);
  if (mismatch !== undefined) throw new OrchError('StoreUnusable', `the data directory ${directory} ${mismatch}`);
  const tokenKey = await metadataAt(database, META_TOKEN_KEY, directory);
  if (tokenKey === undefined) throw storeDamage('its key for continue tokens is missing', directory);
  // Before anything is written that a release which reads only that format would take for damage.
  if (stored.format !== FORMAT) await database.put(META_FORMAT, formatValue(dialect, prefix), { sync: true });
  return tokenKey;
}

/** A value of the metadata without its checksum; undefined where there is none. Throws where the checksum is another. */
export async function metadataAt(database: LevelDatabase, key: string, directory: string): Promise<Buffer | undefined> {
  const bytes = await database.get(key);
  if (bytes === undefined) return undefined;
  const value = unsealed(bytes);
  if (value === undefined) throw storeDamage(`${key} does not match its checksum`, directory);
  return value;
}

function mismatchOf(stored: StoreIdentity, dialect: string, prefix: string): string | undefined {
  const problem = formatProblem(stored.format);
  if (problem !== undefined) return problem;
  if (stored.dialect !== dialect)
    return `was made with --api-dialect ${stored.dialect}, not ${dialect}: give that, or another --data-dir`;
  if (stored.prefix === prefix) return undefined;
  return `was made with --store-prefix ${stored.prefix || '/'}, not ${prefix || '/'}`;
}
