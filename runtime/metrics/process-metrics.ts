// What the operating system tells of the process, under the names that Prometheus' client libraries share. Once for all
// threads: whoever serves the metrics adds it. Without /proc only what Node knows itself.
import { readdir, readFile } from 'node:fs/promises';
import { LIMITS_FILE, limitOf } from '../process-limits.ts';
import type { FamilyReading, MetricsReading } from './metrics.ts';

const KIBIBYTE = 1024;
const MICROS_IN_SECOND = 1e6;
const MS_IN_SECOND = 1000;
const STARTED_SECONDS = Date.now() / MS_IN_SECOND - process.uptime();

/** The `process_*` families as they are now. */
export async function processMetrics(): Promise<MetricsReading> {
  const [status, limits, openFds] = await Promise.all([
    readFile('/proc/self/status', 'utf8').catch(() => ''),
    readFile(LIMITS_FILE, 'utf8').catch(() => ''),
    readdir('/proc/self/fd').then(
      ({ length }) => length,
      () => undefined,
    ),
  ]);
  const { user, system } = process.cpuUsage();
  return [
    family('process_cpu_seconds_total', 'CPU time of the process.', (user + system) / MICROS_IN_SECOND, 'counter'),
    family('process_open_fds', 'Open file descriptors.', openFds),
    family('process_max_fds', 'The most file descriptors there may be.', limitOf(limits, 'Max open files')),
    family('process_resident_memory_bytes', 'Memory in use.', process.memoryUsage.rss()),
    family('process_virtual_memory_bytes', 'Addresses in use.', kibibytesOf(status, 'VmSize')),
    family('process_virtual_memory_max_bytes', 'The most there may be.', limitOf(limits, 'Max address space')),
    family('process_start_time_seconds', 'When it started, since 1970.', STARTED_SECONDS),
  ].filter((one) => one !== undefined);
}

function family(
  name: string,
  help: string,
  value: number | undefined,
  kind: 'gauge' | 'counter' = 'gauge',
): FamilyReading | undefined {
  return value === undefined ? undefined : { name, help, kind, series: [{ labels: {}, value }] };
}

function kibibytesOf(status: string, name: string): number | undefined {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return found === undefined ? undefined : Number(found) * KIBIBYTE;
}
