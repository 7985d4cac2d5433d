// Tells users what happened to a pod, as Events of the group that events have of their own. Best effort: bounded, never waited
// for. A failure that repeats makes a series of one event instead of many, which is written at most every few seconds; another
// failure is told at once, since nobody may try the pod again for long. For the same reason what a server that is away did not
// take is told again, for some minutes.
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { Clock, Random, Timers } from '../../../runtime/environment.ts';
import type { Series } from '../../../runtime/metrics/metrics.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { BestEffortWrites } from './best-effort-writes.ts';
import { type ClusterPort, isTrouble, UNANSWERED } from './cluster-port.ts';
import type { Pace } from './pace.ts';

const REPEAT_INTERVAL_MS = 10_000;
/** What comes again after so long is no more of the same series. */
const SERIES_PAUSE_MAX_MS = 6 * 60_000;
/** Failing pods remembered; the longest silent is forgotten first. */
const SERIES_MAX = 4_096;
const NAME_LENGTH_MAX = 253;
const NANOSECONDS_PER_MS = 1_000_000;
const NOT_FOUND = 404;
const CONFLICT = 409;
/** How often a server in trouble is asked to take an event, and how long it is left alone between; as by the original. */
const TRIES_MAX = 12;
const RETRY_MS = 10_000;
/** Events that wait to be told again, all together: more of them are lost. */
const WAITING_MAX = 1_000;
/** What an event may say; longer ones are refused. */
const NOTE_BYTES_MAX = 1024;
const CUT_OFF = ' ...';
const NOTHING = (): void => {};
const INSTANCE_LENGTH_MAX = 128;

/** The event that counts the repetitions of one failure of one pod. */
interface FailureSeries {
  readonly eventName: string;
  readonly message: string;
  /** The server has it: before, there is nothing that could count. */
  isTold: boolean;
  /** How often it happened again. */
  count: number;
  /** Monotonic, as the other. */
  writtenMs: number;
  seenMs: number;
}

/** What happens to a pod, and what of that is told. */
interface Kind {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
}

const SCHEDULED: Kind = { type: 'Normal', reason: 'Scheduled', action: 'Binding' };
const PREEMPTED: Kind = { type: 'Normal', reason: 'Preempted', action: 'Preempting' };
const FAILED: Kind = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' };

interface Told extends Kind {
  readonly pod: PodInfo;
  readonly note: string;
  /** For whom it had to make room. */
  readonly related?: PodInfo;
  readonly eventName?: string;
  readonly onTold?: () => void;
  readonly onFailure?: () => void;
}

/** An event on its way. */
interface Sent {
  readonly name: string;
  readonly namespace: string;
  readonly event: () => object;
  readonly onTold: () => void;
  readonly onFailure: () => void;
  tries: number;
}

export interface EventRecorderParts {
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** The machine's name. */
  readonly host: string;
  readonly writes: BestEffortWrites;
  /** How often pods that fit nowhere are written about, all together: there may be very many of them. */
  readonly failurePace: Pace;
  /** Counts what the pace leaves out. */
  readonly dropped: Series;
}

export class EventRecorder {
  private readonly parts: EventRecorderParts;
  /** By the pod's uid, the latest last. */
  private readonly failures = new Map<string, FailureSeries>();
  /** Events that wait to be told again. */
  private waiting = 0;

  constructor(parts: EventRecorderParts) {
    this.parts = parts;
  }

  scheduled(pod: PodInfo, node: string): void {
    this.failures.delete(pod.uid);
    this.create({ ...SCHEDULED, pod, note: `Successfully assigned ${pod.key} to ${node}` });
  }

  /** A pod had to make room for another. */
  preempted(victim: PodInfo, by: PodInfo, node: string): void {
    this.create({ ...PREEMPTED, pod: victim, related: by, note: `Preempted by ${by.key} on node ${node}` });
  }

  /** The same as before within REPEAT_INTERVAL_MS, or on its way still, is only counted; what is beyond the pace is left out. */
  failed(pod: PodInfo, message: string): void {
    const nowMs = this.parts.clock.monotonicMs();
    const known = this.failures.get(pod.uid);
    const goesOn = known?.message === message && nowMs - known.seenMs < SERIES_PAUSE_MAX_MS;
    const series = goesOn ? known : undefined;
    if (series !== undefined) {
      again(series, nowMs);
      if (!series.isTold || nowMs - series.writtenMs < REPEAT_INTERVAL_MS) return;
    }
    if (this.parts.failurePace.take() > 0) {
      this.parts.dropped.add(1);
      return;
    }
    if (series !== undefined) this.repeat(pod, series, nowMs);
    else this.begin(pod, message, nowMs);
  }

  private begin(pod: PodInfo, message: string, nowMs: number): void {
    const eventName = this.eventName(pod);
    const series = { eventName, message, isTold: false, count: 0, writtenMs: nowMs, seenMs: nowMs };
    const onTold = () => {
      series.isTold = true;
    };
    const onFailure = () => this.forget(pod.uid, series);
    if (this.create({ ...FAILED, pod, note: message, eventName, onTold, onFailure })) this.keep(pod.uid, series);
  }

