// The closed-loop load: every connection sends its next request when the last one has been answered. Counts what
// completes between the end of the warm-up and the end of the load; what is under way then is waited for, and has to be answered.

import type { LoadResult, RequestJob } from '../load-protocol.ts';
import { PreparedRequest } from '../request-template.ts';
import { type Connection, Connector } from './connection.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { type Lane, type LaneLoad, tooShort } from './load-lane.ts';
import { MarkerScanner } from './marker-scanner.ts';
import { type Measured, Measurement } from './measurement.ts';
import { PagedLane } from './paged-lane.ts';

/** After the load's time is up, what is still under way is waited for no longer. */
const DRAIN_SECONDS = 15;
/** A load most of whose first answers are errors ends: it would measure the wrong thing. */
const JUDGED_ANSWERS = 100;

/** Runs the job. Rejects when a connection fails at the start or most answers are errors. */
export async function runRequestLoad(job: RequestJob): Promise<LoadResult> {
  const load = new RequestLoad(job);
  const lanes: Lane[] = Array.from({ length: job.connections }, (_, index) =>
    job.pageLimit === undefined ? new RequestLane(load, job, index) : new PagedLane(load, job),
  );
  try {
    await new Connector(job.endpoint).openMany(lanes, (lane, connection) => lane.attach(connection));
    return await load.run(lanes);
  } finally {
    for (const lane of lanes) lane.close();
  }
}

class RequestLoad implements LaneLoad {
  readonly #job: RequestJob;
  readonly #latency = new LatencyHistogram();
  readonly #measurement: Measurement;
  #startMs = 0;
  #endMs = 0;
  #sent = 0;
  #answered = 0;
  #counted = 0;
  #errors = 0;
  #bodyBytes = 0;
  #firstError: string | undefined;
  /** Once the time is up: nothing more is counted. */
  #measured: Measured | undefined;
  #settle: { resolve(result: LoadResult): void; reject(error: Error): void } | undefined;

  constructor(job: RequestJob) {
    this.#job = job;
    this.#measurement = new Measurement(job.serverPid);
  }

