// What is recorded of requests with tokens that should not be used any more: their holders are to be found by it.
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';

/** Annotations of audit events, as Kubernetes 1.21 has them. */
export class TokenNotes {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #legacyKey: string;
  readonly #staleKey: string;

  constructor(clock: Pick<Clock, 'nowMs'>, dialect: Dialect) {
    this.#clock = clock;
    this.#legacyKey = dialect.spell('authentication.@group/legacy-token');
    this.#staleKey = dialect.spell('authentication.@group/stale-token');
  }

  /** `renewalSeconds`: as `User` has it. Undefined where there is nothing to say. */
  of(subject: string, renewalSeconds: number): Readonly<Record<string, string>> | undefined {
    if (renewalSeconds === 0) return { [this.#legacyKey]: subject };
    const nowMs = this.#clock.nowMs();
    if (nowMs <= renewalSeconds * 1000) return undefined;
    const lateSeconds = Math.floor(nowMs / 1000) - Math.floor(renewalSeconds);
    return { [this.#staleKey]: `subject: ${subject}, seconds after warning threshold: ${lateSeconds}` };
  }
}
