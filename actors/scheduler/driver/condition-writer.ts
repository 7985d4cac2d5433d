// Keeps the PodScheduled condition of pods that fit nowhere. Writes only when the condition would say something else,
// from the newest state of the pod, and only while it waits in the queue. Never waited for, as the events.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import type { FailureReason } from '../core/decision.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { BestEffortWrites } from './best-effort-writes.ts';
import { type ClusterPort, isTrouble, UNANSWERED } from './cluster-port.ts';

const CONDITION_TYPE = 'PodScheduled';
const OK = 200;
const CONFLICT = 409;
/** A conflict means that a newer state of the pod is on its way here. */
const CONFLICT_RETRY_MS = 250;
const TRIES_MAX = 3;
/** A server that is away or has too much to do is asked again, less and less often: nobody may try the pod again for long. */
const TROUBLE_RETRY_FIRST_MS = 1_000;
const TROUBLE_RETRY_MAX_MS = 60_000;

export interface ConditionWriterParts {
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly writes: BestEffortWrites;
  /** The newest state of a pod that waits in the queue; undefined when it does not. */
  readonly queuedPod: (key: string, uid: string) => PodInfo | undefined;
}

/** What a pod's condition shall say. */
interface Wanted {
  readonly uid: string;
  /** The node the pod was promised room on; empty takes that back, undefined leaves it. */
  readonly nominated: string | undefined;
  readonly reason: FailureReason;
  readonly message: string;
  triesLeft: number;
  troubleRetryMs: number;
}

export class ConditionWriter {
  private readonly parts: ConditionWriterParts;
  /** By the pod's key, only while its write waits, is under way or is to be repeated. */
  private readonly wanted = new Map<string, Wanted>();

  constructor(parts: ConditionWriterParts) {
    this.parts = parts;
  }

  /** The pod could not be scheduled; its condition shall say why, and its status where it was promised room. */
  unscheduled(pod: PodInfo, reason: FailureReason, message: string, nominated: string | undefined): void {
    const patience = { triesLeft: TRIES_MAX, troubleRetryMs: TROUBLE_RETRY_FIRST_MS };
    const wanted = { uid: pod.uid, nominated, reason, message, ...patience };
    // What was to be said before, and could not be, is no longer so.
    this.wanted.delete(pod.key);
    if (statusPatch(pod, wanted, '') === null) return;
    this.wanted.set(pod.key, wanted);
    this.offer(pod.key);
  }

  private offer(key: string): void {
    const taken = this.parts.writes.offer(key, async () => {
      const wanted = this.wanted.get(key);
      if (wanted === undefined) return true;
      const code = await this.write(key, wanted).catch(() => UNANSWERED);
      if (this.wanted.get(key) !== wanted) return true;
      if (code === CONFLICT && --wanted.triesLeft > 0) this.repeatLater(key, wanted, CONFLICT_RETRY_MS);
      else if (isTrouble(code)) {
        this.repeatLater(key, wanted, wanted.troubleRetryMs);
        wanted.troubleRetryMs = Math.min(TROUBLE_RETRY_MAX_MS, 2 * wanted.troubleRetryMs);
      } else this.wanted.delete(key);
      return code !== UNANSWERED && (code < 400 || code === CONFLICT);
    });
    if (!taken) this.wanted.delete(key);
  }

  private repeatLater(key: string, wanted: Wanted, delayMs: number): void {
    this.parts.timers.after(delayMs, () => {
      if (this.wanted.get(key) === wanted) this.offer(key);
    });
  }

  /** Answers the HTTP status code; 200 as well when there is nothing to write any more. */
  private async write(key: string, wanted: Wanted): Promise<number> {
    const { port, clock, queuedPod } = this.parts;
    const pod = queuedPod(key, wanted.uid);
    if (pod === undefined) return OK;
    const patch = statusPatch(pod, wanted, timestampOf(clock.nowMs()));
    return patch === null ? OK : port.patchPodStatus(pod.namespace, pod.name, patch);
  }
}

/**
 * Null when the status says so already. The whole list goes into the merge patch, since that replaces lists; uid and
 * resourceVersion make it fail rather than undo what someone else has changed since.
 */
function statusPatch(pod: PodInfo, { nominated, reason, message }: Wanted, now: string): object | null {
  const conditions = changedConditions(pod.conditions, reason, message, now);
  const nomination = nominated === undefined || nominated === pod.nominatedNode ? undefined : nominated || null;
  if (conditions === null && nomination === undefined) return null;
  const { uid, resourceVersion } = pod;
  const status = {
    ...(conditions === null ? {} : { conditions }),
    ...(nomination === undefined ? {} : { nominatedNodeName: nomination }),
  };
  return { metadata: { uid, ...(resourceVersion === '' ? {} : { resourceVersion }) }, status };
}

/** The list with the one condition changed or added; null when it already says so. */
function changedConditions(
  conditions: readonly unknown[],
  reason: FailureReason,
  message: string,
  now: string,
): readonly unknown[] | null {
  const at = conditions.findIndex((condition) => asObject(condition).type === CONDITION_TYPE);
  const before: JsonObject = at < 0 ? {} : asObject(conditions[at]);
  const sameStatus = before.status === 'False';
  if (sameStatus && before.reason === reason && before.message === message) return null;
  const lastTransitionTime = sameStatus ? asText(before.lastTransitionTime) || now : now;
  const after = { type: CONDITION_TYPE, status: 'False', lastProbeTime: null, lastTransitionTime, reason, message };
  return at < 0 ? [...conditions, after] : conditions.with(at, after);
}
