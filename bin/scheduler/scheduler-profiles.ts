// Profiles of a scheduler's thread below /debug/pprof/, as the API server has them of its threads (actors/ingress/paths/profiles).
// What is measured, and for how long, is the same; there is one thread, and nothing in it waits for another.
import { asksForText, memoryText } from '../../actors/ingress/paths/profiles/memory-text.ts';
import {
  attachment,
  commandLine,
  PROFILE_TYPE,
  PROFILES_PATH,
  pprofBody,
  SAMPLED,
  SECONDS_MAX,
  SYMBOLS,
  secondsIn,
  UNSLASHED_PROFILES_PATH,
} from '../../actors/ingress/paths/profiles/profile-answers.ts';
import { isTrueParameter } from '../../api/requests/query.ts';
import { isOrchError } from '../../runtime/errors.ts';
import { threadMemory } from '../../runtime/profiles/thread-memory.ts';
import { V8Profiler } from '../../runtime/profiles/v8-profiler.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { HeaderList, HttpResponse } from '../../transport/http.ts';

const THREAD = 'scheduler';
const TEXT = 'text/plain; charset=utf-8';

/** What a path is answered. */
export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: HeaderList;
}

export type MakePage = (query: URLSearchParams, asking: Asking) => Page | Promise<Page>;

/** The response of who asks: whether they are still there. */
type Asking = Pick<HttpResponse, 'aborted' | 'onAborted'>;

/** By path. To be made once for a thread: of the pages of one profiler one is made at a time. */
export function profilePages(): Readonly<Record<string, MakePage>> {
  const profiler = new V8Profiler(THREAD, realEnvironment.timers);
  void profiler.followHeap();
  const sampled = Object.entries(SAMPLED).map(([name, { kind, seconds: standard, facts }]) => {
    const page: MakePage = async (query, asking) => {
      if (kind === 'heap' && asksForText(query.get('debug')) === true)
        return text(200, memoryText([threadMemory(THREAD)], process.memoryUsage.rss()));
      const seconds = secondsIn(query.get('seconds'), standard);
      if (seconds === undefined) return text(400, `seconds: must be between 1 and ${SECONDS_MAX}, inclusive\n`);
      const [startedWallMs, durationMs] = [realEnvironment.clock.nowMs(), 1000 * seconds];
      try {
        if (kind === 'heap' && isTrueParameter(query.get('gc') ?? undefined)) await profiler.collect();
        const profile = await whileAsked(profiler, asking, profiler.take(kind, durationMs));
        const body = await pprofBody([profile], { ...facts, startedWallMs, durationMs });
        return { status: 200, type: PROFILE_TYPE, body, headers: [attachment(name)] };
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
    [UNSLASHED_PROFILES_PATH]: () => ({ ...text(302, ''), headers: [['Location', PROFILES_PATH]] }),
    [`${PROFILES_PATH}cmdline`]: () => text(200, commandLine()),
    [`${PROFILES_PATH}symbol`]: () => text(200, SYMBOLS),
  };
}

/** What is taken ends when its client leaves. Rejects as `taking`, which was just begun. */
async function whileAsked<T>(profiler: V8Profiler, asking: Asking, taking: Promise<T>): Promise<T> {
  let isOver = asking.aborted;
  asking.onAborted(() => {
    if (!isOver) profiler.end();
  });
  try {
    return await taking;
  } finally {
    isOver = true;
  }
}

function text(status: number, body: string): Page {
  return { status, type: TEXT, body };
}
