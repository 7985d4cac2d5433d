// The scheduler's pure core: what is known of the cluster, which pods need a node, and the decision for the next of
// them. No I/O, no clock, no timers: the actor (scheduler.ts) and the scheduler that runs alone (remote/) feed it the same calls.
// Invariant: a pod of ours is in the queue or placed (assumed or bound), never both.

import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Profile } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { type PodInfo, podKey, readPod } from '../pods/pod-info.ts';
import { AddedPods } from './added-pods.ts';
import { ClusterState, type PlacedPod } from './cluster-state.ts';
import type { CoreOptions } from './core-options.ts';
import { NO_TIMING } from './cycle-timing.ts';
import type {
  BindingEnd,
  Decision,
  FailDecision,
  NodeAnswer,
  NodeQuestion,
  Question,
  VictimAnswer,
  VictimQuestion,
} from './decision.ts';
import { Explaining, type NodeExplanation } from './explanation.ts';
import { KeptRoom } from './kept-room.ts';
import { ListedObjects } from './listed-objects.ts';
import { type Choice, type NoChoice, NodeChooser, UNFINISHED } from './node-choice.ts';
import { OpenBindings } from './open-bindings.ts';
import { failedChoice, isShown, OpenQuestions, type Outsiders, stillThere } from './open-questions.ts';
import { type IncomingReason, QUEUE_DEFAULTS, type QueuedPod, type QueueName, SchedulingQueue } from './queue.ts';
import { TimedProfiles } from './timed-profile.ts';

const ASSUMED_MAX_MS = 30_000;

export interface CoreCounts extends Readonly<Record<QueueName, number>> {
  readonly assumed: number;
  readonly placed: number;
  readonly nodes: number;
}

export class SchedulingCore {
  readonly cluster: ClusterState;
  /** While a new list is read: what it held so far. */
  readonly listed = new ListedObjects();
  private readonly profiles: TimedProfiles;
  private readonly assumedMaxMs: number;
  private readonly queue: SchedulingQueue;
  private readonly chooser: NodeChooser;
  private readonly room: KeptRoom;
  private readonly outsiders: Outsiders | undefined;
  private readonly questions = new OpenQuestions();
  private readonly refused = new OpenBindings();
  private readonly added = new AddedPods();
  /** ClusterEvents since the last `advance`: one pass over the unschedulable pods serves them all. */
  private events = 0;
  /** To make room for the pod that was last tried takes longer than a turn: it is to be tried again in the next. */
  protected seeksRoom = false;

  constructor(options: CoreOptions) {
    const { timing = NO_TIMING, assumedMaxMs = ASSUMED_MAX_MS } = options;
    this.profiles = new TimedProfiles(options.profiles, timing);
    this.assumedMaxMs = assumedMaxMs;
    this.outsiders = options.outsiders;
    this.cluster = new ClusterState(options.dialect, options.outsiders?.seeNodes);
    this.queue = new SchedulingQueue(options.profiles[0]!.queueSort, options.queue ?? QUEUE_DEFAULTS);
    const { random, percentageOfNodesToScore: sampledPercent = 0, prefersNominatedNode = false } = options;
    this.chooser = new NodeChooser(random, { sampledPercent, prefersNominatedNode }, timing);
    const { cluster, profiles } = this;
    const onEvents = (events: number) => {
      this.events |= events;
    };
    this.room = new KeptRoom({ cluster, profiles, timing, assumedMaxMs, onEvents });
  }

  /** Nodes looked at since the start: the measure of work for bounding a turn. */
  get nodesExamined(): number {
    return this.chooser.nodesExamined;
  }

  counts(): CoreCounts {
    const { placedCount, assumedCount, nodes } = this.cluster;
    return { ...this.queue.counts(), assumed: assumedCount, placed: placedCount, nodes: nodes.length };
  }

  /** Pods that came into a queue for a reason since the start. */
  incoming(queue: QueueName, reason: IncomingReason): number {
    return this.queue.incoming(queue, reason);
  }

  /** The newest state of a pod that waits in the queue; undefined when it does not. */
  queuedPod(key: string, uid: string): PodInfo | undefined {
    const pod = this.queue.get(key)?.pod;
    return pod?.uid === uid ? pod : undefined;
  }

  /** The node that a pod is promised room on; undefined: none. */
  readonly promisedNode = (key: string): string | undefined => this.room.nominations.nodeFor(key);

