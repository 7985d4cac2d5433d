// Loads the uWebSockets.js binary, once a process, with the header limit that it reads from the environment when it is
// loaded. Nothing else imports the package's code.

import type * as Uws from 'uWebSockets.js';
import type * as UwsLater from 'uWebSockets.js-node24';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { OrchError } from '../../runtime/errors.ts';
import { whyNotLoaded } from './load-failure.ts';

export type UwsModule = typeof Uws | typeof UwsLater;

/**
 * The package with binaries for this version of Node: 20.51 is the last with some for 20, 20.69 the first with some for 24, and those
 * want glibc 2.38. Both bring what this program uses.
 */
const PACKAGE = Number.parseInt(process.versions.node, 10) < 24 ? 'uWebSockets.js' : 'uWebSockets.js-node24';

const HEADER_LIMIT_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';

/** What the binary allows when nobody has set its limit. */
const HEADER_BYTES_UNSET = 4096;

/**
 * Sets the header limit of this process. The binary reads the C environment, which a worker thread's `process.env` is
 * only a copy of: call this on the main thread before it starts threads (elsewhere it does nothing). The first call holds.
 */
export function prepareUws(headerBytesMax: number): void {
  if (isMainThread) process.env[HEADER_LIMIT_VARIABLE] ??= String(headerBytesMax);
}

/** The limit that the binary goes by in this process: bytes of all headers and the request line of one request. */
export function uwsHeaderBytesMax(): number {
  return Number(process.env[HEADER_LIMIT_VARIABLE] ?? HEADER_BYTES_UNSET);
}

/** The module. Rejects with an OrchError BadConfiguration where its binary cannot be loaded, and says why. */
export async function loadUws(): Promise<UwsModule> {
  // Not by `import`: the loader that a thread would set up for it takes longer than all else that its listener needs.
  const require = createRequire(import.meta.url);
  const file = fileOf(require.resolve.paths(PACKAGE) ?? []);
  try {
    return require(file) as UwsModule;
  } catch (error) {
    throw new OrchError('BadConfiguration', `uWebSockets.js cannot be loaded here (${whyNotLoaded(error, file)})`);
  }
}

/** What a package exports is found by parts of that loader too: asked for by its place, a file needs none of them. */
function fileOf(folders: readonly string[]): string {
  return folders.map((folder) => join(folder, PACKAGE, 'uws.js')).find(existsSync) ?? PACKAGE;
}
