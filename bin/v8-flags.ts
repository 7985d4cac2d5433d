// How V8 is to run in this process. Set by the command, before there is any other thread; who embeds a part of the server
// decides for their own process.
import { setFlagsFromString } from 'node:v8';

const FLAGS = [
  // What survives a collection of young objects is little, the requests under way. Several threads that copy it together wake
  // each other and wait for each other: a write takes a tenth more CPU then.
  '--no-parallel-scavenge',
];

/** Sets them. Once, at the start of the process. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
