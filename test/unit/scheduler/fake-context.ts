// A recording ActorContext: time and timers move only when a test says so, and the other actors answer what the test
// wants, when it wants.
import type { Logger } from 'pino';
import type { Binding, BindingOutcome, WriteRequest } from '../../../actors/admission/protocol.ts';
import type { PresentState, StoreBatch } from '../../../actors/store/protocol.ts';
import type { ActorContext, Protocol, Ref } from '../../../runtime/actor.ts';
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import type { Labels, Metrics } from '../../../runtime/metrics/metrics.ts';
import type { FeedEvent, StoreFeed } from '../../../storage/following/store-feed.ts';
import { mapSlab } from '../../../storage/records/slab-record.ts';
import { fieldIsOf } from '../pod-fields.ts';
import { seededRandom } from './objects.ts';

/** Both clocks at once; `nowMs` is offset so that the two can't be mistaken for one another. */
export class VirtualTime implements Clock, Timers {
  static readonly wallOffsetMs = Date.UTC(2026, 0, 1);
  private elapsedMs = 0;
  private waiting: { readonly dueMs: number; readonly callback: () => void }[] = [];

  nowMs(): number {
    return VirtualTime.wallOffsetMs + this.elapsedMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const entry = { dueMs: this.elapsedMs + delayMs, callback };
    this.waiting.push(entry);
    const cancel = () => {
      this.waiting = this.waiting.filter((each) => each !== entry);
    };
    return { cancel };
  }

  every(intervalMs: number, callback: () => void): Timer {
    return this.after(intervalMs, () => {
      callback();
      this.every(intervalMs, callback);
    });
  }

  soon(callback: () => void): void {
    this.after(0, callback);
  }

  /** Runs what is due until nothing is, promises included, then moves on, up to `byMs` from now. */
  async advance(byMs = 0): Promise<void> {
    const endMs = this.elapsedMs + byMs;
    for (;;) {
      await settlePromises();
      const next = this.waiting.reduce<{ dueMs: number; callback: () => void } | undefined>(
        (first, each) => (first === undefined || each.dueMs < first.dueMs ? each : first),
        undefined,
      );
      if (next === undefined || next.dueMs > endMs) break;
      this.waiting = this.waiting.filter((each) => each !== next);
      this.elapsedMs = Math.max(this.elapsedMs, next.dueMs);
      next.callback();
    }
    this.elapsedMs = endMs;
  }
}

/** Lets every promise that is settled already run its reactions. */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Metrics that tests read back by `name{label="value"}`. */
export class RecordedMetrics implements Metrics {
  private readonly values = new Map<string, number>();
  private readonly collectors: (() => void)[] = [];

  counter(name: string, _help: string, labels: Labels = {}) {
    const key = seriesKey(name, labels);
    return {
      add: (amount: number) => void this.values.set(key, this.read(key) + amount),
      set: (value: number) => void this.values.set(key, value),
    };
  }

  gauge(name: string, help: string, labels: Labels = {}) {
    return this.counter(name, help, labels);
  }

  /** Keeps the number of observations and, as `<name>_sum`, their sum. */
  histogram(name: string, help: string, _bucketsUpTo: readonly number[], labels: Labels = {}) {
    const count = this.counter(name, help, labels);
    const sum = this.counter(`${name}_sum`, help, labels);
    return {
      observe: (value: number) => {
        count.add(1);
        sum.add(value);
      },
    };
  }

  summary(name: string, help: string, _shape: object, labels: Labels = {}) {
    return { ...this.histogram(name, help, [], labels), turn: () => {} };
  }

  beforeReading(collect: () => void): void {
    this.collectors.push(collect);
  }

  reading(): [] {
    for (const collect of this.collectors) collect();
    return [];
  }

  forget(): void {}

  /** The value of a series, 0 when it was never touched. */
  read(key: string): number {
    return this.values.get(key) ?? 0;
  }
}

function seriesKey(name: string, labels: Labels): string {
  const shown = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return shown.length === 0 ? name : `${name}{${shown.join(',')}}`;
}

/** Answers a write. Throws or rejects to fail the ask. */
export type WriteHandler = (request: WriteRequest) => number | Promise<number>;
export type BindHandler = (
  bindings: readonly Binding[],
) => readonly BindingOutcome[] | Promise<readonly BindingOutcome[]>;

export interface RecordedWrite {
  readonly request: WriteRequest;
  readonly body: Record<string, unknown>;
}

export class FakeCluster {
  readonly time = new VirtualTime();
  readonly metrics = new RecordedMetrics();
  readonly crashes: Error[] = [];
  /** The fields of warnings in the log. */
  readonly warned: object[] = [];
  /** Everything that admission was asked, in order. */
  readonly binds: (readonly Binding[])[] = [];
  readonly bindUsers: string[] = [];
  readonly writes: RecordedWrite[] = [];
  subscriptions = 0;
  readonly unsubscribed: string[] = [];
  onBind: BindHandler = (bindings) => bindings.map(() => ({ bound: true }));
  onWrite: WriteHandler = () => 201;
  /** What a write is answered with beside that. */
  writeBody: object = {};
  onSubscribe: () => Promise<PresentState> = async () => emptyPresent(0);
  /** What the next `begin` of the feed lists, and what `apply` tells. */
  listed: FeedEvent[] = [];
  private readonly batches = new Map<number, readonly FeedEvent[]>();