  /** A pod exists in this state now. */
  setPod(object: JsonObject, nowMs: number): void {
    const pod = readPod(object, isShown(object, this.outsiders));
    this.listed.note(`pods/${pod.key}`);
    if (pod.nodeName !== '') this.setBoundPod(pod);
    else this.setUnboundPod(pod, nowMs);
  }

  /** A pod exists no more. */
  removePod(namespace: string, name: string): void {
    const key = podKey(namespace, name);
    this.listed.forget(`pods/${key}`);
    this.dropPod(key);
  }

  /** A node exists in this state now. */
  setNode(name: string, object: JsonObject): void {
    this.listed.note(`nodes/${name}`);
    this.events |= this.cluster.setNode(name, object);
  }

  /** A node exists no more. */
  removeNode(name: string): void {
    this.listed.forget(`nodes/${name}`);
    this.events |= this.cluster.removeNode(name);
  }

  /** An object of another type exists in this state now. */
  setObject(storageKey: string, namespace: string, name: string, object: JsonObject): void {
    this.listed.note(`${storageKey}/${namespace}/${name}`);
    this.events |= this.cluster.setObject(storageKey, namespace, name, object);
  }

  /** An object of another type exists no more. */
  removeObject(storageKey: string, namespace: string, name: string): void {
    this.listed.forget(`${storageKey}/${namespace}/${name}`);
    this.events |= this.cluster.removeObject(storageKey, namespace, name);
  }

  /** Begins a complete list, given by `setPod`, `setNode` and `setObject`. Queue and assumptions stay. */
  beginList(): void {
    this.listed.begin();
  }

  /** Ends the list: what it did not hold exists no more. */
  endList(): void {
    const listed = this.listed.end();
    if (listed === undefined) return;
    const { queue, questions, refused, cluster } = this;
    for (const key of [...queue.keys(), ...questions.keys(), ...refused.keys(), ...cluster.placedKeys()]) {
      if (!listed.has(`pods/${key}`)) this.dropPod(key);
    }
    for (const name of this.cluster.presentNodeNames()) {
      if (!listed.has(`nodes/${name}`)) this.removeNode(name);
    }
    this.events |= this.cluster.objects.removeUnless((key, namespace, name) =>
      listed.has(`${key}/${namespace}/${name}`),
    );
  }

  /** Does what is due: expires assumptions, ends backoffs, moves the pods that the events since could help. */
  advance(nowMs: number): void {
    for (const placed of this.cluster.expired(nowMs)) this.giveUp(placed, nowMs);
    for (const queued of this.refused.takeDue(nowMs)) this.queue.requeueBackoff(queued, nowMs);
    this.queue.moveOnEvents(this.events, nowMs, (pod) => this.added.mayHelp(pod, this.cluster.topology));
    this.events = 0;
    this.added.clear();
    this.queue.flush(nowMs, this.cluster.changes);
    this.cluster.topology.countOn();
  }

  /** When `advance` next has something to do by itself; undefined when never. */
  nextDueMs(): number | undefined {
    // Room that a decision has left helps others at once. Where a pod has taken some, the end of its binding comes soon.
    if ((this.events & ClusterEvent.podRemoved) !== 0 || this.cluster.topology.isCounting || this.seeksRoom) return 0;
    const never = Number.POSITIVE_INFINITY;
    const ownMs = Math.min(this.queue.nextFlushMs() ?? never, this.refused.nextDueMs());
    const dueMs = Math.min(ownMs, this.cluster.nextExpiryMs() ?? never);
    return dueMs === never ? undefined : dueMs;
  }

  /**
   * Decides about the next active pod. Undefined: there is none, or others are to be asked first and `mayAsk` is false, or what it asks
   * about other pods is still being counted, or where room could be made for it is still being looked for.
   */
  decide(nowMs: number): Decision | undefined;
  decide(nowMs: number, mayAsk: boolean): Decision | Question | undefined;
  decide(nowMs: number, mayAsk = false): Decision | Question | undefined {
    this.seeksRoom = false;
    const next = this.queue.peek();
    if (next === undefined) return undefined;
    const isAsked = this.outsiders?.judgeNodes(next) === true;
    if (isAsked && !mayAsk) return undefined;
    const queued = this.queue.pop()!;
    const { pod } = queued;
    const profile = this.profiles.ofCycle(pod.schedulerName);
    if (profile === undefined) throw new Error(`pod ${pod.key} is of no profile and was queued`);
    const { cluster, chooser } = this;
    const { nominations } = this.room;
    const changesSeen = cluster.changes;
    const found = cluster.topology.inTurns(() =>
      isAsked ? chooser.sift(pod, profile, cluster, nominations) : chooser.choose(pod, profile, cluster, nominations),
    );
    if (found === undefined || found === UNFINISHED) {
      this.seeksRoom = found === UNFINISHED;
      this.queue.putBack(queued);
      return undefined;
    }
    if ('feasible' in found) {
      this.questions.open(queued);
      return { kind: 'nodes', queued, pod, profile, ...found, changesSeen };
    }
    if (isAsked) return this.settleAsked(queued, profile, found, changesSeen, nowMs);
    return this.settleChoice(queued, profile, found, nowMs);
  }

