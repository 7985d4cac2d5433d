// What an API server and a scheduler answer alike below /debug/pprof/: which profiles take time, how much of it may be asked for,
// and in which form they are sent.
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import { encodePprof, type ProfileFacts, type ProfileValue } from '../../../../rendering/pprof.ts';
import type { ProfileKind, ThreadProfile } from '../../../../runtime/profiles/thread-profile.ts';
import { ALLOCS_SAMPLE_BYTES, CPU_SAMPLE_US, HEAP_SAMPLE_BYTES } from '../../../../runtime/profiles/v8-profiler.ts';

/** What every path of a profile begins with. */
export const PROFILES_PATH = '/debug/pprof/';
/** As people type it; whoever asks is sent on, since the links of the page are relative. */
export const UNSLASHED_PROFILES_PATH = '/debug/pprof';
export const PROFILE_TYPE = 'application/octet-stream';
/** Every location has its function already. */
export const SYMBOLS = 'num_symbols: 1\n';
/** The longest that a profile may take. */
export const SECONDS_MAX = 300;

const compressed = promisify(gzip);
const CPU_PERIOD_NS = 1000 * CPU_SAMPLE_US;
const BYTES: ProfileValue = ['space', 'bytes'];

/** What the numbers of a profile are. */
export type ProfileNumbers = Pick<ProfileFacts, 'count' | 'amount' | 'periodType' | 'period'>;

export interface Sampled {
  readonly kind: ProfileKind;
  readonly seconds: number;
  readonly says: string;
  readonly facts: ProfileNumbers;
}

/** Profiles that take time, with the seconds where none are asked for: of the heap none, for it is followed all the time. */
export const SAMPLED: Readonly<Record<string, Sampled>> = {
  profile: {
    kind: 'cpu',
    seconds: 30,
    says: 'work of the threads, for the seconds asked for (30)',
    facts: {
      count: ['samples', 'count'],
      amount: ['cpu', 'nanoseconds'],
      periodType: ['cpu', 'nanoseconds'],
      period: CPU_PERIOD_NS,
    },
  },
  heap: {
    kind: 'heap',
    seconds: 0,
    says: 'what is held now, by who allocated it; with ?seconds=N what was allocated in that time and is still held',
    facts: {
      count: ['inuse_objects', 'count'],
      amount: ['inuse_space', 'bytes'],
      periodType: BYTES,
      period: HEAP_SAMPLE_BYTES,
    },
  },
  allocs: {
    kind: 'allocs',
    seconds: 2,
    says: 'everything allocated in the seconds asked for (2)',
    facts: {
      count: ['alloc_objects', 'count'],
      amount: ['alloc_space', 'bytes'],
      periodType: BYTES,
      period: ALLOCS_SAMPLE_BYTES,
    },
  },
};

/** The seconds that a parameter asks for, `otherwise` where it is absent or blank; undefined: they are none that can be. */
export function secondsIn(text: string | undefined | null, otherwise: number): number | undefined {
  if (text === undefined || text === null || text === '') return otherwise;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= SECONDS_MAX ? seconds : undefined;
}

/** The profiles of threads as pprof reads them. */
export async function pprofBody(threads: readonly ThreadProfile[], facts: ProfileFacts): Promise<Uint8Array> {
  return await compressed(encodePprof(threads, facts));
}

/** The header that makes a file of an answer. */
export function attachment(name: string): readonly [name: string, value: string] {
  return ['Content-Disposition', `attachment; filename="${name}"`];
}

/** The command that the process was started with. A thread has it behind its own entry (runtime/threads/worker-thread.ts). */
export function commandLine(): string {
  const [program, entry, ...rest] = process.argv;
  return (isMainThread ? [program, entry, ...rest] : [program, ...rest]).join('\0');
}
