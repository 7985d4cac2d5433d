// How authentication fares, under the metric names of Kubernetes 1.21. Labels come from tables here: no name or token that a
// client sends makes a series.
import type { Clock } from '../../runtime/environment.ts';
import type { HistogramSeries, Metrics, Series } from '../../runtime/metrics/metrics.ts';

/** `error`: credentials that are no good; `failure`: none that any method knows. */
export type AuthenticationResult = 'success' | 'error' | 'failure';

/** A token's owner is known from before (`hit`), or had to be found out. */
type CacheStatus = 'hit' | 'miss';

/** Twice as long each, from a millisecond on. */
const ATTEMPT_SECONDS = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);
const LOOK_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Until a certificate ends: half an hour, hours, days, months. */
const EXPIRY_SECONDS = [
  ...[0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600],
  ...[604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000],
];

const MAIL_USER = 'email_id';
const OTHER_USER = 'other';

interface Measured {
  readonly count: Series;
  readonly seconds: HistogramSeries;
}

export class AuthenticationMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #attempts: Readonly<Record<AuthenticationResult, Measured>>;
  readonly #looks: Readonly<Record<CacheStatus, Measured>>;
  /** Those that every cluster has. */
  readonly #namedUsers: ReadonlySet<string>;
  readonly #users = new Map<string, Series>();
  readonly #inFlight: Series;
  readonly #expiry: HistogramSeries;
  readonly #filter: HistogramSeries | undefined;
  #endedMs = 0;

  /** @param filter is told, too, how long each attempt took. */
  constructor(metrics: Metrics, clock: Pick<Clock, 'monotonicMs'>, systemNamespace: string, filter?: HistogramSeries) {
    this.#filter = filter;
    this.#namedUsers = new Set(['admin', 'client', `system:serviceaccount:${systemNamespace}:default`]);
    this.#metrics = metrics;
    this.#clock = clock;
    const attempt = (result: AuthenticationResult): Measured => ({
      count: metrics.counter('authentication_attempts', 'Attempts to find out who asks, by what came of them.', {
        result,
      }),
      seconds: metrics.histogram(
        'authentication_duration_seconds',
        'How long it took to find out who asks, by what came of it.',
        ATTEMPT_SECONDS,
        { result },
      ),
    });
    this.#attempts = { success: attempt('success'), error: attempt('error'), failure: attempt('failure') };
    const look = (status: CacheStatus): Measured => ({
      count: metrics.counter('authentication_token_cache_request_total', 'Tokens looked up, by whether known.', {
        status,
      }),
      seconds: metrics.histogram(
        'authentication_token_cache_request_duration_seconds',
        'How long tokens were looked up, by whether they were known.',
        LOOK_SECONDS,
        { status },
      ),
    });
    this.#looks = { hit: look('hit'), miss: look('miss') };
    this.#expiry = metrics.histogram(
      'apiserver_client_certificate_expiration_seconds',
      'How long the certificates that requests come with are still valid.',
      EXPIRY_SECONDS,
    );
    this.#inFlight = metrics.gauge(
      'authentication_token_cache_active_fetch_count',
      'Tokens whose owners are being found out.',
      { status: 'in_flight' },
    );
  }

  /** The time that the others are told of. */
  now(): number {
    return this.#clock.monotonicMs();
  }

  /** When something ended that was told of last: now, for whoever comes next in the same turn. */
  get endedMs(): number {
    return this.#endedMs;
  }

  /** An attempt has ended. `user` is the name, where one is known. */
  attempted(result: AuthenticationResult, user: string, beganMs: number, endedMs = this.now()): void {
    const { count, seconds } = this.#attempts[result];
    const tookSeconds = (endedMs - beganMs) / 1000;
    this.#endedMs = endedMs;
    count.add(1);
    seconds.observe(tookSeconds);
    this.#filter?.observe(tookSeconds);
    if (result === 'success') this.#user(user).add(1);
  }

  /** A request has come with a client certificate. `leftMs`: below 0 for one that has ended. */
  readonly certificateSeen = (leftMs: number): void => {
    this.#expiry.observe(leftMs / 1000);
  };

  /** A token's owner was known at once. */
  known(beganMs: number): void {
    this.#looked('hit', beganMs);
  }

  /** Measures how long a token's owner takes to be found out. Settles as `owner` does. */
  async found<T extends { readonly user: unknown }>(owner: Promise<T>, beganMs: number): Promise<T> {
    this.#inFlight.add(1);
    let isGood = false;
    try {
      const found = await owner;
      isGood = found.user !== null;
      return found;
    } finally {
      this.#inFlight.add(-1);
      this.#looked('miss', beganMs);
      this.#metrics
        .counter('authentication_token_cache_fetch_total', 'Tokens whose owners were found out.', {
          status: isGood ? 'ok' : 'error',
        })
        .add(1);
    }
  }

  #looked(status: CacheStatus, beganMs: number): void {
    const { count, seconds } = this.#looks[status];
    const endedMs = this.now();
    this.#endedMs = endedMs;
    count.add(1);
    seconds.observe((endedMs - beganMs) / 1000);
  }

  #user(name: string): Series {
    const username = this.#namedUsers.has(name) ? name : name.includes('@') ? MAIL_USER : OTHER_USER;
    let series = this.#users.get(username);
    if (series === undefined) {
      series = this.#metrics.counter('authenticated_user_requests', 'Requests of known users, by name.', { username });
      this.#users.set(username, series);
    }
    return series;
  }
}
