// The filters of a profile, prepared for one pod: which node will do, also with pods added to it or taken from it. Pure;
// lives as long as the decision about the pod.
import type { ClusterView, FilterPlugin, FilterTrial, NodeFilter, PreparedFilter } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { bothOf, type Status } from '../status.ts';
import type { Nominations } from './nominations.ts';

export class FilterRun implements FilterTrial {
  /** A plug-in refuses the pod on all nodes. */
  readonly refused: Status | null = null;
  /** The only nodes that can do, when a plug-in knows them. */
  readonly only: PreparedFilter['only'];
  /**
   * Pods of one priority with the same text are let in by the same nodes, until those change, or others are promised room there; but
   * for the node on which the pod itself is promised room. Undefined where that can't be said.
   */
  readonly ofNodeAlone: string | undefined;
  /** How many pods were added or taken on trial. */
  changes = 0;
  private readonly pod: PodInfo;
  private readonly nominations: Nominations;
  private readonly checks: NodeFilter[] = [];
  private readonly counting: PreparedFilter[] = [];
  private readonly asksAll: boolean;

  /** @param asksAll see Profile.asksAllFilters. */
  constructor(
    pod: PodInfo,
    cluster: ClusterView,
    plugins: readonly FilterPlugin[],
    nominations: Nominations,
    asksAll = false,
  ) {
    this.asksAll = asksAll;
    this.pod = pod;
    this.nominations = nominations;
    let ofNodeAlone: string | undefined = '';
    for (const plugin of plugins) {
      const prepared = plugin.prepareFilter(pod, cluster);
      if (prepared === null) continue;
      if (typeof prepared === 'function') {
        ofNodeAlone = undefined;
        this.checks.push(prepared);
      } else if ('code' in prepared) {
        this.refused = prepared;
        return;
      } else {
        this.checks.push(prepared.check);
        if (prepared.ofNodeAlone === undefined) ofNodeAlone = undefined;
        else if (ofNodeAlone !== undefined) ofNodeAlone += `${plugin.name} ${prepared.ofNodeAlone};`;
        if (prepared.change !== undefined) this.counting.push(prepared);
        if (prepared.only !== undefined && (this.only === undefined || this.only.length > prepared.only.length)) {
          this.only = prepared.only;
        }
      }
    }
    this.ofNodeAlone = ofNodeAlone;
  }

  /** Null when the node will do, with the pods that were promised room there as well as without them. */
  check(node: NodeInfo): Status | null {
    const promised = this.nominations.size === 0 ? [] : this.nominations.before(this.pod, node.name);
    return promised.length === 0 ? this.ask(node) : (this.askBeside(node, promised) ?? this.ask(node));
  }

  change(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    this.changes++;
    for (const each of this.counting) each.change?.(pod, node, sign);
  }

  reset(): void {
    for (const each of this.counting) each.reset?.();
  }

  private askBeside(node: NodeInfo, promised: readonly PodInfo[]): Status | null {
    const fuller = node.copy();
    for (const pod of promised) {
      fuller.addPod(pod);
      this.change(pod, node, 1);
    }
    const status = this.ask(fuller);
    for (const pod of promised) this.change(pod, node, -1);
    return status;
  }

  private ask(node: NodeInfo): Status | null {
    const { checks } = this;
    for (let at = 0; at < checks.length; at++) {
      const status = checks[at]!(node);
      if (status !== null) return this.asksAll ? this.askRest(node, status, at + 1) : status;
    }
    return null;
  }

  /** The refusals of all: those behind the first one tell what else is in the way. */
  private askRest(node: NodeInfo, first: Status, from: number): Status {
    let all = first;
    for (const check of this.checks.slice(from)) {
      if (all.code === 'error') return all;
      const status = check(node);
      if (status !== null) all = bothOf(all, status);
    }
    return all;
  }
}
