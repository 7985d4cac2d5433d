// The pods about which others are being asked: neither queued nor placed. A question counts for as long as its pod is here.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import type { PreemptionCandidate } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Question, VictimAnswer } from './decision.ts';
import type { NoChoice } from './node-choice.ts';
import type { QueuedPod } from './queue.ts';

/** Those outside who have a word about pods besides the plug-ins. */
export interface Outsiders {
  /** About which nodes will do, or which are better. */
  readonly judgeNodes: (pod: PodInfo) => boolean;
  /** About who is evicted for it. */
  readonly judgeVictims: (pod: PodInfo) => boolean;
  /** They are told of nodes, and of those who may be evicted, as they are stored. */
  readonly seeNodes: boolean;
  readonly seeVictims: boolean;
}

/** Whether one of them may have to see the pod as it is stored. */
export function isShown(object: JsonObject, outsiders: Outsiders | undefined): boolean {
  return outsiders !== undefined && (outsiders.seeVictims || !asObject(object.spec).nodeName);
}

export class OpenQuestions {
  private readonly byKey = new Map<string, QueuedPod>();

  keys(): IterableIterator<string> {
    return this.byKey.keys();
  }

  /** The pod that is asked about under this key. */
  pod(key: string): PodInfo | undefined {
    return this.byKey.get(key)?.pod;
  }

  open(queued: QueuedPod): void {
    this.byKey.set(queued.pod.key, queued);
  }

  /** Takes back the pod of an answered question; undefined when it is gone, or another one by now. */
  close({ queued }: Question): QueuedPod | undefined {
    const { key } = queued.pod;
    if (this.byKey.get(key) !== queued) return undefined;
    this.byKey.delete(key);
    return queued;
  }

  /** What comes of the questions about it no longer counts. */
  drop(key: string): void {
    this.byKey.delete(key);
  }

  /** A pod has changed. Answers whether it is asked about; another one of its name ends the question. */
  renew(pod: PodInfo): boolean {
    const queued = this.byKey.get(pod.key);
    if (queued?.pod.uid === pod.uid) queued.pod = pod;
    else this.byKey.delete(pod.key);
    return queued?.pod === pod;
  }
}

/** Who is still there of the victims that were agreed on. Where all have left, the room that was asked for is free. */
export function stillThere(answer: VictimAnswer): readonly PreemptionCandidate[] {
  return (answer ?? [])
    .map((each) => ({ ...each, victims: each.victims.filter(({ key }) => each.node.pods.has(key)) }))
    .filter(({ node, victims }) => node.present && victims.length > 0);
}

/** The attempt ends with what went wrong outside. */
export function failedChoice({ message }: Error): NoChoice {
  return { node: null, code: 'error', message, helpedBy: 0 };
}
