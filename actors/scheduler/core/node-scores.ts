// What the scoring plug-ins say of the nodes where a pod can go, added up by weight. Pure; what a node was given is remembered
// with it until it changes, for the pods that are like this one.
import type { ClusterView, NodeScorer, Profile } from '../framework/framework.ts';
import { SCORE_MAX } from '../framework/framework.ts';
import { type NodeQuestion, NodeQuestions } from '../nodes/node-answers.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type CycleTiming, NO_TIMING } from './cycle-timing.ts';

const ROOM_AT_FIRST = 128;

type Scorers = readonly (NodeScorer | null)[];

export class NodeScores {
  private readonly timing: CycleTiming;
  private readonly questions = new NodeQuestions();
  /** Scratch, reused from pod to pod. */
  private totals = new Float64Array(ROOM_AT_FIRST);
  private raw = new Float64Array(ROOM_AT_FIRST);
  private readonly open: NodeInfo[] = [];

  constructor(timing: CycleTiming = NO_TIMING) {
    this.timing = timing;
  }

  /** The totals, in the order of the nodes; good until the next call. */
  of(pod: PodInfo, profile: Profile, cluster: ClusterView, feasible: readonly NodeInfo[]): Float64Array {
    const { timing } = this;
    const { schedulerName, scores } = profile;
    if (this.totals.length < feasible.length) {
      this.totals = new Float64Array(2 * feasible.length);
      this.raw = new Float64Array(2 * feasible.length);
    }
    const beganMs = timing.nowMs();
    const scorers = scores.map(({ plugin }) => plugin.prepareScore(pod, cluster, feasible));
    timing.point(schedulerName, 'PreScore', 'Success', beganMs);
    const preparedMs = timing.nowMs();
    const question = this.questions.of(schedulerName, textOf(scorers, profile));
    if (question === undefined) this.add(scorers, profile, feasible);
    else this.addUnanswered(question, scorers, profile, feasible);
    timing.point(schedulerName, 'Score', 'Success', preparedMs);
    return this.totals;
  }

  /** Fills `totals` for these nodes. */
  private add(scorers: Scorers, { scores }: Profile, nodes: readonly NodeInfo[]): void {
    const { totals, raw } = this;
    const count = nodes.length;
    totals.fill(0, 0, count);
    scorers.forEach((scorer, index) => {
      if (scorer === null) return;
      const { weight } = scores[index]!;
      for (let at = 0; at < count; at++) raw[at] = scorer.score(nodes[at]!);
      normalizeScores(raw, nodes, scorer.normalize);
      for (let at = 0; at < count; at++) totals[at]! += weight * raw[at]!;
    });
  }

  /** The same, asking only about those that have changed since the question was asked of them. */
  private addUnanswered(
    question: NodeQuestion,
    scorers: Scorers,
    profile: Profile,
    feasible: readonly NodeInfo[],
  ): void {
    const { open, totals } = this;
    open.length = 0;
    for (const node of feasible) if (node.answered.scoreAsked !== question) open.push(node);
    if (open.length > 0) {
      this.add(scorers, profile, open);
      for (let at = 0; at < open.length; at++) {
        const { answered } = open[at]!;
        answered.score = totals[at]!;
        answered.scoreAsked = question;
      }
    }
    if (open.length === feasible.length) return;
    for (let at = 0; at < feasible.length; at++) totals[at] = feasible[at]!.answered.score;
  }
}

/** What is the same for all pods that are scored alike on a node, whatever other nodes there are; undefined: not told. */
function textOf(scorers: Scorers, { scores }: Profile): string | undefined {
  let text = '';
  for (let at = 0; at < scorers.length; at++) {
    const scorer = scorers[at]!;
    if (scorer === null) continue;
    if (scorer.ofNodeAlone === undefined || scorer.normalize !== 'none') return undefined;
    text += `${scores[at]!.plugin.name} ${scorer.ofNodeAlone};`;
  }
  return text;
}

/** Raw scores of these nodes become 0 to SCORE_MAX, in place. */
export function normalizeScores(scores: Float64Array, nodes: readonly NodeInfo[], how: NodeScorer['normalize']): void {
  if (how === 'none') return;
  const count = nodes.length;
  if (typeof how === 'function') {
    how(scores, count, nodes);
    return;
  }
  let highest = 0;
  for (let at = 0; at < count; at++) highest = Math.max(highest, scores[at]!);
  for (let at = 0; at < count; at++) {
    const scaled = highest === 0 ? 0 : Math.floor((scores[at]! * SCORE_MAX) / highest);
    scores[at] = how === 'lowest' ? SCORE_MAX - scaled : scaled;
  }
}
