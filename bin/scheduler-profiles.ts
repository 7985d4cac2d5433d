// Profiles of a scheduler's thread below /debug/pprof/, as the API server has them of its threads (actors/ingress/paths/profiles).
// What is measured, and for how long, is the same; there is one thread, and nothing in it waits for another.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PROFILES_PATH, SAMPLED } from '../actors/ingress/paths/profiles/profiles.ts';
import { encodePprof } from '../rendering/pprof.ts';
import { isOrchError } from '../runtime/errors.ts';
import { V8Profiler } from '../runtime/profiles/v8-profiler.ts';
import { realEnvironment } from '../runtime/real-environment.ts';
import type { HeaderList } from '../transport/http.ts';

const SECONDS_MAX = 300;
const TEXT = 'text/plain; charset=utf-8';
const compressed = promisify(gzip);

/** What a path is answered. */
export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: HeaderList;
}

export type MakePage = (query: URLSearchParams) => Page | Promise<Page>;

/** By path. */
export function profilePages(): Readonly<Record<string, MakePage>> {
  const profiler = new V8Profiler('scheduler', realEnvironment.timers);
  const sampled = Object.entries(SAMPLED).map(([name, { kind, seconds: standard, facts }]) => {
    const page: MakePage = async (query) => {
      const seconds = secondsOf(query, standard);
      if (seconds === undefined) return text(400, `seconds: must be between 1 and ${SECONDS_MAX}, inclusive\n`);
      const [startedWallMs, durationMs] = [realEnvironment.clock.nowMs(), 1000 * seconds];
      try {
        const profile = await profiler.take(kind, durationMs);
        const body = await compressed(encodePprof([profile], { ...facts, startedWallMs, durationMs }));
        const headers = [['Content-Disposition', `attachment; filename="${name}"`]] as const;
        return { status: 200, type: 'application/octet-stream', body, headers };
      } catch (error) {
        if (!isOrchError(error) || error.code !== 'Refused') throw error;
        return text(409, `${error.message}\n`);
      }
    };
    return [`${PROFILES_PATH}${name}`, page] as const;
  });
  const names = [...Object.keys(SAMPLED), 'cmdline'];
  return {
    ...Object.fromEntries(sampled),
    [PROFILES_PATH]: () => text(200, `${names.map((name) => `${PROFILES_PATH}${name}`).join('\n')}\n`),
    [`${PROFILES_PATH}cmdline`]: () => text(200, process.argv.join('\0')),
    // Every location has its function already.
    [`${PROFILES_PATH}symbol`]: () => text(200, 'num_symbols: 1\n'),
  };
}

function text(status: number, body: string): Page {
  return { status, type: TEXT, body };
}

function secondsOf(query: URLSearchParams, standard: number): number | undefined {
  const given = query.get('seconds') ?? '';
  if (given === '') return standard;
  const seconds = /^\d{1,3}$/.test(given) ? Number(given) : 0;
  return seconds >= 1 && seconds <= SECONDS_MAX ? seconds : undefined;
}
