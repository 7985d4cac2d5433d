// How many connections clients may have open. Each takes a file descriptor, and so does all that the process cannot be without: the store
// opens files as it writes, and whoever has not even said who they are must not keep it from that.
import type { Disk } from '../../runtime/environment.ts';
import { LIMITS_FILE, limitOf } from '../../runtime/process-limits.ts';

/** What a process of several threads has open when nobody has asked it for anything. */
const OWN_DESCRIPTORS = 64;
/** Of the rest, for the store's files and connections out: this share, and no more than that. */
const KEPT_SHARE = 1 / 4;
const KEPT_MAX = 4096;

/** For each of `listeners` that share the process. Undefined: it is not known. */
export async function connectionRoom(disk: Pick<Disk, 'readFile'>, listeners: number): Promise<number | undefined> {
  const limits = await disk.readFile(LIMITS_FILE).catch(() => undefined);
  const descriptors = limits && limitOf(new TextDecoder().decode(limits), 'Max open files');
  if (descriptors === undefined) return undefined;
  const free = Math.max(0, descriptors - OWN_DESCRIPTORS);
  return Math.max(1, Math.floor((free - Math.min(KEPT_MAX, free * KEPT_SHARE)) / listeners));
}
