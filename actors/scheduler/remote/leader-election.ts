// One of several schedulers leads, and says so again and again; the others wait until it has not for as long as a lease holds.
// Each goes by its own clock: a record counts as renewed when it was seen to change. Never two lead as long as clocks run at
// about the same speed, since a leader gives up well before others may take over.
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { Clock, Random, Timers } from '../../../runtime/environment.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { LeaderElectionConfiguration } from '../configuration/configuration.ts';
import type { LeaderRecord, ReadLock } from './leader-locks.ts';

/** Tries come this much later at most than the retry period says, so that those who wait do not come together. */
const RETRY_JITTER = 1.2;

export interface LeaderElectionParts {
  readonly environment: { readonly clock: Clock; readonly timers: Timers; readonly random: Pick<Random, 'next'> };
  readonly configuration: LeaderElectionConfiguration;
  readonly read: ReadLock;
  /** Of this process alone. */
  readonly identity: string;
  /** Another leader was seen. */
  readonly onLeader: (identity: string) => void;
  readonly onTrouble: (problem: string) => void;
}

export class LeaderElection {
  readonly #parts: LeaderElectionParts;
  #seen: LeaderRecord | undefined;
  #seenMs = 0;
  #renewedMs = 0;
  #isLeading = false;
  #isStopped = false;
  /** The last try; true where this one leads by it. */
  #try: Promise<boolean> = Promise.resolve(false);

  constructor(parts: LeaderElectionParts) {
    this.#parts = parts;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** How long ago the leader that this is has last said so; 0 where it is none. */
  get sinceRenewalMs(): number {
    return this.#isLeading ? this.#parts.environment.clock.monotonicMs() - this.#renewedMs : 0;
  }

  /** Resolves when this one leads (true), or after `stop`. */
  async acquire(): Promise<boolean> {
    const { retryPeriodMs } = this.#parts.configuration;
    while (!this.#isStopped) {
      const leads = await this.#tried();
      if (this.#isStopped) return false;
      if (leads) {
        this.#isLeading = true;
        return true;
      }
      await this.#rest(retryPeriodMs * (1 + RETRY_JITTER * this.#parts.environment.random.next()));
    }
    return false;
  }

  /** Goes on saying so. Resolves when that has not succeeded in time: whoever led must end at once, and leads no more; or after `stop`. */
  async keep(): Promise<void> {
    const { environment, configuration } = this.#parts;
    const { renewDeadlineMs, retryPeriodMs } = configuration;
    while (!this.#isStopped) {
      await this.#rest(retryPeriodMs);
      if (this.#isStopped) return;
      const leftMs = this.#renewedMs + renewDeadlineMs - environment.clock.monotonicMs();
      await Promise.race([this.#tried(), this.#rest(Math.max(0, leftMs))]);
      if (environment.clock.monotonicMs() - this.#renewedMs < renewDeadlineMs) continue;
      this.#isLeading = false;
      this.#isStopped = true;
      this.#try = Promise.resolve(false);
      return;
    }
  }

  /** Ends both, and where this one leads, or has come to it by a try that was under way, lets the others know that nobody does. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const { retryPeriodMs } = this.#parts.configuration;
    const leads = await Promise.race([this.#try, this.#rest(retryPeriodMs)]);
    if (leads !== true && !this.#isLeading) return;
    this.#isLeading = false;
    try {
      const { record, put } = await this.#parts.read();
      if (record?.holderIdentity !== this.#parts.identity) return;
      await put({ ...record, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#now() });
    } catch (error) {
      this.#parts.onTrouble(messageOf(error));
    }
  }

  #tried(): Promise<boolean> {
    this.#try = this.#tryOnce();
    return this.#try;
  }

  /** True when this one leads from now on, or still. */
  async #tryOnce(): Promise<boolean> {
    const { environment, configuration, identity, read, onTrouble } = this.#parts;
    const beganMs = environment.clock.monotonicMs();
    try {
      const { record, put } = await read();
      this.#observe(record);
      const isOurs = record?.holderIdentity === identity;
      const heldUntilMs = this.#seenMs + configuration.leaseDurationMs;
      const isHeld =
        record !== undefined && record.holderIdentity !== '' && environment.clock.monotonicMs() < heldUntilMs;
      if (isHeld && !isOurs) return false;
      const renewTime = this.#now();
      const next: LeaderRecord = {
        holderIdentity: identity,
        leaseDurationSeconds: Math.max(1, Math.floor(configuration.leaseDurationMs / 1000)),
        acquireTime: isOurs ? record.acquireTime : renewTime,
        renewTime,
        leaderTransitions: record === undefined ? 0 : record.leaderTransitions + (isOurs ? 0 : 1),
      };
      if (this.#isStopped || !(await put(next))) return false;
      this.#observe(next);
      // As of when it was begun: the others count from when it was written at the earliest.
      this.#renewedMs = beganMs;
      return true;
    } catch (error) {
      onTrouble(messageOf(error));
      return false;
    }
  }

  #observe(record: LeaderRecord | undefined): void {
    if (JSON.stringify(record) === JSON.stringify(this.#seen)) return;
    const before = this.#seen?.holderIdentity;
    this.#seen = record;
    this.#seenMs = this.#parts.environment.clock.monotonicMs();
    if (record !== undefined && record.holderIdentity !== before) this.#parts.onLeader(record.holderIdentity);
  }

  #now(): string {
    return microTimeOf(this.#parts.environment.clock.nowMs());
  }

  #rest(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.environment.timers.after(delayMs, resolve));
  }
}
