// Keeps LevelDB's binary in the process for as long as that lives. The thread that LevelDB starts to compact never ends, and waits in the
// binary's code. Node unloads a binary with the thread that loaded it: each store that opens again after its thread has ended would leave
// one such thread behind, with the memory that it allocates from, and one that is just then at work would fall with the process.
import { createRequire } from 'node:module';
import { constants } from 'node:os';

/** RTLD_NODELETE of dlopen(3), by platform: Node has no name for it. Elsewhere nothing is unloaded, or nothing is known. */
const STAYS: Readonly<Partial<Record<NodeJS.Platform, number>>> = { linux: 0x1000, android: 0x1000, darwin: 0x80 };
const BINARY = /[\\/]classic-level[\\/].*\.node$/;

/** To be called by the thread that opens a database, once the library is loaded there. */
export function keepBinary(): void {
  const stays = STAYS[process.platform];
  if (stays === undefined) return;
  for (const file of Object.keys(createRequire(import.meta.url).cache))
    if (BINARY.test(file)) process.dlopen({ exports: {} }, file, constants.dlopen.RTLD_NOW | stays);
}
