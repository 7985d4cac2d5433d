// The watch load: watchers and writers, at a steady rate or flat out. Writes carry a number that the events they cause
// repeat, by which every watcher's events are counted and their order checked and, at sampled watchers, timed. Both ends
// of a latency are this process's clock. How watches are opened is in watch-opening.ts.

import { type DeliveryFaults, DeliveryOrder, WriteNumbers } from '../delivery-order.ts';
import type { EventEncoding, LoadProgress, LoadResult, WatchJob } from '../load-protocol.ts';
import { processUsage } from '../process-usage.ts';
import { type Connection, type ConnectionSink, Connector } from './connection.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { Measurement } from './measurement.ts';
import { SequenceScanner } from './sequence-scanner.ts';
import { openWatches } from './watch-opening.ts';
import { Writer, type WriterLoad } from './watch-writer.ts';

/** What stands before the number in an event: the members of a map, as each encoding writes them. */
const MARKERS: Readonly<Record<EventEncoding, Buffer>> = {
  json: Buffer.from('"seq":"'),
  protobuf: Buffer.from('\n\x03seq\x12\x08', 'latin1'),
};
const RATE_TICK_MS = 2;
/** Watches whose headers come with the first event only are not waited for longer. */
const WATCH_OPEN_MS = 5_000;
const UNTIMED = -1;
const PROGRESS_MS = 500;

/** Runs the job; tells how it goes about once a second. Rejects when a watch or a writer is refused. */
export async function runWatchLoad(job: WatchJob, tell: (progress: LoadProgress) => void): Promise<LoadResult> {
  const load = new WatchLoad(job);
  const connector = new Connector(job.endpoint);
  const reopen = (writer: Writer): Promise<Connection> => connector.open(writer);
  const writers = Array.from({ length: job.writers }, (_, index) => new Writer(load, job, index, reopen));
  const connections: Pick<Connection, 'close'>[] = [];
  try {
    connections.push(...(await openWatches(job, connector, load.watchers)));
    await load.watchesOpen();
    await connector.openMany(writers, (writer, connection) => writer.attach(connection));
    return await load.run(writers, tell);
  } finally {
    for (const connection of connections) connection.close();
    for (const writer of writers) writer.close();
  }
}

function serverRss({ serverPid }: WatchJob): number | undefined {
  return serverPid === undefined ? undefined : processUsage(serverPid)?.rssBytes;
}

class WatchLoad implements WriterLoad {
  readonly watchers: readonly Watcher[];
  readonly #job: WatchJob;
  readonly #measurement: Measurement;
  readonly #ackToSeen = new LatencyHistogram();
  readonly #sentToSeen = new LatencyHistogram();
  readonly #sentToAck = new LatencyHistogram();
  readonly #sentMs: Float64Array;
  /** When each write was acknowledged, by its number; UNTIMED before. */
  readonly #acknowledgedMs: Float64Array;
  readonly #numbers: WriteNumbers;
  /** Whether a write's first event has been seen; used where only that one counts. */
  readonly #seen: Uint8Array;
  readonly #idle: Writer[] = [];
  #openWatches = 0;
  #opened: (() => void) | undefined;
  #sent = 0;
  #acknowledged = 0;
  #delivered = 0;
  #bodyBytes = 0;
  #errors = 0;
  #firstError: string | undefined;
  #startedMs = 0;
  #rssBytes: number | undefined;
  /** At the end of the warm-up. */
  #base = { delivered: 0, acknowledged: 0, bodyBytes: 0 };
  #writing = false;
  #finish: (() => void) | undefined;

