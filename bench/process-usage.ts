// CPU time and memory of a process, all its threads together, and CPU time of the whole machine, from /proc. Elsewhere
// than on Linux there are no figures.
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** User and system time since the process began. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** The unit of the times in /proc: 100 on every Linux, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;
/** More than this less than the ticks say, and a thread has ended, of which only they tell. */
const ENDED_THREADS_SECONDS = 0.05;

/** Undefined when there is no /proc or no such process. */
export function processUsage(pid: number): ProcessUsage | undefined {
  try {
    const [stat, status] = [readFileSync(`/proc/${pid}/stat`, 'latin1'), readFileSync(`/proc/${pid}/status`, 'latin1')];
    return parseUsage(stat, status, schedstats(pid));
  } catch {
    return undefined;
  }
}

/** What the kernel counts of each thread there is; none where it does not. */
function schedstats(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'),
    );
  } catch {
    return [];
  }
}

/** CPU time that the machine's cores have not been idle, or were given to another machine; undefined without /proc. */
export function machineBusySeconds(): number | undefined {
  try {
    return parseMachineBusy(readFileSync('/proc/stat', 'latin1'));
  } catch {
    return undefined;
  }
}

/** Reads the contents of /proc/stat (proc(5)). */
export function parseMachineBusy(stat: string): number {
  // The times of all cores together; idle and iowait are the 4th and 5th, guest time is part of user time.
  const [user, nice, system, , , irq, softirq, steal] = stat.slice(0, stat.indexOf('\n')).trim().split(/\s+/).slice(1);
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum, value) => sum + Number(value ?? 0), 0);
  return ticks / TICKS_PER_SECOND;
}

/**
 * Reads the contents of /proc/PID/stat, /proc/PID/status and /proc/PID/task/TID/schedstat (proc(5)). The threads' nanoseconds are
 * finer than ticks, and count unless a thread has ended, of which only the ticks tell.
 */
export function parseUsage(stat: string, status: string, schedstats: readonly string[] = []): ProcessUsage {
  // The command's name stands in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const inTicks = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  const ofThreads = schedstats.reduce((sum, text) => sum + Number(text.slice(0, text.indexOf(' '))), 0) / 1e9;
  const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  return { cpuSeconds: inTicks - ofThreads < ENDED_THREADS_SECONDS ? ofThreads : inTicks, rssBytes: rssKib * 1024 };
}