  /** A batch message whose application tells these events. */
  batch(sequence: number, events: readonly FeedEvent[]): { readonly type: 'storeBatch' } & StoreBatch {
    this.batches.set(sequence, events);
    const nothing = { incarnation: 1, compactedRevision: 0, runs: [], movedRuns: [], newSlabs: [] };
    return { type: 'storeBatch', sequence, after: sequence - 1, lastRevision: sequence, ...nothing };
  }

  readonly feedFactory = (
    _context: ActorContext,
    storageKeys: readonly string[] | undefined,
    onEvent: (event: FeedEvent) => void,
  ): StoreFeed => {
    const tell = (events: readonly FeedEvent[]) => {
      for (const event of events) if (storageKeys?.includes(event.storageKey) !== false) onEvent(event);
    };
    const listed = () => this.listed;
    return {
      *begin(_present, partObjects = Number.POSITIVE_INFINITY) {
        const events = listed();
        for (let i = 0; i < events.length; i += partObjects) {
          if (i > 0) yield;
          tell(events.slice(i, i + partObjects));
        }
      },
      apply: (batch) => tell(this.batches.get(batch.sequence) ?? []),
    };
  };

  context(settings: Readonly<Record<string, unknown>> = {}): ActorContext {
    const refs: Readonly<Record<string, unknown>> = { store: this.store(), admission: this.admission() };
    const unused = (): never => {
      throw new Error('the scheduler does not use this');
    };
    const warn = (fields: object): void => void this.warned.push(fields);
    const log = { info: () => {}, warn, error: () => {}, debug: () => {} } as unknown as Logger;
    const context: Omit<ActorContext, 'crash'> & { crash: (error: Error) => void } = {
      name: 'scheduler',
      index: 0,
      log,
      metrics: this.metrics,
      settings,
      clock: this.time,
      timers: this.time,
      random: seededRandom(4),
      disk: { readFile: unused, writeFileAtomic: unused, exists: unused, makeDirectory: unused },
      ref: <P extends Protocol>(kind: string) => refs[kind] as Ref<P>,
      refs: unused,
      refNamed: unused,
      threadLocal: unused,
      hasWaitingMessages: unused,
      nextRequestNumber: unused,
      metricsOfAllThreads: unused,
      crash: (error) => void this.crashes.push(error),
    };
    return context as ActorContext;
  }

  /** The writes of events, by reason. */
  events(reason: string): Record<string, unknown>[] {
    return this.writes.map(({ body }) => body).filter((body) => body.kind === 'Event' && body.reason === reason);
  }

  private store(): object {
    return {
      name: 'store',
      ask: () => {
        this.subscriptions++;
        return this.onSubscribe();
      },
      tell: (message: { readonly subscriber: string }) => {
        this.unsubscribed.push(message.subscriber);
        return 'queued';
      },
    };
  }

  private admission(): object {
    const bind = async (message: {
      readonly bindings: readonly Binding[];
      readonly user: { readonly name: string };
    }) => {
      this.binds.push(message.bindings);
      this.bindUsers.push(message.user.name);
      return { outcomes: await this.onBind(message.bindings) };
    };
    const write = async (message: WriteRequest) => {
      const body = JSON.parse(new TextDecoder().decode(message.payload)) as Record<string, unknown>;
      this.writes.push({ request: message, body });
      return { code: await this.onWrite(message), body: this.writeBody };
    };
    const ask = (message: { readonly type: string }) => (message.type === 'bind' ? bind : write)(message as never);
    return { name: 'admission', ask, tell: () => 'queued' };
  }
}

export function emptyPresent(sequence: number): PresentState {
  return {
    incarnation: 1,
    sequence,
    revision: 0,
    compactedRevision: 0,
    sharedState: new SharedArrayBuffer(8),
    readerSlot: 0,
    slabs: [],
    live: new Uint32Array(),
    first: 0,
    history: new Uint32Array(),
    tokenKey: new Uint8Array(),
    isShared: false,
  };
}

/** Nobody who is told of these looks at records. */
const NOWHERE = mapSlab(new SharedArrayBuffer(8));

/** The feed's event for a pod or node object. */
export function feedEvent(type: FeedEvent['type'], storageKey: string, object: Record<string, unknown>): FeedEvent {
  const metadata = object.metadata as { readonly namespace?: string; readonly name: string };
  const { namespace = '', name } = metadata;
  const unread = {
    parsed: <T>(parse: (text: string) => T) => parse(JSON.stringify(object)),
    uid: () => '',
    hasUid: () => false,
    mayBeTied: () => false,
    isCreation: () => type === 'put',
    isNamed: (other: string) => other === name,
    fieldIs: fieldIsOf(object),
    mayHave: (name: Buffer) => JSON.stringify(object).includes(name.toString()),
  };
  const read = { revision: 1, object: () => object };
  const place = { slab: NOWHERE, slabNumber: 0, offset: 0 };
  return { type, storageKey, namespace, name, ...place, ...read, ...unread, kept: () => read };
}
