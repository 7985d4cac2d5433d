// Where placement files are found: the shipped profiles by name, any other file by its path.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OrchError } from './errors.ts';
import { readWholeText, whyUnread } from './files/whole-file.ts';

/** The package's own config folder, seen from the compiled file in dist/runtime. */
const CONFIG_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));

const PROFILE = /^placement\.([a-z0-9-]+)\.json$/;

/** Names of the shipped profiles. */
export function placementProfiles(): readonly string[] {
  return readdirSync(CONFIG_FOLDER)
    .flatMap((file) => PROFILE.exec(file)?.[1] ?? [])
    .sort();
}

/**
 * The text of a shipped profile (`default`) or of a file, and the name to call it by in messages. Throws an OrchError
 * `BadConfiguration` when there is no such profile or file, or it cannot be read.
 */
export function readPlacement(nameOrPath: string): { readonly text: string; readonly fileName: string } {
  const profiles = placementProfiles();
  const isProfile = profiles.includes(nameOrPath);
  const path = isProfile ? join(CONFIG_FOLDER, `placement.${nameOrPath}.json`) : resolve(nameOrPath);
  try {
    return { text: readWholeText(path), fileName: isProfile ? `placement.${nameOrPath}.json` : nameOrPath };
  } catch (error) {
    const shipped = profiles.join(', ');
    throw new OrchError(
      'BadConfiguration',
      `the placement ${JSON.stringify(nameOrPath)} cannot be read (${whyUnread(error)}); give a file, or one of ${shipped}`,
    );
  }
}
