// The audit actor. Owns the backends of audit events, and gives each event to every one of them in its mode: later in a batch, or
// before the request goes on.

import type { AuditEvent } from '../../api/audit/event.ts';
import type { Schema } from '../../api/schema/schema.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Soon } from '../../runtime/soon.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { heapBytesOfBody } from '../../transport/heap-of-body.ts';
import { Batches, type BatchLimits } from './batches.ts';
import { readEvent } from './bodies.ts';
import { AUDIT_FACTS } from './facts.ts';
import { LossLines } from './loss-lines.ts';
import type { AuditedBody, AuditProtocol, UnreadAuditEvent } from './protocol.ts';
import { SentObjects } from './sent-objects.ts';
import { type AuditSink, EventsLost } from './sinks.ts';

export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

/** One backend, and how it is used. */
export interface AuditBackend {
  /** Makes the sink; `onTooLarge` hears of events that do not fit into it. */
  readonly open: (onTooLarge: (count: number) => void) => AuditSink;
  readonly mode: AuditMode;
  readonly limits: BatchLimits;
}

export interface AuditOptions {
  readonly backends: readonly AuditBackend[];
  readonly schema: Schema;
  /** What the bodies of events may take of the heap while each backend is given them. */
  readonly heapBytesMax: number;
  /** Whether a feature gate is open. */
  readonly gate: (name: string) => boolean;
}

/** See ActorDefinition. Stops late, so that the last requests are recorded too. */
export const auditActor: ActorDefinition<AuditOptions> = {
  ...AUDIT_FACTS,
  owns: 'the audit log and the connection to the audit webhook',
  create: (context, options) => new Audit(context, options),
};

/** Events that wait for a backend that requests wait for, too: a webhook that is down holds each for minutes. */
const WAITING_MAX = 16_384;
/** At the end, how long the backends may take for what is left. */
const FLUSH_MS = 5_000;

interface Route {
  readonly sink: AuditSink;
  readonly mode: AuditMode;
  readonly batches: Batches | undefined;
}

class Audit implements Actor<AuditProtocol> {
  readonly #context: ActorContext;
  readonly #schema: Schema;
  readonly #sent: SentObjects;
  readonly #routes: readonly Route[];
  readonly #heapBytesMax: number;
  readonly #lossLines: LossLines;
  #waiting = 0;
  #waitingHeapBytes = 0;

  constructor(context: ActorContext, { backends, schema, heapBytesMax, gate }: AuditOptions) {
    this.#context = context;
    this.#heapBytesMax = heapBytesMax;
    this.#schema = schema;
    this.#sent = new SentObjects(schema, gate);
    this.#lossLines = new LossLines(context);
    this.#routes = backends.map((backend) => this.#route(backend));
  }

  /** What has been taken is written, as far as the backends take it in time. */
  async stop(): Promise<void> {
    const late = new Promise<void>((resolve) => this.#context.timers.after(FLUSH_MS, resolve));
    const flushed = Promise.all(this.#routes.map(({ batches }) => batches?.flush()));
    await Promise.race([flushed, late]);
    const closed = Promise.all(this.#routes.map(({ sink }) => sink.close()));
    await Promise.race([closed, late]);
    this.#lossLines.flush();
  }

  onMessage(message: MessageOf<AuditProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'events':
        void this.#take(message.events);
        return;
      case 'keep': {
        const taken = this.#take(message.events);
        if (!(taken instanceof Promise)) reply.send({ isKept: taken });
        else
          taken.then(
            (isKept) => reply.send({ isKept }),
            (error: unknown) => reply.fail(error),
          );
        return;
      }
      default:
        unreachable(message);
    }
  }

  #route({ open, mode, limits }: AuditBackend): Route {
    const sink = open((count) => this.#lost('truncate', count, 'an event is too large even after truncating'));
    if (mode !== 'batch') return { sink, mode, batches: undefined };
    const batches = new Batches({
      sink,
      limits,
      clock: this.#context.clock,
      timers: this.#context.timers,
      heapBytesMax: this.#heapBytesMax,
      onOverflow: () => this.#lost('buffered', 1, 'audit buffer queue blocked'),
      onFailed: (count, error) => this.#lost(sink.name, lostOf(error, count), messageOf(error)),
    });
    return { sink, mode, batches };
  }

  /** Gives events to the backends, one after the other. False: one that must have them has not. */
  #take(unread: readonly UnreadAuditEvent[]): Soon<boolean> {
    const events = unread.map((one) => readEvent(one, this.#schema, this.#sent));
    return this.#takeFrom(0, unread, events, true);
  }

  #takeFrom(
    first: number,
    unread: readonly UnreadAuditEvent[],
    events: readonly AuditEvent[],
    wereKept: boolean,
  ): Soon<boolean> {
    let areKept = wereKept;
    for (let index = first; index < this.#routes.length; index++) {
      const { sink, mode, batches } = this.#routes[index]!;
      if (batches !== undefined) {
        batches.add(events, (at) => heapBytesOf(unread[at]!));
        continue;
      }
      const mayLack = mode !== 'blocking-strict';
      const written = this.#write(sink, events, unread);
      if (written instanceof Promise)
        return written.then((has) => this.#takeFrom(index + 1, unread, events, areKept && (has || mayLack)));
      areKept &&= written || mayLack;
    }
    return areKept;
  }

  /** False: the backend has not taken them. */
  #write(sink: AuditSink, events: readonly AuditEvent[], unread: readonly UnreadAuditEvent[]): Soon<boolean> {
    if (this.#waiting >= WAITING_MAX || this.#waitingHeapBytes > this.#heapBytesMax) {
      this.#lost('buffered', events.length, 'too many events wait for a backend');
      return false;
    }
    const failed = (error: unknown): boolean => {
      this.#lost(sink.name, lostOf(error, events.length), messageOf(error));
      return false;
    };
    let writing: Promise<void> | undefined;
    try {
      writing = sink.write(events);
    } catch (error) {
      return failed(error);
    }
    if (writing === undefined) return true;
    const heapBytes = unread.reduce((total, one) => total + heapBytesOf(one), 0);
    this.#waiting += events.length;
    this.#waitingHeapBytes += heapBytes;
    return writing
      .then(() => true, failed)
      .finally(() => {
        this.#waiting -= events.length;
        this.#waitingHeapBytes -= heapBytes;
      });
  }

  #lost(plugin: string, count: number, reason: string): void {
    this.#context.metrics
      .counter('apiserver_audit_error_total', 'Audit events that were not recorded, by who lost them.', { plugin })
      .add(count);
    this.#lossLines.lost(plugin, count, reason);
  }
}

function heapBytesOf({ requestBody, responseBody }: UnreadAuditEvent): number {
  return heapBytesOfOne(requestBody) + heapBytesOfOne(responseBody);
}

function heapBytesOfOne(body: AuditedBody | undefined): number {
  return body === undefined ? 0 : heapBytesOfBody(body.bytes, body.contentType);
}

/** How many of `all` events that were to be written are nowhere. */
function lostOf(error: unknown, all: number): number {
  return error instanceof EventsLost ? error.count : all;
}
