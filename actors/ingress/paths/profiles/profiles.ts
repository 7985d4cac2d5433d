// Profiles of the server's threads below /debug/pprof/, in the forms that pprof reads: what each profile is, how long it may
// be taken, and of which threads. The threads take them themselves.
import { isTrueParameter, type Query } from '../../../../api/requests/query.ts';
import { badRequest, failure } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { ProfileFacts } from '../../../../rendering/pprof.ts';
import type { AskOptions, Ref } from '../../../../runtime/actor.ts';
import type { Clock } from '../../../../runtime/environment.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import type { ThreadProfile } from '../../../../runtime/profiles/thread-profile.ts';
import type { ThreadState } from '../../../../runtime/profiles/thread-state.ts';
import type { ThreadProtocol } from '../../../../runtime/threads/thread-actor.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { headersFor, sendText } from '../../reads/answers.ts';
import { asksForText, memoryText } from './memory-text.ts';
import {
  attachment,
  commandLine,
  PROFILE_TYPE,
  PROFILES_PATH,
  type ProfileNumbers,
  pprofBody,
  SAMPLED,
  type Sampled,
  SECONDS_MAX,
  SYMBOLS,
  secondsIn,
  UNSLASHED_PROFILES_PATH,
} from './profile-answers.ts';
import { actorsOf, stateText, threadOf, waitsOf } from './state-profiles.ts';

/** For a thread to answer, beyond the time that the profile is taken. */
const ANSWER_MS = 30_000;

interface Counted {
  readonly of: (state: ThreadState) => ThreadProfile;
  readonly says: string;
  readonly facts: ProfileNumbers;
}

const waits: Counted = {
  of: waitsOf,
  says: 'how long messages waited in mailboxes (with --contention-profiling)',
  facts: {
    count: ['contentions', 'count'],
    amount: ['delay', 'nanoseconds'],
    periodType: ['contentions', 'count'],
    period: 1,
  },
};
/** Profiles of what is now. */
const COUNTED: Readonly<Record<string, Counted>> = {
  goroutine: {
    of: actorsOf,
    says: 'every actor and what it waits for',
    facts: { count: ['goroutine', 'count'], periodType: ['goroutine', 'count'], period: 1 },
  },
  threadcreate: {
    of: threadOf,
    says: 'every thread',
    facts: { count: ['threadcreate', 'count'], periodType: ['threadcreate', 'count'], period: 1 },
  },
  block: waits,
  mutex: waits,
};

export class Profiles {
  readonly #threads: readonly Ref<ThreadProtocol>[];
  readonly #clock: Clock;

  constructor(threads: readonly Ref<ThreadProtocol>[], clock: Clock) {
    this.#threads = threads;
    this.#clock = clock;
  }

  /** Answers a GET of UNSLASHED_PROFILES_PATH or below. Resolves false where there is no such profile. Throws StatusError 400, 409, 503. */
  async serve(exchange: Exchange, path: string): Promise<boolean> {
    const name = path.slice(PROFILES_PATH.length);
    if (path === UNSLASHED_PROFILES_PATH) exchange.answer(302, [['Location', PROFILES_PATH]], '');
    else if (name === '') sendIndex(exchange);
    else if (name === 'cmdline') sendText(exchange, 200, commandLine());
    else if (name === 'symbol') sendText(exchange, 200, SYMBOLS);
    else if (name === 'trace') await this.#trace(exchange);
    else if (name === 'heap' && isReadable(exchange.query)) await this.#memory(exchange);
    else if (Object.hasOwn(SAMPLED, name)) await this.#sampled(exchange, name, SAMPLED[name]!);
    else if (Object.hasOwn(COUNTED, name)) await this.#counted(exchange, name, COUNTED[name]!);
    else return false;
    return true;
  }

