// The same messages by protobufjs, to set our codec beside: from the schema files of a checkout, which `npm run schema` reads
// too. Its objects hold messages as the wire has them, not the API's JSON, so what it takes is less than the whole way.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A type of the schema. */
export interface LibraryType {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
}

/** Seen from dist/bench. */
const SCHEMA_FOLDER = fileURLToPath(new URL('../../api/schema/', import.meta.url));

/**
 * The type of a name such as `core.v1.Pod`; undefined where the library or the schema files are not installed: both are
 * for building and testing alone.
 */
export async function libraryType(name: string): Promise<LibraryType | undefined> {
  const library = await import('protobufjs').catch(() => undefined);
  if (library === undefined || !existsSync(SCHEMA_FOLDER)) return undefined;
  const { parse, Root } = library.default;
  const root = new Root();
  const files = readdirSync(SCHEMA_FOLDER).filter((file) => file.endsWith('.proto') && file !== 'options.proto');
  for (const file of files) parse(readFileSync(join(SCHEMA_FOLDER, file), 'utf8'), root, { keepCase: true });
  return root.lookupType(name);
}
