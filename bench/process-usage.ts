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
    const usage = parseUsage(
      readFileSync(`/proc/${pid}/stat`, 'latin1'),
      readFileSync(`/proc/${pid}/status`, 'latin1'),
    );
    return { ...usage, cpuSeconds: finerSeconds(usage.cpuSeconds, threadsSeconds(pid)) };
  } catch {
    return undefined;
  }
}

/** That of the threads there are, to the nanosecond; undefined where the kernel does not count it. */
function threadsSeconds(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      parseSchedstat(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1')),
    );
    return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
  } catch {
    return undefined;
  }
}

/** What was counted in ticks, as fine as the threads tell, unless there have been more threads than there are. */
export function finerSeconds(ticksSeconds: number, threadsSeconds: number | undefined): number {
  const isAll = threadsSeconds !== undefined && ticksSeconds - threadsSeconds < ENDED_THREADS_SECONDS;
  return isAll ? threadsSeconds : ticksSeconds;
}

/** Reads the contents of /proc/PID/task/TID/schedstat: nanoseconds on a core, those waited for one, turns. */
export function parseSchedstat(schedstat: string): number {
  return Number(schedstat.slice(0, schedstat.indexOf(' ')));
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

/** Reads the contents of /proc/PID/stat and /proc/PID/status (proc(5)). */
export function parseUsage(stat: string, status: string): ProcessUsage {
  // The command's name stands in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  return { cpuSeconds: ticks / TICKS_PER_SECOND, rssBytes: rssKib * 1024 };
}
