// What a scheduler would say about a pod now, extenders included: one answer for whoever asks, over HTTP or on the command line.
// Decides nothing and changes nothing. Bounded: so many questions at once, so many nodes in an answer.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { NodeAnswer } from '../core/decision.ts';
import { byTotal, Explaining, type NodeExplanation } from '../core/explanation.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';
import type { Extenders } from '../extenders/extenders.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { readPod } from '../pods/pod-info.ts';

/** Under this name extenders stand among the plug-ins, all together. */
const EXTENDERS = 'Extenders';
/** Each looks at every node, and may wait for extenders. */
const ASKED_AT_ONCE_MAX = 4;

export interface WhatIf {
  /** `<namespace>/<name>`. */
  readonly pod: string;
  readonly schedulerName: string;
  readonly nodesTotal: number;
  readonly nodesFeasible: number;
  /** How many nodes each refuses. */
  readonly refusedBy: Readonly<Record<string, number>>;
  /** Whether extenders have a word about the pod, and gave it; or why they could not. */
  readonly extenders: 'none' | 'asked' | `failed: ${string}`;
  /** The best first, then those that are refused; the first of them where the answer is limited. */
  readonly nodes: readonly NodeExplanation[];
  readonly nodesLeftOut: number;
}

export class WhatIfs {
  readonly #core: SchedulingCore;
  readonly #extenders: Pick<Extenders, 'judgeNodes' | 'nodes'> | undefined;
  readonly #timers: Timers;
  #open = 0;

  constructor(core: SchedulingCore, extenders: Pick<Extenders, 'judgeNodes' | 'nodes'> | undefined, timers: Timers) {
    this.#core = core;
    this.#extenders = extenders;
    this.#timers = timers;
  }

  /**
   * About a pod as it is stored, or would be; whether it has a node does not matter. `nodesMax`: in the answer. Undefined: no
   * profile is for the pod. Rejects with OrchError Overloaded.
   */
  async answer(object: JsonObject, nodesMax = Number.POSITIVE_INFINITY): Promise<WhatIf | undefined> {
    if (this.#open >= ASKED_AT_ONCE_MAX)
      throw new OrchError('Overloaded', 'too many questions to the scheduler are open');
    this.#open++;
    try {
      return await this.#answer(object, nodesMax);
    } finally {
      this.#open--;
    }
  }

  async #answer(object: JsonObject, nodesMax: number): Promise<WhatIf | undefined> {
    const explained = await this.#explain(object);
    if (explained === undefined) return undefined;
    const { key: pod, schedulerName } = readPod(object);
    const { nodes, extenders } = await this.#withExtenders(object, explained);
    const refusedBy: Record<string, number> = {};
    for (const { refusals } of nodes) {
      for (const { plugin } of refusals) refusedBy[plugin] = (refusedBy[plugin] ?? 0) + 1;
    }
    const shown = nodes.slice(0, nodesMax);
    return {
      pod,
      schedulerName,
      nodesTotal: nodes.length,
      nodesFeasible: nodes.filter(({ refusals }) => refusals.length === 0).length,
      refusedBy,
      extenders,
      nodes: shown,
      nodesLeftOut: nodes.length - shown.length,
    };
  }

  async #explain(object: JsonObject): Promise<readonly NodeExplanation[] | undefined> {
    for (const explaining = new Explaining(object); ; ) {
      const explained = this.#core.explainInTurns(explaining);
      if (explained !== 'unfinished') return explained;
      await new Promise<void>((resolve) => this.#timers.soon(resolve));
      // Nobody else may have anything to do with the scheduler meanwhile.
      this.#core.cluster.topology.countOn();
    }
  }

  async #withExtenders(
    object: JsonObject,
    explained: readonly NodeExplanation[],
  ): Promise<Pick<WhatIf, 'nodes' | 'extenders'>> {
    const pod = readPod({ ...object, spec: { ...asObject(object.spec), nodeName: undefined } }, true);
    const feasible = explained
      .filter(({ refusals }) => refusals.length === 0)
      .map(({ node }) => this.#core.cluster.node(node))
      .filter((node): node is NodeInfo => node !== undefined);
    if (this.#extenders?.judgeNodes(pod) !== true) return { nodes: explained, extenders: 'none' };
    const answer = await this.#extenders.nodes(pod, feasible);
    if (answer instanceof Error) return { nodes: explained, extenders: `failed: ${answer.message}` };
    return { nodes: explained.map((each) => withAnswer(each, answer)).sort(byTotal), extenders: 'asked' };
  }
}

function withAnswer(explained: NodeExplanation, { rejections, scores }: NodeAnswer): NodeExplanation {
  const { node } = explained;
  const refusals = rejections
    .filter((rejection) => rejection.node.name === node)
    .map(({ status: { reasons, code } }) => ({ plugin: EXTENDERS, reasons, resolvable: code === 'unschedulable' }));
  if (refusals.length > 0) return { ...explained, refusals, scores: [], total: 0 };
  const score = scores.get(node);
  if (score === undefined) return explained;
  const added = { plugin: EXTENDERS, score, weight: 1 };
  return { ...explained, scores: [...explained.scores, added], total: explained.total + score };
}
