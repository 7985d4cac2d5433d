// Where audit events go: the log and the webhook. Each says them in its version of the audit group, and cuts those that are too
// large for it. When they are written is audit.ts's.
import {
  type AuditEvent,
  type AuditVersion,
  eventIn,
  eventList,
  legacyLine,
  truncated,
} from '../../api/audit/event.ts';
import { AUDIT_LEVELS } from '../../config/audit-policy.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Random, Timers } from '../../runtime/environment.ts';
import type { ServiceClient } from '../../transport/outgoing/service-client.ts';

/** Absent: nothing is cut. */
export interface TruncationLimits {
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

/** How events are said. */
export interface EventForm {
  readonly dialect: Dialect;
  readonly version: AuditVersion;
  readonly truncation: TruncationLimits | undefined;
  /** Told of events that are too large even when cut: they are lost. */
  readonly onTooLarge: (count: number) => void;
}

export interface AuditSink {
  readonly name: 'log' | 'webhook';
  /** Rejects, or throws, where the events are not there afterwards. */
  write(events: readonly AuditEvent[]): Promise<void> | undefined;
  /** No more is written; what is under way need not be tried again. */
  close(): Promise<void>;
}

/** One line an event. */
export class LogSink implements AuditSink {
  readonly name = 'log';
  readonly #form: EventForm;
  readonly #isLegacy: boolean;
  readonly #append: (text: string) => void;
  readonly #closeFile: () => Promise<void>;

  constructor(form: EventForm, isLegacy: boolean, file: { append(text: string): void; close(): Promise<void> }) {
    this.#form = form;
    this.#isLegacy = isLegacy;
    this.#append = (text) => file.append(text);
    this.#closeFile = () => file.close();
  }

  write(events: readonly AuditEvent[]): undefined {
    for (const group of fitting(events, this.#form)) {
      const lines = group.map(({ event, said }) => `${this.#isLegacy ? legacyLine(event) : JSON.stringify(said)}\n`);
      this.#append(lines.join(''));
    }
  }

  close(): Promise<void> {
    return this.#closeFile();
  }
}

export interface WebhookParts {
  readonly form: EventForm;
  readonly client: Pick<ServiceClient, 'deliver' | 'close'>;
  readonly timers: Pick<Timers, 'after'>;
  readonly random: Pick<Random, 'next'>;
  readonly firstBackoffMs: number;
}

/** As Kubernetes 1.21 tries again: so many times, each wait longer by half and up to a fifth by chance. */
const TRIES = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;
const CALL_MS = 30_000;

/** One POST a batch. Whatever goes wrong is tried again. */
export class WebhookSink implements AuditSink {
  readonly name = 'webhook';
  readonly #parts: WebhookParts;
  readonly #waits = new Set<() => void>();
  #isClosing = false;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    const { form } = this.#parts;
    for (const group of fitting(events, form)) {
      const items = group.map(({ said }) => said);
      await this.#send(eventList(form.version, form.dialect.spell('audit.@group'), items));
    }
  }

  /** Those who wait for another try have it now, and no more after it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const go of [...this.#waits]) go();
  }

  async #send(body: object): Promise<void> {
    const { client, firstBackoffMs } = this.#parts;
    let waitMs = firstBackoffMs;
    for (let tried = 1; ; tried++) {
      try {
        return await client.deliver(body, CALL_MS);
      } catch (error) {
        // A service that takes events may answer them with nothing.
        if (tried === TRIES || this.#isClosing) throw error;
      }
      await this.#wait(waitMs);
      waitMs *= BACKOFF_FACTOR;
    }
  }

  #wait(ms: number): Promise<void> {
    const { timers, random } = this.#parts;
    return new Promise((resolve) => {
      const go = (): void => {
        timer.cancel();
        this.#waits.delete(go);
        resolve();
      };
      const timer = timers.after(ms * (1 + BACKOFF_JITTER * random.next()), go);
      this.#waits.add(go);
    });
  }
}

interface SaidEvent {
  readonly event: AuditEvent;
  readonly said: object;
}

/** The events as they are said, in groups that are not too large. */
function fitting(events: readonly AuditEvent[], form: EventForm): readonly (readonly SaidEvent[])[] {
  const { dialect, version, truncation, onTooLarge } = form;
  const group = dialect.spell('audit.@group');
  const say = (event: AuditEvent): SaidEvent => ({ event, said: eventIn(version, group, event) });
  if (truncation === undefined) return [events.map(say)];
  const groups: SaidEvent[][] = [];
  let last: SaidEvent[] = [];
  let lastBytes = 0;
  for (const event of events) {
    let one = say(event);
    let bytes = bytesOf(one);
    if (bytes > truncation.eventBytesMax && hasBodies(event)) {
      one = say(truncated(event, dialect.spell));
      bytes = bytesOf(one);
    }
    if (bytes > truncation.eventBytesMax) {
      onTooLarge(1);
      continue;
    }
    if (last.length > 0 && lastBytes + bytes > truncation.batchBytesMax) {
      groups.push(last);
      last = [];
      lastBytes = 0;
    }
    last.push(one);
    lastBytes += bytes;
  }
  return last.length === 0 ? groups : [...groups, last];
}

function hasBodies({ level }: AuditEvent): boolean {
  return AUDIT_LEVELS.indexOf(level) >= AUDIT_LEVELS.indexOf('Request');
}

function bytesOf({ said }: SaidEvent): number {
  return Buffer.byteLength(JSON.stringify(said));
}