  /** Goes on where others have answered about the nodes. Undefined: the pod is gone, or another one by now. */
  answer(question: NodeQuestion, answer: NodeAnswer | Error, nowMs: number): Decision | VictimQuestion | undefined {
    const { profile, rejections, changesSeen } = question;
    const queued = this.questions.close(question);
    if (queued === undefined) return undefined;
    if (answer instanceof Error) return this.putBack(queued, profile, failedChoice(answer), nowMs);
    const choice = this.chooser.chooseAnswered(
      queued.pod,
      profile,
      this.cluster,
      this.room.nominations,
      rejections,
      answer,
    );
    return this.settleAsked(queued, profile, choice, changesSeen, nowMs);
  }

  /** Goes on where others have answered about the victims. Undefined: the pod is gone, or another one by now. */
  answerVictims(question: VictimQuestion, answer: VictimAnswer, nowMs: number): FailDecision | undefined {
    const { profile, offer, message, helpedBy, changesSeen } = question;
    const queued = this.questions.close(question);
    if (queued === undefined) return undefined;
    const candidates = stillThere(answer);
    const room = candidates.length === 0 ? null : offer.choose(candidates);
    const found: NoChoice = { node: null, code: 'unschedulable', message, helpedBy, soughtRoom: true };
    const choice = room === null ? found : { ...found, room };
    return this.putBack(queued, profile, choice, nowMs, changesSeen);
  }

  /** Asks on where room could be made, and others have a word about it. */
  private settleAsked(
    queued: QueuedPod,
    profile: Profile,
    choice: Choice,
    changesSeen: number,
    nowMs: number,
  ): Decision | VictimQuestion {
    const { pod } = queued;
    if (choice.node !== null) return this.settleChoice(queued, profile, choice, nowMs);
    const { room, message, helpedBy } = choice;
    if (room === undefined || !('candidates' in room) || this.outsiders?.judgeVictims(pod) !== true) {
      return this.putBack(queued, profile, choice, nowMs, changesSeen);
    }
    this.questions.open(queued);
    return { kind: 'victims', queued, pod, profile, offer: room, message, helpedBy, changesSeen };
  }

  /** Takes the node for the pod, or puts the pod back. */
  private settleChoice(queued: QueuedPod, profile: Profile, choice: Choice, nowMs: number): Decision {
    if (choice.node === null) return this.putBack(queued, profile, choice, nowMs);
    const { pod } = queued;
    const { node } = choice;
    const agreed = this.room.take(queued, node, profile, nowMs);
    if (!('code' in agreed)) {
      this.noteAdded(pod, ClusterEvent.podAdded);
      return { kind: 'bind', queued, pod, node, profile, waits: agreed.waits };
    }
    const isFault = agreed.code === 'error';
    const code = isFault ? 'error' : 'unschedulable';
    const reason = isFault ? 'SchedulerError' : 'Unschedulable';
    const { reasons, helpedBy = ClusterEvent.any } = agreed;
    return this.putBack(queued, profile, { node: null, code, reason, message: reasons.join(', '), helpedBy }, nowMs);
  }

  /** What would be said about a pod now, were it without a node; undefined when no profile is for it. */
  explain(object: JsonObject): readonly NodeExplanation[] | undefined {
    const told = this.tell(new Explaining(object), Number.POSITIVE_INFINITY);
    return told === 'unfinished' ? undefined : told;
  }

  /** The same, where that takes no longer than a turn may: `unfinished` when it is to be asked again in another. */
  explainInTurns(explaining: Explaining): readonly NodeExplanation[] | undefined | 'unfinished' {
    const asked = this.cluster.topology.inTurns(() => ({ told: this.tell(explaining) }));
    return asked === undefined ? 'unfinished' : asked.told;
  }

  private tell(explaining: Explaining, askedMax?: number): readonly NodeExplanation[] | undefined | 'unfinished' {
    const profile = this.profiles.get(explaining.pod.schedulerName);
    return profile && explaining.turn(profile, this.cluster, this.room.nominations, askedMax);
  }

