// How many pods of some kind there are in each domain: for each value that the nodes' label of one key has. Kept up to
// date change by change; a domain without pods is not there. Pure.
import type { NodeInfo } from '../nodes/node-info.ts';

interface Share {
  /** The node's value of the label as it was counted; undefined where it has none. */
  domain: string | undefined;
  amount: number;
}

export class DomainCounts {
  readonly topologyKey: string;
  /** By value of the label. Never 0. */
  readonly domains = new Map<string, number>();
  /** Over all domains. */
  total = 0;
  private readonly shares = new Map<NodeInfo, Share>();

  constructor(topologyKey: string) {
    this.topologyKey = topologyKey;
  }

  /** True when no pod is counted at all, whether its node has the label or not. */
  get unused(): boolean {
    return this.shares.size === 0;
  }

  /** The amount in the domain of a node; 0 for a node without the label. */
  at(node: NodeInfo): number {
    const domain = node.labels.get(this.topologyKey);
    return domain === undefined ? 0 : (this.domains.get(domain) ?? 0);
  }

  /** The amount on a node itself. */
  onNode(node: NodeInfo): number {
    return this.shares.get(node)?.amount ?? 0;
  }

  change(node: NodeInfo, delta: number): void {
    let share = this.shares.get(node);
    if (share === undefined) {
      share = { domain: node.labels.get(this.topologyKey), amount: 0 };
      this.shares.set(node, share);
    }
    share.amount += delta;
    if (share.amount === 0) this.shares.delete(node);
    this.shift(share.domain, delta);
  }

  /** The node's labels are others now. */
  relabeled(node: NodeInfo): void {
    const share = this.shares.get(node);
    if (share === undefined) return;
    const domain = node.labels.get(this.topologyKey);
    if (domain === share.domain) return;
    this.shift(share.domain, -share.amount);
    share.domain = domain;
    this.shift(domain, share.amount);
  }

  private shift(domain: string | undefined, delta: number): void {
    if (domain === undefined) return;
    this.total += delta;
    const amount = (this.domains.get(domain) ?? 0) + delta;
    if (amount === 0) this.domains.delete(domain);
    else this.domains.set(domain, amount);
  }
}
