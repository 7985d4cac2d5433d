// Audit events on their way to the audit actor. Those that come up in one turn, or where nobody waits for them within a few, go there
// as one message, and are written at once: a message and a write for each would cost more than the requests do. Owns what has not gone yet, and how much is on its way.
import type { Ref } from '../../runtime/actor.ts';
import type { Timer, Timers } from '../../runtime/environment.ts';
import { isOrchError } from '../../runtime/errors.ts';
import type { Soon } from '../../runtime/soon.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../audit/protocol.ts';

/** Which backends requests wait for: none; one that takes events together; one that is sent each by itself, so that none waits for others. */
export type AuditWaits = 'none' | 'together' | 'each';

/** What waits for an event to be recorded. */
export interface Held {
  /** The event has come to something, whatever that is. */
  release(): void;
}

export interface EventGroupsParts {
  readonly waits: AuditWaits;
  readonly audit: Ref<AuditProtocol>;
  readonly timers: Pick<Timers, 'soon' | 'after'>;
  readonly requestTimeoutMs: number;
  /** Told of events that the audit actor did not take: they are lost. */
  readonly onLost: (count: number) => void;
}

/** Where nobody waits, so many go together, or as many as come within this time: a message and a write cost more than an event. */
const UNAWAITED_MAX = 128;
const UNAWAITED_MS = 10;
/** Bodies that are on their way to the audit actor, together; more are left out. */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;

class Group {
  readonly events: UnreadAuditEvent[] = [];
  /** Who goes on when the events have come to something. */
  readonly waiting: Held[] = [];
  bytes = 0;
  /** For how long one of them may be waited for. */
  deadlineMs = 0;
  #kept: Promise<boolean> | undefined;
  #settle: ((kept: Soon<boolean>) => void) | undefined;

  /** Whether whoever must have them has them. Rejects where the audit actor has not said. */
  get kept(): Promise<boolean> {
    if (this.#kept === undefined) {
      this.#kept = new Promise((resolve) => {
        this.#settle = resolve;
      });
      // Who asks may go away meanwhile.
      this.#kept.catch(() => {});
    }
    return this.#kept;
  }

  settle(kept: Soon<boolean>): void {
    this.#settle?.(kept);
  }
}

export class EventGroups {
  readonly #parts: EventGroupsParts;
  readonly #groupMax: number;
  #gathering: Group | undefined;
  #timer: Timer | undefined;
  #unsentBytes = 0;
  #waiting = 0;

  constructor(parts: EventGroupsParts) {
    this.#parts = parts;
    this.#groupMax = { none: UNAWAITED_MAX, together: Number.POSITIVE_INFINITY, each: 1 }[parts.waits];
  }

  /** How many wait for what becomes of their events. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes an event; answers as `Group.kept`. */
  keep(event: UnreadAuditEvent): Promise<boolean> {
    const group = this.#gathering ?? this.#begin();
    // Asked before the event may go.
    const { kept } = group;
    this.add(event);
    return kept;
  }

  /** Takes an event. Releases what is held for it when it has come to something, or `heldMs` are over for all that went with it. */
  add(event: UnreadAuditEvent, held?: Held, heldMs = this.#parts.requestTimeoutMs): void {
    const group = this.#gathering ?? this.#begin();
    group.deadlineMs = Math.max(group.deadlineMs, heldMs);
    if (held !== undefined) {
      group.waiting.push(held);
      this.#waiting++;
    }
    const bytes = bytesOf(event);
    const fits = this.#unsentBytes + bytes <= UNSENT_BYTES_MAX;
    if (fits) {
      group.bytes += bytes;
      this.#unsentBytes += bytes;
    }
    group.events.push(fits ? event : { ...event, requestBody: undefined, responseBody: undefined });
    if (group.events.length >= this.#groupMax) this.flush();
  }

  /** What has been gathered goes now. */
  readonly flush = (): void => {
    const group = this.#gathering;
    this.#gathering = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (group === undefined) return;
    const sending = this.#send(group);
    group.settle(sending);
    const goOn = (): void => {
      this.#waiting -= group.waiting.length;
      for (const held of group.waiting) held.release();
    };
    if (sending instanceof Promise) sending.then(goOn, goOn);
    else goOn();
  };

  #begin(): Group {
    const group = new Group();
    this.#gathering = group;
    const { waits, timers } = this.#parts;
    if (waits === 'together') timers.soon(this.flush);
    else if (waits === 'none') this.#timer = timers.after(UNAWAITED_MS, this.flush);
    return group;
  }

  #send({ events, bytes, deadlineMs }: Group): Soon<boolean> {
    const { audit, waits, onLost } = this.#parts;
    if (waits !== 'none') {
      // A log on this thread has them before this returns: nothing that is sent after it can be ahead of it.
      const asking = audit.askSoon<'keep'>({ type: 'keep', events }, { deadlineMs });
      if (asking instanceof Promise) return this.#answered(asking, events, bytes);
      this.#unsentBytes -= bytes;
      return asking.isKept;
    }
    this.#unsentBytes -= bytes;
    if (audit.tell<'events'>({ type: 'events', events }) === 'full') onLost(events.length);
    return true;
  }

  async #answered(
    asking: Promise<{ readonly isKept: boolean }>,
    events: readonly UnreadAuditEvent[],
    bytes: number,
  ): Promise<boolean> {
    try {
      return (await asking).isKept;
    } catch (error) {
      // What took too long is with the audit actor, which goes on trying, and counts what it loses.
      if (!isOrchError(error, 'DeadlineExceeded')) this.#parts.onLost(events.length);
      throw error;
    } finally {
      this.#unsentBytes -= bytes;
    }
  }
}

function bytesOf({ requestBody, responseBody }: UnreadAuditEvent): number {
  return (requestBody?.bytes.length ?? 0) + (responseBody?.bytes.length ?? 0);
}
