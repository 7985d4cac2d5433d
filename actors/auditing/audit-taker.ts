// Hands the audit events of one actor to the audit actor, whoever made the requests: asks the policy how far each is recorded, counts,
// and says which of them have to wait for it. There is one in each actor that records requests, and none where auditing is off.
import type { AuditDecision } from '../../api/audit/policy.ts';
import { auditDecision } from '../../api/audit/policy.ts';
import type { AccessAttributes, User } from '../../api/authorization/attributes.ts';
import { internalError } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { AUDIT_LEVELS, type AuditLevel, type AuditPolicy } from '../../config/audit-policy.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { isOrchError } from '../../runtime/errors.ts';
import type { Metrics, Series } from '../../runtime/metrics/metrics.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../audit/protocol.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type AuditWaits, EventGroups, type Held } from './audit-event-groups.ts';
import type { EventTaker } from './request-audit.ts';

/** Plain data. */
export interface RecordingSettings {
  readonly policy: AuditPolicy;
  readonly waits: AuditWaits;
  /** A request is refused whose event a backend has not that must have it: it is known before it is served. */
  readonly isStrict: boolean;
}

/** Undefined where no request is recorded. */
export function recordingOf({ audit, options }: ServerSettings): RecordingSettings | undefined {
  if (audit === undefined) return undefined;
  const { auditLogPath, auditLogMode, auditWebhookMode } = options;
  const waitsForWebhook = audit.webhook !== undefined && auditWebhookMode !== 'batch';
  const waitsForLog = auditLogPath !== '' && auditLogMode !== 'batch';
  return {
    policy: audit.policy,
    waits: waitsForWebhook ? 'each' : waitsForLog ? 'together' : 'none',
    isStrict:
      (waitsForLog && auditLogMode === 'blocking-strict') ||
      (waitsForWebhook && auditWebhookMode === 'blocking-strict'),
  };
}

export interface AuditTakerParts extends RecordingSettings {
  readonly context: Pick<ActorContext, 'clock' | 'metrics' | 'timers'>;
  readonly audit: Ref<AuditProtocol>;
  readonly dialect: Dialect;
  readonly requestTimeoutMs: number;
}

/** Events that went together, and the requests that go on when they are kept. */
interface Awaited {
  readonly kept: Promise<boolean>;
  readonly isOver: Promise<void>;
  requests: number;
}

export class AuditTaker implements EventTaker {
  /** Requests wait for their events. */
  readonly isWaitedFor: boolean;
  /** What has come up in this turn goes to the audit actor now. */
  readonly flush: () => void;
  readonly #parts: AuditTakerParts;
  readonly #levels: ReadonlyMap<AuditLevel, Series>;
  readonly #events: Series;
  readonly #rejected: Series;
  readonly #groups: EventGroups;
  readonly #decisionKey: string;
  readonly #reasonKey: string;
  #lastAnswer: Readonly<Record<string, string>> | undefined;
  #awaited: Awaited | undefined;

  constructor(parts: AuditTakerParts) {
    this.#parts = parts;
    const { context, dialect, waits, audit, requestTimeoutMs } = parts;
    const { metrics, timers } = context;
    this.isWaitedFor = waits !== 'none';
    this.#decisionKey = dialect.spell('authorization.@group/decision');
    this.#reasonKey = dialect.spell('authorization.@group/reason');
    this.#levels = new Map(
      AUDIT_LEVELS.map((level) => [
        level,
        metrics.counter('apiserver_audit_level_total', 'Requests by the level of the policy that they go by.', {
          level,
        }),
      ]),
    );
    const { events, rejected, lost } = auditTotals(metrics);
    this.#events = events;
    this.#rejected = rejected;
    const onLost = (count: number): void => lost.add(count);
    this.#groups = new EventGroups({ waits, audit, timers, requestTimeoutMs, onLost });
    this.flush = this.#groups.flush;
  }

  /** How far a request is recorded. `user`: null: nobody knows them. */
  decide(user: User | null, access: AccessAttributes): AuditDecision {
    const decision = auditDecision(this.#parts.policy, user, access);
    this.#levels.get(decision.level)?.add(1);
    return decision;
  }

  /** What is said of it that a request was let in, or was not. Most are let in for the same reason as the last. */
  answerOf(isAllowed: boolean, reason: string): Readonly<Record<string, string>> {
    const last = this.#lastAnswer;
    const decision = isAllowed ? 'allow' : 'forbid';
    if (last?.[this.#reasonKey] === reason && last[this.#decisionKey] === decision) return last;
    const answer = { [this.#decisionKey]: decision, [this.#reasonKey]: reason };
    this.#lastAnswer = answer;
    return answer;
  }

  /** Of a request that nobody could decide about. */
  get undecided(): Readonly<Record<string, string>> {
    return { [this.#reasonKey]: 'internal error' };
  }

  nowMs(): number {
    return this.#parts.context.clock.nowMs();
  }

  send(event: UnreadAuditEvent, held?: Held, heldMs?: number): void {
    this.#events.add(1);
    this.#groups.add(event, held, heldMs);
  }

  /** Answers whose end is held back. */
  get holding(): number {
    return this.#groups.waiting;
  }

  keep(event: UnreadAuditEvent): Promise<void> | undefined {
    this.#events.add(1);
    if (!this.isWaitedFor) {
      this.#groups.add(event);
      return undefined;
    }
    const kept = this.#groups.keep(event);
    if (this.#awaited?.kept !== kept) this.#awaited = this.#await(kept);
    this.#awaited.requests++;
    return this.#awaited.isOver;
  }

  #await(kept: Promise<boolean>): Awaited {
    const refuse = (): never => {
      this.#rejected.add(awaited.requests);
      throw new StatusError(internalError('failed to store audit event'));
    };
    const isOver = kept.then(
      (isKept) => {
        if (!isKept) refuse();
      },
      (error: unknown) => {
        // Of one that takes too long nobody knows yet; the request's time is over as well.
        if (isOrchError(error, 'DeadlineExceeded')) throw error;
        // Lost, and counted: the audit actor is starting again, or cannot take more. That refuses nobody whose event may be lost.
        if (this.#parts.isStrict) refuse();
      },
    );
    const awaited: Awaited = { kept, isOver, requests: 0 };
    return awaited;
  }
}

/** What a scraper finds whether or not anything is recorded: at 0 where nothing is. */
export function auditTotals(metrics: Metrics) {
  return {
    events: metrics.counter('apiserver_audit_event_total', 'Audit events made.'),
    rejected: metrics.counter(
      'apiserver_audit_requests_rejected_total',
      'Requests refused since their audit event was not kept.',
    ),
    lost: metrics.counter('apiserver_audit_error_total', 'Audit events that were not recorded, by who lost them.', {
      plugin: 'buffered',
    }),
  };
}