  run(lanes: readonly Lane[]): Promise<LoadResult> {
    const { drainSeconds = DRAIN_SECONDS, bounds } = this.#job;
    const { seconds, warmupSeconds } = bounds;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      const nowMs = performance.now();
      this.#startMs = nowMs + warmupSeconds * 1000;
      this.#endMs = this.#startMs + seconds * 1000;
      const timer = setTimeout(() => this.#finish(), this.#endMs - nowMs + drainSeconds * 1000);
      timer.unref();
      if (warmupSeconds === 0) this.#measurement.begin(nowMs);
      for (const lane of lanes) lane.next(nowMs);
    });
  }

  takeSequence(): number {
    if (this.#settle === undefined || this.#measured !== undefined || this.#sent >= this.#job.bounds.count) return -1;
    this.#sent += 1;
    return this.#sent - 1;
  }

  answered(sentMs: number, nowMs: number, bodyBytes: number, error: string | undefined): void {
    if (this.#settle === undefined) return;
    this.#answered += 1;
    if (error !== undefined) {
      this.#errors += 1;
      this.#firstError ??= error;
      if (this.#answered >= JUDGED_ANSWERS && this.#errors * 2 > this.#answered) {
        this.#fail(`most requests fail: ${this.#firstError}`);
        return;
      }
    }
    if (nowMs >= this.#startMs && this.#measured === undefined) {
      if (!this.#measurement.running) this.#measurement.begin(nowMs);
      if (error === undefined) this.#count(nowMs - sentMs, bodyBytes);
    }
    if (nowMs >= this.#endMs || this.#answered >= this.#job.bounds.count)
      this.#measured ??= this.#measurement.end(nowMs);
    if (this.#measured !== undefined && this.#answered >= this.#sent) this.#finish();
  }

  #count(latencyMs: number, bodyBytes: number): void {
    this.#latency.record(latencyMs);
    this.#counted += 1;
    this.#bodyBytes += bodyBytes;
  }

  lost(error: Error): void {
    this.#fail(`a connection was lost: ${error.message}`);
  }

  #finish(): void {
    const settle = this.#settle;
    this.#settle = undefined;
    const unanswered = this.#sent - this.#answered;
    if (unanswered > 0) {
      this.#errors += unanswered;
      this.#firstError ??= `${unanswered} requests were never answered`;
    }
    settle?.resolve({
      operations: this.#counted,
      writes: this.#counted,
      latency: this.#latency.summary(),
      bodyBytes: this.#bodyBytes,
      errors: this.#errors,
      ...(this.#firstError === undefined ? {} : { firstError: this.#firstError }),
      ...(this.#measured ?? this.#measurement.end(performance.now())),
    });
  }

  #fail(message: string): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.reject(new Error(message));
  }
}

/** One connection and its turn through the objects. */
class RequestLane implements Lane {
  readonly #load: LaneLoad;
  readonly #job: RequestJob;
  readonly #index: number;
  readonly #request: PreparedRequest;
  readonly #versionScanner: MarkerScanner | undefined;
  readonly #versions: string[] = [];
  readonly #ownedObjects: number;
  #connection: Connection | undefined;
  #turn = 0;
  #slot = 0;
  #sentMs = 0;
  #status = 0;
  #bodyBytes = 0;
  #errorText = '';
  #awaitsVersion = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(load: LaneLoad, job: RequestJob, index: number) {
    this.#load = load;
    this.#job = job;
    this.#index = index;
    this.#request = PreparedRequest.compile(job.request, job.endpoint);
    this.#ownedObjects = Math.max(1, Math.floor((job.objects - 1 - index) / job.connections) + 1);
    if (job.capturesVersion) {
      this.#versionScanner = new MarkerScanner('"resourceVersion":"', (version) => {
        // The object's own version stands in front; any later one is of something else.
        if (this.#awaitsVersion) this.#versions[this.#slot] = version;
        this.#awaitsVersion = false;
      });
    }
  }

  attach(connection: Connection): void {
    this.#connection = connection;
  }

  close(): void {
    clearTimeout(this.#pause);
    this.#connection?.close();
  }

  next(nowMs: number): void {
    const sequence = this.#load.takeSequence();
    if (sequence === -1) return;
    const request = this.#request;
    request.setSequence(sequence);
    if (this.#job.objectChoice === 'owned') {
      this.#slot = this.#turn % this.#ownedObjects;
      this.#turn += 1;
      request.setObject(this.#index + this.#slot * this.#job.connections);
    } else {
      request.setObject(sequence % this.#job.objects);
    }
    if (this.#versionScanner !== undefined) request.setVersion(this.#versions[this.#slot] ?? '');
    this.#sentMs = nowMs;
    this.#connection!.send(request.bytes);
  }

  onHead(status: number): void {
    this.#status = status;
    this.#bodyBytes = 0;
    this.#errorText = '';
    this.#versionScanner?.reset();
    this.#awaitsVersion = true;
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#bodyBytes += end - start;
    if (this.#status >= 300) this.#errorText = (this.#errorText + buffer.toString('latin1', start, end)).slice(0, 500);
    else if (this.#awaitsVersion) this.#versionScanner?.feed(buffer, start, end);
  }

  onEnd(): void {
    const nowMs = performance.now();
    const error =
      this.#status >= 300 ? `${this.#status} ${this.#errorText}` : tooShort(this.#bodyBytes, this.#job.answerBytesMin);
    this.#load.answered(this.#sentMs, nowMs, this.#bodyBytes, error);
    const { pauseMs } = this.#job;
    if (pauseMs === undefined) this.next(nowMs);
    else this.#pause = setTimeout(() => this.next(performance.now()), pauseMs);
  }

  onLost(error: Error): void {
    this.#load.lost(error);
  }
}