  async #sampled(exchange: Exchange, name: string, { kind, seconds, facts }: Sampled): Promise<void> {
    const durationMs = 1000 * secondsOf(exchange.query, seconds);
    const startedWallMs = this.#clock.nowMs();
    const message = { type: 'profile', kind, durationMs } as const;
    const collects = kind === 'heap' && isTrueParameter(exchange.query.get('gc'));
    const threads = await this.#alone(exchange, durationMs, (limits) =>
      this.#ask(exchange.query, async (thread) => {
        if (collects) await thread.ask({ type: 'collect' }, limits);
        return thread.ask(message, limits);
      }),
    );
    await sendPprof(exchange, name, threads, { ...facts, startedWallMs, durationMs });
  }

  async #counted(exchange: Exchange, name: string, { of, facts }: Counted): Promise<void> {
    const states = await this.#ask(exchange.query, (thread) =>
      thread.ask({ type: 'state' }, { deadlineMs: ANSWER_MS }),
    );
    if (isReadable(exchange.query)) return sendText(exchange, 200, stateText(states));
    const profiles = states.map((state) => of(state));
    await sendPprof(exchange, name, profiles, { ...facts, startedWallMs: this.#clock.nowMs(), durationMs: 0 });
  }

  async #memory(exchange: Exchange): Promise<void> {
    const threads = await this.#ask(exchange.query, (thread) =>
      thread.ask({ type: 'memory' }, { deadlineMs: ANSWER_MS }),
    );
    sendText(exchange, 200, memoryText(threads, process.memoryUsage.rss()));
  }

  async #trace(exchange: Exchange): Promise<void> {
    const durationMs = 1000 * secondsOf(exchange.query, 1);
    const traces = await this.#alone(exchange, durationMs, (limits) =>
      this.#ask(exchange.query, (thread) => thread.ask({ type: 'trace', durationMs }, limits)),
    );
    const events = traces.flatMap(({ thread, profile }, index) => {
      const track = { pid: 1, tid: index + 1, ts: 0 };
      return [
        JSON.stringify({ name: 'thread_name', ph: 'M', ...track, args: { name: thread } }),
        `{"name":"CpuProfile","cat":"disabled-by-default-devtools.timeline","ph":"I","pid":1,"tid":${index + 1},"ts":0,"args":{"data":{"cpuProfile":${profile}}}}`,
      ];
    });
    exchange.answer(200, [...headersFor('application/json'), attachment('trace.json')], `[${events.join(',\n')}]\n`);
  }

  /** Asks the threads that `?thread=` names, or all. Throws StatusError 400. */
  async #ask<T>(query: Query, ask: (thread: Ref<ThreadProtocol>) => Promise<T>): Promise<readonly T[]> {
    const asked = query.get('thread');
    const nameOf = ({ name }: Ref<ThreadProtocol>): string => name.slice(name.indexOf(':') + 1);
    const threads = this.#threads.filter((thread) => asked === undefined || nameOf(thread) === asked);
    if (threads.length === 0) {
      const known = this.#threads.map((thread) => `"${nameOf(thread)}"`).join(', ');
      throw new StatusError(
        badRequest(`thread: Unsupported value: ${JSON.stringify(asked)}: supported values: ${known}`),
      );
    }
    return await Promise.all(threads.map(ask));
  }

  /**
   * Takes a profile while nobody else does: several ingresses may be asked for one. It ends when its client leaves, so that another can
   * have one. Throws StatusError 409.
   */
  async #alone<T>({ response }: Exchange, durationMs: number, take: (limits: AskOptions) => Promise<T>): Promise<T> {
    const limits = { deadlineMs: durationMs + ANSWER_MS };
    const first = this.#threads[0]!;
    try {
      await first.ask({ type: 'claim', forMs: limits.deadlineMs }, { deadlineMs: ANSWER_MS });
      let isOver = false;
      try {
        const taken = take(limits);
        // Comes behind what the threads have been asked for, and finds no other's: this client has the claim.
        response.onAborted(() => {
          if (isOver) return;
          for (const thread of this.#threads) thread.tell<'endProfile'>({ type: 'endProfile' });
        });
        return await taken;
      } finally {
        isOver = true;
        first.tell<'release'>({ type: 'release' });
      }
    } catch (error) {
      if (!isOrchError(error) || error.code !== 'Refused') throw error;
      throw new StatusError(failure(409, 'Conflict', error.message));
    }
  }
}

async function sendPprof(
  exchange: Exchange,
  name: string,
  threads: readonly ThreadProfile[],
  facts: ProfileFacts,
): Promise<void> {
  exchange.answer(200, [...headersFor(PROFILE_TYPE), attachment(name)], await pprofBody(threads, facts));
}

function sendIndex(exchange: Exchange): void {
  const row = ([name, { says }]: readonly [string, { readonly says: string }]): string =>
    `<tr><td><a href="${name}">${name}</a></td><td>${says}</td></tr>\n`;
  const rows: readonly (readonly [string, { readonly says: string }])[] = [
    ...Object.entries(SAMPLED),
    ...Object.entries(COUNTED),
    ['heap?gc=1', { says: 'what is held after garbage is collected: all threads stand still meanwhile' }],
    ['heap?debug=1', { says: 'how much each thread holds now, by spaces, to be read' }],
    ['goroutine?debug=2', { says: 'the same, to be read' }],
    ['trace', { says: 'samples in their order, for timeline viewers, for the seconds asked for (1)' }],
    ['cmdline', { says: 'the command that the server was started with' }],
  ];
  const page = `<!doctype html><title>${PROFILES_PATH}</title>\n<h1>${PROFILES_PATH}</h1>\n<p>?seconds=N as long as that, ?thread=NAME of one thread</p>\n<table>\n${rows.map(row).join('')}</table>\n`;
  exchange.answer(200, headersFor('text/html; charset=utf-8'), page);
}

/** Throws StatusError 400. */
function secondsOf(query: Query, otherwise: number): number {
  const text = query.get('seconds');
  const seconds = secondsIn(text, otherwise);
  if (seconds !== undefined) return seconds;
  throw new StatusError(
    badRequest(`seconds: Invalid value: ${JSON.stringify(text)}: must be between 1 and ${SECONDS_MAX}, inclusive`),
  );
}

/** Whether text is asked for. Throws StatusError 400. */
function isReadable(query: Query): boolean {
  const text = query.get('debug');
  const asks = asksForText(text);
  if (asks !== undefined) return asks;
  throw new StatusError(
    badRequest(`debug: Unsupported value: ${JSON.stringify(text)}: supported values: "0", "1", "2"`),
  );
}
