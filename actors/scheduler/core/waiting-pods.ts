// Pods that a permit plug-in makes wait between reservation and binding. Each waits until every plug-in that asked for it
// has allowed it, one of them rejects it, or its time is up. Pure: time comes in as numbers.
import { formatDurationMs } from '../../../values/duration.ts';
import type { PermitWait } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { refusal, type Status } from '../status.ts';

/** Who makes a pod wait, by the plug-in's name. */
export type PermitWaits = ReadonlyMap<string, PermitWait>;

/** Which pod waits. */
type WaitingPod = Pick<PodInfo, 'key' | 'uid'>;

interface Waiting {
  readonly pod: WaitingPod;
  readonly waits: PermitWaits;
  /** When the patience of each plug-in that has not allowed the pod yet ends. */
  readonly untilMs: Map<string, number>;
  readonly onDone: (status: Status | null) => void;
}

export class WaitingPods {
  private readonly byUid = new Map<string, Waiting>();

  get size(): number {
    return this.byUid.size;
  }

  /** The pod waits, for each plug-in so long at most; `onDone` is called once, with null when it may go on. */
  add(pod: WaitingPod, waits: PermitWaits, nowMs: number, onDone: (status: Status | null) => void): void {
    const { uid } = pod;
    const untilMs = new Map([...waits].map(([plugin, { waitMs }]) => [plugin, nowMs + waitMs]));
    const waiting: Waiting = { pod, waits, untilMs, onDone };
    this.byUid.set(uid, waiting);
    for (const [plugin, { begin }] of waits) {
      begin?.((status) => {
        // An answer that comes late is not of the pod's next wait.
        if (this.byUid.get(uid) !== waiting) return;
        if (status === null) this.allow(uid, plugin);
        else this.end(uid, waiting, status);
      });
    }
  }

  /** The uids of the pods that wait. */
  uids(): readonly string[] {
    return [...this.byUid.keys()];
  }

  /** The plug-in has nothing against the pod any more. */
  allow(uid: string, plugin: string): void {
    const waiting = this.byUid.get(uid);
    if (waiting === undefined || !waiting.untilMs.delete(plugin) || waiting.untilMs.size > 0) return;
    this.end(uid, waiting, null);
  }

  /** The pod is not to be bound. Answers whether it waited. */
  reject(uid: string, reason: string): boolean {
    const waiting = this.byUid.get(uid);
    if (waiting === undefined) return false;
    this.end(uid, waiting, refusal('unschedulable', 0, reason));
    return true;
  }

  /** Rejects those whose place is theirs no more: they are gone, or bound by somebody else. */
  keepOnly(hasPlace: (pod: WaitingPod) => boolean): void {
    for (const [uid, waiting] of this.byUid) {
      if (!hasPlace(waiting.pod)) this.end(uid, waiting, refusal('unschedulable', 0, 'removed'));
    }
  }

  /** Rejects those whose time is up. */
  expire(nowMs: number): void {
    for (const [uid, waiting] of this.byUid) {
      for (const [plugin, untilMs] of waiting.untilMs) {
        if (untilMs > nowMs) continue;
        const waited = formatDurationMs(waiting.waits.get(plugin)?.waitMs ?? 0);
        const reason = `rejected due to timeout after waiting ${waited} at plugin ${plugin}`;
        this.end(uid, waiting, refusal('unschedulable', 0, reason));
        break;
      }
    }
  }

  /** When `expire` next has something to do; undefined when never. */
  nextDueMs(): number | undefined {
    let dueMs: number | undefined;
    for (const { untilMs } of this.byUid.values()) {
      for (const each of untilMs.values()) dueMs = Math.min(dueMs ?? each, each);
    }
    return dueMs;
  }

  private end(uid: string, { onDone }: Waiting, status: Status | null): void {
    this.byUid.delete(uid);
    onDone(status);
  }
}