  constructor(job: WatchJob) {
    this.#job = job;
    this.#measurement = new Measurement(job.serverPid);
    this.#acknowledgedMs = new Float64Array(job.bounds.count).fill(UNTIMED);
    this.#sentMs = new Float64Array(job.bounds.count);
    this.#seen = new Uint8Array(job.firstEventOnly ? job.bounds.count : 0);
    this.#numbers = new WriteNumbers(job.bounds.count, job.writers);
    const marker = MARKERS[job.encoding ?? 'json'];
    this.watchers = Array.from({ length: job.watchers }, (_, index) => {
      const order = job.firstEventOnly ? undefined : new DeliveryOrder(this.#numbers);
      return new Watcher(this, marker, index % job.sampleEvery === 0, order);
    });
  }

  /** Resolves when every watch has answered its headers, or 5 s have passed. */
  watchesOpen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        if (this.#firstError === undefined) resolve();
        else reject(new Error(this.#firstError));
      };
      const timer = setTimeout(settle, WATCH_OPEN_MS);
      this.#opened = settle;
      if (this.#openWatches >= this.#job.watchers) settle();
    });
  }

  async run(writers: readonly Writer[], tell: (progress: LoadProgress) => void): Promise<LoadResult> {
    const { bounds, drainSeconds, writesPerSecond } = this.#job;
    this.#idle.push(...writers);
    this.#writing = true;
    this.#startedMs = performance.now();
    const tick = writesPerSecond === undefined ? undefined : setInterval(() => this.#pump(), RATE_TICK_MS);
    const news = setInterval(() => tell(this.#progress()), PROGRESS_MS);
    if (bounds.warmupSeconds === 0) this.#beginMeasuring();
    const timers = [
      setTimeout(() => this.#beginMeasuring(), bounds.warmupSeconds * 1000),
      setTimeout(() => this.#stopWriting(), (bounds.warmupSeconds + bounds.seconds) * 1000),
      setTimeout(() => this.#finish?.(), (bounds.warmupSeconds + bounds.seconds + drainSeconds) * 1000),
    ];
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      this.#pump();
    });
    for (const timer of timers) clearTimeout(timer);
    clearInterval(tick);
    clearInterval(news);
    if (writesPerSecond === 0) this.#rssBytes = serverRss(this.#job);
    return this.#result();
  }

  /** Hands writes to idle writers as the rate, the window and the bounds allow. */
  #pump(): void {
    const { bounds, watchers, windowWrites, writesPerSecond } = this.#job;
    let allowed = Math.min(bounds.count, Math.floor(this.#delivered / watchers) + windowWrites);
    if (writesPerSecond !== undefined) {
      const elapsedSeconds = (performance.now() - this.#startedMs) / 1000;
      allowed = Math.min(allowed, Math.ceil(elapsedSeconds * writesPerSecond));
    }
    while (this.#writing && this.#sent < allowed && this.#idle.length > 0) {
      const nowMs = performance.now();
      const writer = this.#idle.pop()!;
      if (!writer.isFresh(nowMs)) continue;
      this.#sentMs[this.#sent] = nowMs;
      this.#numbers.assign(this.#sent, writer.index);
      writer.write(this.#sent);
      this.#sent += 1;
    }
    if (this.#writing && this.#sent >= bounds.count) this.#stopWriting();
    this.#finishWhenDrained();
  }

  onWatchOpened(status: number): void {
    this.#openWatches += 1;
    if (status !== 200) this.onError(`a watch was answered ${status}`);
    if (this.#openWatches >= this.#job.watchers || status !== 200) this.#opened?.();
  }

  onAcknowledged(writer: Writer, sequence: number, error: string | undefined): void {
    this.#acknowledged += 1;
    const nowMs = performance.now();
    this.#acknowledgedMs[sequence] = nowMs;
    if (this.#measurement.running) this.#sentToAck.record(nowMs - this.#sentMs[sequence]!);
    if (error !== undefined) {
      this.onError(error);
      this.#stopWriting();
    }
    this.#idle.push(writer);
    if (this.#finish !== undefined) this.#pump();
  }

  /** A piece of a watch's body with so many events in it. */
  onEvents(count: number, bytes: number): void {
    this.#bodyBytes += bytes;
    if (!this.#job.firstEventOnly) this.#delivered += count;
    // At a steady rate the timer sends.
    if (this.#job.writesPerSecond === undefined || !this.#writing) this.#pump();
  }

  /** False for a number that an object had before this load. */
  wasSent(sequence: number): boolean {
    return sequence < this.#sent;
  }

  onSampled(sequence: number): void {
    if (this.#job.firstEventOnly) {
      if (this.#seen[sequence] === 1) return;
      this.#seen[sequence] = 1;
      this.#delivered += 1;
    }
    if (!this.#measurement.running) return;
    // An event may overtake the acknowledgement of its write on another connection: that is no delay.
    const nowMs = performance.now();
    const acknowledgedMs = this.#acknowledgedMs[sequence]!;
    this.#ackToSeen.record(acknowledgedMs === UNTIMED ? 0 : nowMs - acknowledgedMs);
    this.#sentToSeen.record(nowMs - this.#sentMs[sequence]!);
  }

  onError(message: string): void {
    this.#errors += 1;
    this.#firstError ??= message;
  }

  /** The server has closed a connection that was not needed for a while; a new one is on its way. */
  onWriterAway(writer: Writer): void {
    const at = this.#idle.indexOf(writer);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  onWriterBack(writer: Writer): void {
    // Behind those that are in use.
    this.#idle.unshift(writer);
    if (this.#finish !== undefined) this.#pump();
  }

  /** Without its writers a load has nothing more to measure. */
  onWriterLost(error: Error): void {
    this.onError(`the writer's connection was lost: ${error.message}`);
    this.#writing = false;
    this.#finish?.();
  }

  #beginMeasuring(): void {
    if (this.#measurement.running) return;
    this.#measurement.begin(performance.now());
    this.#base = { delivered: this.#delivered, acknowledged: this.#acknowledged, bodyBytes: this.#bodyBytes };
  }

  #stopWriting(): void {
    this.#writing = false;
    this.#finishWhenDrained();
  }

  #finishWhenDrained(): void {
    if (this.#writing || this.#acknowledged < this.#sent) return;
    if (this.#delivered >= this.#sent * this.#job.watchers) this.#finish?.();
  }

  #progress(): LoadProgress {
    const { bounds } = this.#job;
    return {
      progress: {
        elapsedSeconds: (performance.now() - this.#startedMs) / 1000,
        totalSeconds: bounds.warmupSeconds + bounds.seconds,
        operations: this.#delivered,
        errors: this.#errors,
      },
    };
  }

  /** Over all watchers. Where only the first event of a write counts there is no order to check. */
  #faults(): DeliveryFaults {
    if (this.#job.firstEventOnly) {
      return { lost: Math.max(0, this.#sent * this.#job.watchers - this.#delivered), duplicated: 0, outOfOrder: 0 };
    }
    const total = { lost: 0, duplicated: 0, outOfOrder: 0 };
    for (const watcher of this.watchers) {
      const { lost, duplicated, outOfOrder } = watcher.order!.faults();
      total.lost += lost;
      total.duplicated += duplicated;
      total.outOfOrder += outOfOrder;
    }
    return total;
  }

  #result(): LoadResult {
    const base = this.#base;
    const faults = this.#faults();
    const wrong = faults.lost + faults.duplicated + faults.outOfOrder;
    const unopened = Math.max(0, this.#job.watchers - this.#openWatches);
    if (unopened > 0) this.#firstError ??= `${unopened} watches were never answered`;
    if (wrong > 0) {
      const { lost, duplicated, outOfOrder } = faults;
      this.#firstError ??= `${lost} events never came, ${duplicated} came twice, ${outOfOrder} out of order`;
    }
    return {
      operations: this.#delivered - base.delivered,
      writes: this.#acknowledged - base.acknowledged,
      latency: this.#ackToSeen.summary(),
      sentToSeen: this.#sentToSeen.summary(),
      writeLatency: this.#sentToAck.summary(),
      bodyBytes: this.#bodyBytes - base.bodyBytes,
      errors: this.#errors + wrong + unopened,
      faults,
      buckets: this.#sentToSeen.buckets(),
      ...(this.#rssBytes === undefined ? {} : { rssBytes: this.#rssBytes }),
      ...(this.#firstError === undefined ? {} : { firstError: this.#firstError }),
      ...this.#measurement.end(performance.now()),
    };
  }
}

class Watcher implements ConnectionSink {
  readonly order: DeliveryOrder | undefined;
  readonly #load: WatchLoad;
  readonly #scanner: SequenceScanner;
  /** Events in the piece at hand. */
  #count = 0;

  constructor(load: WatchLoad, marker: Buffer, sampled: boolean, order: DeliveryOrder | undefined) {
    this.#load = load;
    this.order = order;
    this.#scanner = new SequenceScanner(marker, (sequence) => {
      if (!load.wasSent(sequence)) return;
      this.#count += 1;
      order?.see(sequence);
      if (sampled) load.onSampled(sequence);
    });
  }

  onHead(status: number): void {
    this.#load.onWatchOpened(status);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#count = 0;
    this.#scanner.feed(buffer, start, end);
    this.#load.onEvents(this.#count, end - start);
  }

  onEnd(): void {
    this.#load.onError('the server ended a watch');
  }

  onLost(error: Error): void {
    this.#load.onError(`a watch was lost: ${error.message}`);
  }
}
