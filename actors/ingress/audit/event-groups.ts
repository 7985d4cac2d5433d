// Audit events on their way to the audit actor. Those that come up in one turn, or where nobody waits for them within a few, go there
// as one message, and are written at once: a message and a write for each would cost more than the requests do. Owns what has not gone yet, and how much is on its way.
import type { Ref } from '../../../runtime/actor.ts';
import type { Timer, Timers } from '../../../runtime/environment.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../../audit/protocol.ts';
import type { Held } from './held-response.ts';

/** Which backends requests wait for: none; one that takes events together; one that is sent each by itself, so that none waits for others. */
export type AuditWaits = 'none' | 'together' | 'each';

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
  /** Whether whoever must have them has them. Rejects where the audit actor has not said. */
  readonly kept: Promise<boolean>;
  settle!: (kept: boolean | Promise<boolean>) => void;

  constructor() {
    this.kept = new Promise((resolve) => {
      this.settle = resolve;
    });
    // Most events are waited for by nobody.
    this.kept.catch(() => {});
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

  /** Takes an event; see `Group.kept`. Releases what is held for it when it has come to something. */
  add(event: UnreadAuditEvent, held?: Held): Promise<boolean> {
    const group = this.#gathering ?? this.#begin();
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
    return group.kept;
  }

  /** What has been gathered goes now. */
  readonly flush = (): void => {
    const group = this.#gathering;
    this.#gathering = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (group === undefined) return;
    group.settle(this.#send(group));
    const { waiting } = group;
    if (waiting.length === 0) return;
    const goOn = (): void => {
      this.#waiting -= waiting.length;
      for (const held of waiting) held.release();
    };
    group.kept.then(goOn, goOn);
  };

  #begin(): Group {
    const group = new Group();
    this.#gathering = group;
    const { waits, timers } = this.#parts;
    if (waits === 'together') timers.soon(this.flush);
    else if (waits === 'none') this.#timer = timers.after(UNAWAITED_MS, this.flush);
    return group;
  }

  #send({ events, bytes }: Group): boolean | Promise<boolean> {
    const { audit, waits, onLost } = this.#parts;
    if (waits !== 'none') return this.#ask(events, bytes);
    this.#unsentBytes -= bytes;
    if (audit.tell<'events'>({ type: 'events', events }) === 'full') onLost(events.length);
    return true;
  }

  async #ask(events: readonly UnreadAuditEvent[], bytes: number): Promise<boolean> {
    const { audit, requestTimeoutMs, onLost } = this.#parts;
    try {
      // A log on this thread has them before this returns: nothing that is sent after it can be ahead of it.
      return (await audit.askSoon<'keep'>({ type: 'keep', events }, { deadlineMs: requestTimeoutMs })).isKept;
    } catch (error) {
      // What took too long is with the audit actor, which goes on trying, and counts what it loses.
      if (!isOrchError(error, 'DeadlineExceeded')) onLost(events.length);
      throw error;
    } finally {
      this.#unsentBytes -= bytes;
    }
  }
}

function bytesOf({ requestBody, responseBody }: UnreadAuditEvent): number {
  return (requestBody?.bytes.length ?? 0) + (responseBody?.bytes.length ?? 0);
}
