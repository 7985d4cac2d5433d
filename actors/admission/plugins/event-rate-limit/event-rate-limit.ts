// EventRateLimit: events are refused beyond a rate, of the whole server, a namespace, a user, or one source about one object. The
// first admission actor counts for all of them.
import { partAt, textAt } from '../../../../api/json/object-fields.ts';
import { failure } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { ActorContext } from '../../../../runtime/actor.ts';
import type { Clock } from '../../../../runtime/environment.ts';
import type { Attributes } from '../../attributes.ts';
import { type AdmissionPlugin, configurable } from '../plugin.ts';
import { type EventLimit, type LimitType, readEventLimits } from './configuration.ts';

/** What is counted together. */
const KEYS: Readonly<Record<LimitType, (attributes: Attributes) => string>> = {
  Server: () => '',
  Namespace: ({ asked }) => asked.namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const source = partAt(object, 'source');
    const about = partAt(object, 'involvedObject');
    return [
      textAt(source, 'component'),
      textAt(source, 'host'),
      ...['kind', 'namespace', 'name', 'uid', 'apiVersion'].map((member) => textAt(about, member)),
    ].join('');
  },
};

interface Bucket {
  tokens: number;
  filledMs: number;
}

class Limiter {
  readonly #limit: EventLimit;
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: EventLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Takes one event; false when there have been too many. */
  take(key: string): boolean {
    const bucket = this.#bucket(key);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #bucket(key: string): Bucket {
    const { burst, perSecond, remembered } = this.#limit;
    const nowMs = this.#clock.monotonicMs();
    const known = this.#buckets.get(key);
    const bucket = known ?? { tokens: burst, filledMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledMs) / 1000) * perSecond);
    bucket.filledMs = nowMs;
    if (known !== undefined) this.#buckets.delete(key);
    else if (this.#buckets.size >= remembered) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

class EventRateLimit implements AdmissionPlugin {
  readonly #limits: readonly EventLimit[];
  readonly #limiters: readonly Limiter[];
  readonly #context: ActorContext;

  constructor(context: ActorContext, limits: readonly EventLimit[]) {
    this.#context = context;
    this.#limits = limits;
    this.#limiters = limits.map((limit) => new Limiter(limit, context.clock));
  }

  readonly validate = (attributes: Attributes): Promise<void> | undefined => {
    // An event is counted once, however often it is tried.
    if (attributes.asked.dryRun || attributes.tries > 0) return undefined;
    const keys = this.#limits.map(({ type }) => KEYS[type](attributes));
    if (this.#context.index > 0) return this.#askFirst(attributes, keys);
    this.#refuse(keys, this.answer(keys));
    return undefined;
  };

  /** Each limit counts the event under its key, whatever the others say. */
  readonly answer = (keys: unknown): readonly boolean[] =>
    this.#limiters.map((limiter, index) => limiter.take((keys as readonly string[])[index]!));

  async #askFirst({ asked }: Attributes, keys: readonly string[]): Promise<void> {
    const { requestNumber, requestTimeoutMs: deadlineMs } = asked.reader;
    const first = this.#context.refs('admission')[0]!;
    const question = { type: 'askPlugin', plugin: 'EventRateLimit', question: keys } as const;
    const { answer } = await first.ask(question, { deadlineMs, requestNumber });
    this.#refuse(keys, answer as readonly boolean[]);
  }

  /** Throws 429 where an event was not taken. */
  #refuse(keys: readonly string[], taken: readonly boolean[]): void {
    if (!taken.includes(false)) return;
    const reached = keys.flatMap((key, index) =>
      taken[index] ? [] : [`limit reached on type ${this.#limits[index]!.type} for key ${key}`],
    );
    const problems = [...new Set(reached)];
    const detail = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
    throw new StatusError(failure(429, 'TooManyRequests', `Too many requests: ${detail}`));
  }
}

export const eventRateLimit = configurable<readonly EventLimit[]>({
  name: 'EventRateLimit',
  wants: [{ operations: ['create', 'update'], resources: ['core/events'] }],
  readConfiguration: readEventLimits,
  create: ({ reader }, limits = []) => new EventRateLimit(reader.context, limits),
});
