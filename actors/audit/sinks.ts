// Where audit events go: the log and the webhook. Each says them in its version of the audit group, and cuts those that are too
// large for it. When they are written is audit.ts's.
import { type AuditEvent, legacyLine, truncated } from '../../api/audit/event.ts';
import { type AuditVersion, eventListText, eventSayer, TextParts } from '../../api/audit/event-text.ts';
import { isAtLeast } from '../../config/audit-policy.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Random, Timers } from '../../runtime/environment.ts';
import { messageOf } from '../../runtime/errors.ts';
import { namedWaitMs, type ServiceClient } from '../../transport/outgoing/service-client.ts';
import { CALL_DEADLINE_MS } from '../outside/webhook-call.ts';

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
  /** Its `write` is over when it returns, however many batches it is given together. */
  readonly isImmediate: boolean;
  /** Rejects, or throws, where the events are not there afterwards: with EventsLost where some of them are. */
  write(events: readonly AuditEvent[]): Promise<void> | undefined;
  /** No more is written; what is under way need not be tried again. */
  close(): Promise<void>;
}

/** Some of the events that were to be written are nowhere, and the others are. */
export class EventsLost extends Error {
  readonly count: number;

  constructor(count: number, reason: unknown) {
    super(messageOf(reason));
    this.count = count;
  }
}

/** One line an event. */
export class LogSink implements AuditSink {
  readonly name = 'log';
  readonly isImmediate = true;
  readonly #sayer: Sayer;
  readonly #isLegacy: boolean;
  readonly #text = new TextParts();
  readonly #append: (text: string) => void;
  readonly #closeFile: () => Promise<void>;

  constructor(form: EventForm, isLegacy: boolean, file: { append(text: string): void; close(): Promise<void> }) {
    this.#sayer = new Sayer(form);
    this.#isLegacy = isLegacy;
    this.#append = (text) => file.append(text);
    this.#closeFile = () => file.close();
  }

  write(events: readonly AuditEvent[]): undefined {
    if (this.#sayer.isWhole) {
      const text = this.#text;
      for (const event of events) {
        if (this.#isLegacy) text.add(legacyLine(event));
        else this.#sayer.say(event, text);
        text.add('\n');
      }
      this.#append(text.take());
      return;
    }
    for (const group of this.#sayer.fitting(events)) {
      let lines = '';
      for (const { event, said } of group) lines += `${this.#isLegacy ? legacyLine(event) : said}\n`;
      this.#append(lines);
    }
  }

  close(): Promise<void> {
    return this.#closeFile();
  }
}

export interface WebhookParts {
  readonly form: EventForm;
  readonly client: Pick<ServiceClient, 'deliver'>;
  readonly timers: Pick<Timers, 'after'>;
  readonly random: Pick<Random, 'next'>;
  readonly firstBackoffMs: number;
}

/** As Kubernetes 1.21 tries again: so many times, each wait longer by half and up to a fifth by chance. */
const TRIES = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;
/** How often one that says when it is to be asked again is asked then, beside its tries, and how long that may be. */
const AGAIN_MAX = 10;
const AGAIN_MS_MAX = 5 * 60_000;

/** One POST a batch, or a group of it. Whatever goes wrong is tried again; a group that is not taken keeps none from those behind it. */
export class WebhookSink implements AuditSink {
  readonly name = 'webhook';
  readonly isImmediate = false;
  readonly #parts: WebhookParts;
  readonly #sayer: Sayer;
  readonly #waits = new Set<() => void>();
  #isClosing = false;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#sayer = new Sayer(parts.form);
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    const { form } = this.#parts;
    let lost = 0;
    let reason: unknown;
    for (const group of this.#sayer.fitting(events)) {
      const items = group.map(({ said }) => said);
      try {
        await this.#send(eventListText(form.version, form.dialect.spell('audit.@group'), items));
      } catch (error) {
        lost += group.length;
        reason = error;
      }
    }
    if (lost > 0) throw new EventsLost(lost, reason);
  }

  /** Those who wait for another try have it now, and no more after it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const go of [...this.#waits]) go();
  }

  async #send(json: string): Promise<void> {
    const { client, firstBackoffMs } = this.#parts;
    let waitMs = firstBackoffMs;
    let again = 0;
    for (let tried = 1; ; ) {
      let namedMs: number | undefined;
      try {
        // A service that takes events may answer them with nothing.
        return await client.deliver(json, CALL_DEADLINE_MS);
      } catch (error) {
        namedMs = again < AGAIN_MAX ? namedBy(error) : undefined;
        if (this.#isClosing || (namedMs === undefined && tried === TRIES)) throw error;
      }
      await this.#wait(namedMs ?? waitMs);
      if (namedMs === undefined) {
        tried++;
        waitMs *= BACKOFF_FACTOR;
      } else again++;
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

/** When a service says that it is to be asked again. */
function namedBy(error: unknown): number | undefined {
  const namedMs = namedWaitMs(error);
  return namedMs === undefined || namedMs > AGAIN_MS_MAX ? undefined : namedMs;
}

interface SaidEvent {
  readonly event: AuditEvent;
  /** JSON. */
  readonly said: string;
}

/** Says events in a form. */
class Sayer {
  /** Nothing is cut, so that every event is said as it is. */
  readonly isWhole: boolean;
  /** As JSON. */
  readonly say: (event: AuditEvent, text: TextParts) => void;
  readonly #parts = new TextParts();
  readonly #form: EventForm;

  constructor(form: EventForm) {
    this.#form = form;
    this.isWhole = form.truncation === undefined;
    this.say = eventSayer(form.version, form.dialect.spell('audit.@group'));
  }

  /** The events as they are said, in groups that are not too large. */
  fitting(events: readonly AuditEvent[]): readonly (readonly SaidEvent[])[] {
    const { truncation } = this.#form;
    const said = events.map((event) => ({ event, said: this.#text(event) }));
    return truncation === undefined ? [said] : this.#grouped(said, truncation);
  }

  #text(event: AuditEvent): string {
    this.say(event, this.#parts);
    return this.#parts.take();
  }

  #grouped(events: readonly SaidEvent[], { eventBytesMax, batchBytesMax }: TruncationLimits): readonly SaidEvent[][] {
    const { dialect, onTooLarge } = this.#form;
    const groups: SaidEvent[][] = [];
    let last: SaidEvent[] = [];
    let lastBytes = 0;
    for (let one of events) {
      let bytes = Buffer.byteLength(one.said);
      if (bytes > eventBytesMax && hasBodies(one.event)) {
        const event = truncated(one.event, dialect.spell);
        one = { event, said: this.#text(event) };
        bytes = Buffer.byteLength(one.said);
      }
      if (bytes > eventBytesMax) {
        onTooLarge(1);
        continue;
      }
      if (last.length > 0 && lastBytes + bytes > batchBytesMax) {
        groups.push(last);
        last = [];
        lastBytes = 0;
      }
      last.push(one);
      lastBytes += bytes;
    }
    return last.length === 0 ? groups : [...groups, last];
  }
}

function hasBodies({ request }: AuditEvent): boolean {
  return isAtLeast(request.level, 'Request');
}
