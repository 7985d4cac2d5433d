// EventRateLimit: events are refused beyond a rate, of the whole server, a namespace, a user, or one source about one object. Each
// admission actor counts for itself.
import { partAt, textAt } from '../../../../api/object-fields.ts';
import { failure } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Clock } from '../../../../runtime/environment.ts';
import type { Attributes } from '../../attributes.ts';
import { configurable } from '../plugin.ts';
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

  /** Takes one event; what is wrong when there have been too many. */
  take(attributes: Attributes): string {
    const { type } = this.#limit;
    const key = KEYS[type](attributes);
    const bucket = this.#bucket(key);
    if (bucket.tokens < 1) return `limit reached on type ${type} for key ${key}`;
    bucket.tokens -= 1;
    return '';
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

export const eventRateLimit = configurable<readonly EventLimit[]>({
  name: 'EventRateLimit',
  wants: [{ operations: ['create', 'update'], resources: ['core/events'] }],
  readConfiguration: readEventLimits,
  create: ({ reader }, limits = []) => {
    const limiters = limits.map((limit) => new Limiter(limit, reader.context.clock));
    return {
      validate: (attributes) => {
        if (attributes.asked.dryRun) return;
        // Each of them counts the event, whatever the others say.
        const problems = [...new Set(limiters.map((limiter) => limiter.take(attributes)))].filter(
          (text) => text !== '',
        );
        if (problems.length === 0) return;
        const detail = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
        throw new StatusError(failure(429, 'TooManyRequests', `Too many requests: ${detail}`));
      },
    };
  },
});