  /** The binding of an assumed pod is under way: its place is kept until it is settled. */
  hold(pod: PodInfo): void {
    this.room.hold(pod);
  }

  /** What was to make room for a pod failed: nothing is promised to it, and it tries again. */
  takeBackPromise(pod: PodInfo, nowMs: number): void {
    this.room.nominations.remove(pod.key);
    this.queue.retry(pod.key, nowMs);
  }

  /**
   * A binding that `decide` asked for has ended. Bound: the assumption stands until the event confirms it. Failed: the
   * pod goes to backoff. Gone or taken: the events say what became of it, and where they do not in time, it tries again.
   */
  settleBinding(pod: PodInfo, end: BindingEnd, nowMs: number): void {
    const placed = this.cluster.assumption(pod.key, pod.uid);
    if (placed === undefined) return;
    if (end.bound || end.reason === 'unanswered') {
      this.room.awaitEvent(placed, nowMs);
      return;
    }
    if (end.reason === 'failed' || end.reason === 'rejected') this.giveUp(placed, nowMs);
    else {
      this.room.free(placed);
      const { assumed } = placed;
      if (assumed === undefined || assumed.pod.deleting || assumed.pod.finished) return;
      this.refused.add(assumed, nowMs + this.assumedMaxMs);
    }
  }

  private setBoundPod(pod: PodInfo): void {
    if (pod.finished) {
      this.dropPod(pod.key);
      return;
    }
    this.leaveQueues(pod.key, pod.nodeName);
    const placed = this.cluster.placed(pod.key);
    if (placed?.assumed !== undefined) this.room.settle(placed, pod);
    this.noteAdded(pod, this.cluster.setBound(pod));
  }

  private noteAdded(pod: PodInfo, events: number): void {
    this.events |= events;
    if ((events & ClusterEvent.podAdded) !== 0) this.added.note(pod);
  }

  private setUnboundPod(pod: PodInfo, nowMs: number): void {
    const placed = this.cluster.placed(pod.key);
    if (placed?.assumed !== undefined && placed.pod.uid === pod.uid) {
      placed.assumed.pod = pod;
      return;
    }
    if (placed !== undefined) this.dropPod(pod.key);
    const ours = this.profiles.has(pod.schedulerName);
    if (ours && !pod.finished && !pod.deleting) {
      this.refused.remove(pod.key);
      this.room.nominations.renew(pod, this.queue.get(pod.key)?.pod ?? this.questions.pod(pod.key));
      if (!this.questions.renew(pod)) this.queue.set(pod, nowMs);
    } else {
      this.leaveQueues(pod.key);
    }
  }

  private leaveQueues(key: string, boundTo?: string): void {
    this.queue.remove(key);
    this.questions.drop(key);
    this.refused.remove(key);
    this.room.nominations.remove(key, boundTo);
  }

  private dropPod(key: string): void {
    this.leaveQueues(key);
    const placed = this.cluster.placed(key);
    if (placed !== undefined) this.room.free(placed);
  }

  /** Frees what an assumed pod occupies, and lets it try again after its backoff. */
  private giveUp(placed: PlacedPod, nowMs: number): void {
    this.room.free(placed);
    const queued = placed.assumed;
    if (queued === undefined || queued.pod.deleting || queued.pod.finished) return;
    this.queue.requeueBackoff(queued, nowMs);
    // Others have left for it: the room is kept on.
    this.room.nominations.renew(queued.pod, undefined);
  }

  private putBack(
    queued: QueuedPod,
    profile: Profile,
    { code: kind, reason = 'Unschedulable', message, helpedBy, room, soughtRoom = false }: NoChoice,
    nowMs: number,
    changesSeen = this.cluster.changes,
  ): FailDecision {
    const { pod } = queued;
    // What changed while others were asked would not wake it any more.
    if (kind === 'error' || changesSeen !== this.cluster.changes) this.queue.requeueBackoff(queued, nowMs);
    else this.queue.requeueUnschedulable(queued, helpedBy, this.cluster.changes, nowMs);
    const preemption = room !== undefined && 'candidates' in room ? room.choose(room.candidates) : room;
    const order =
      preemption === undefined || preemption === null ? undefined : this.room.nominations.order(pod, preemption);
    const promised = this.room.nominations.nodeFor(pod.key);
    return { kind, reason, queued, pod, profile, message, preemption: order, promised, soughtRoom };
  }
}