  private repeat(pod: PodInfo, series: FailureSeries, nowMs: number): void {
    const { port, clock, writes } = this.parts;
    const lastObservedTime = microTimeOf(clock.nowMs());
    const taken = writes.offer(series.eventName, async () => {
      const patch = { series: { count: series.count, lastObservedTime } };
      const code = await port.patchEvent(pod.namespace, series.eventName, patch);
      if (code === NOT_FOUND) this.forget(pod.uid, series);
      return succeeded(code);
    });
    if (taken) {
      series.writtenMs = nowMs;
      this.keep(pod.uid, series);
    }
  }

  private create({ pod, related, type, reason, action, note, eventName, ...told }: Told): boolean {
    const { clock, host } = this.parts;
    const { onTold = NOTHING, onFailure = NOTHING } = told;
    const name = eventName ?? this.eventName(pod);
    const { namespace } = pod;
    const atMs = clock.nowMs();
    const event = (): object =>
      reportedEvent({
        name,
        namespace,
        atMs,
        schedulerName: (related ?? pod).schedulerName,
        host,
        action,
        reason,
        type,
        regarding: reference(pod),
        note: noteOf(note),
        ...(related === undefined ? undefined : { related: reference(related) }),
      });
    return this.send({ name, namespace, event, onTold, onFailure, tries: 0 });
  }

  private send(sent: Sent): boolean {
    const { port, writes } = this.parts;
    return writes.offer(sent.name, async () => {
      const code = await port.createEvent(sent.namespace, sent.event()).catch(() => UNANSWERED);
      sent.tries++;
      // It was made by a try that nobody answered.
      const isThere = code === CONFLICT && sent.tries > 1;
      if (isThere || (!isTrouble(code) && succeeded(code))) {
        sent.onTold();
        return true;
      }
      if (!isTrouble(code) || !this.sendLater(sent)) sent.onFailure();
      return false;
    });
  }

  /** False: it is lost. */
  private sendLater(sent: Sent): boolean {
    if (sent.tries >= TRIES_MAX || this.waiting >= WAITING_MAX) return false;
    const { timers, random } = this.parts;
    this.waiting++;
    // Half by chance: those that failed together do not come back together.
    timers.after(RETRY_MS * (0.5 + random.next() / 2), () => {
      this.waiting--;
      if (!this.send(sent)) sent.onFailure();
    });
    return true;
  }

  private keep(uid: string, series: FailureSeries): void {
    this.failures.delete(uid);
    this.failures.set(uid, series);
    if (this.failures.size <= SERIES_MAX) return;
    const [longestSilent] = this.failures.keys();
    if (longestSilent !== undefined) this.failures.delete(longestSilent);
  }

  private forget(uid: string, series: FailureSeries): void {
    if (this.failures.get(uid) === series) this.failures.delete(uid);
  }

  private eventName(pod: PodInfo): string {
    return uniqueEventName(pod.name, this.parts.clock, this.parts.random);
  }
}

/**
 * `<object>.<hex>`, cut so that it stays a valid name. The number is the time in nanoseconds, those within the millisecond by
 * chance: a list of an object's events, which comes by name, tells them in the order in which they happened.
 */
export function uniqueEventName(object: string, clock: Clock, random: Pick<Random, 'next'>): string {
  const withinMs = Math.floor(random.next() * NANOSECONDS_PER_MS);
  const nanoseconds = BigInt(Math.floor(clock.nowMs())) * BigInt(NANOSECONDS_PER_MS) + BigInt(withinMs);
  const unique = nanoseconds.toString(16);
  const prefix = object.slice(0, NAME_LENGTH_MAX - unique.length - 1).replace(/[.-]+$/, '');
  return `${prefix}.${unique}`;
}

/** What a scheduler tells, and of what. */
interface Report {
  readonly name: string;
  readonly namespace: string;
  readonly atMs: number;
  /** Who tells it, and the machine's name. */
  readonly schedulerName: string;
  readonly host: string;
  readonly action: string;
  readonly reason: string;
  readonly type: Kind['type'];
  readonly regarding: object;
  readonly related?: object;
  readonly note: string;
}

/** An Event as v1 of the events' own group has it. */
export function reportedEvent({ name, namespace, atMs, schedulerName, host, ...told }: Report): object {
  return {
    metadata: { name, namespace },
    eventTime: microTimeOf(atMs),
    reportingController: schedulerName,
    reportingInstance: `${schedulerName}-${host}`.slice(0, INSTANCE_LENGTH_MAX),
    ...told,
  };
}

function again(series: FailureSeries, nowMs: number): void {
  series.count++;
  series.seenMs = nowMs;
}

/** As much of a message as an event may say. */
function noteOf(message: string): string {
  if (Buffer.byteLength(message) <= NOTE_BYTES_MAX) return message;
  const kept = Buffer.from(message).toString('utf8', 0, NOTE_BYTES_MAX - CUT_OFF.length);
  // Half a character is none.
  return `${kept.replace(/\ufffd+$/, '')}${CUT_OFF}`;
}

function succeeded(code: number): boolean {
  return code < 400;
}

function reference(pod: PodInfo): object {
  const { namespace, name, uid, resourceVersion } = pod;
  return { kind: 'Pod', namespace, name, uid, apiVersion: 'v1', resourceVersion };
}
