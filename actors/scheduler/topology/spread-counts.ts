// How pods of some kind are spread over the domains that eligible nodes make up, and the least any of them has. Unlike
// DomainCounts a domain counts from its first eligible node on. Pods count on eligible nodes only, or wherever a node is of
// such a domain, as asked for. Pure.
import type { NodeInfo } from '../nodes/node-info.ts';

interface Domain {
  /** Where pods count. */
  nodes: number;
  /** Those among them that make it a domain. */
  eligible: number;
  pods: number;
}

interface Member {
  readonly value: string;
  readonly isEligible: boolean;
  readonly domain: Domain;
  pods: number;
}

/** Which nodes count, and how. */
export interface SpreadNodes {
  /** Those that make up the domains; asks for the topology key as well. */
  readonly eligible: (node: NodeInfo) => boolean;
  /** Those on which pods count, where they have the topology key: the eligible among them. */
  readonly counted: (node: NodeInfo) => boolean;
}

export class SpreadCounts {
  readonly topologyKey: string;
  private readonly nodes: SpreadNodes;
  private readonly domains = new Map<string, Domain>();
  private readonly members = new Map<NodeInfo, Member>();
  /** How many domains with an eligible node have so many pods. */
  private readonly domainsByPods = new Map<number, number>();
  /** Undefined: to be found again. */
  private least: number | undefined;

  constructor(topologyKey: string, nodes: SpreadNodes) {
    this.topologyKey = topologyKey;
    this.nodes = nodes;
  }

  /** Pods in the domain of a value of the label; undefined when no eligible node has it. */
  podsIn(value: string): number | undefined {
    return this.domainOf(value)?.pods;
  }

  /** The least pods that a domain has, were there `delta` more in the one of `value`; undefined without domains. */
  minimum(value: string | undefined, delta: number): number | undefined {
    const changed = delta === 0 || value === undefined ? undefined : this.domainOf(value);
    this.least ??= this.fewest(undefined);
    if (changed === undefined) return this.least;
    const others = this.fewest(changed.pods);
    return others === undefined ? changed.pods + delta : Math.min(others, changed.pods + delta);
  }

  change(node: NodeInfo, delta: number): void {
    const member = this.members.get(node);
    if (member === undefined) return;
    member.pods += delta;
    this.setPods(member.domain, member.domain.pods + delta);
  }

  /** The node came, changed or went, with so many of the pods on it. */
  nodeChanged(node: NodeInfo, podsOnNode: number): void {
    const before = this.members.get(node);
    const value = this.nodes.counted(node) ? node.labels.get(this.topologyKey) : undefined;
    const isEligible = value !== undefined && this.nodes.eligible(node);
    if (before?.value === value && (before === undefined || before.isEligible === isEligible)) return;
    if (before !== undefined) this.leave(node, before);
    if (value !== undefined) this.join(node, value, isEligible, podsOnNode);
  }

  private domainOf(value: string): Domain | undefined {
    const domain = this.domains.get(value);
    return domain !== undefined && domain.eligible > 0 ? domain : undefined;
  }

  private join(node: NodeInfo, value: string, isEligible: boolean, pods: number): void {
    let domain = this.domains.get(value);
    if (domain === undefined) {
      domain = { nodes: 0, eligible: 0, pods: 0 };
      this.domains.set(value, domain);
    }
    domain.nodes++;
    if (isEligible && domain.eligible++ === 0) this.countDomain(domain.pods, 1);
    this.members.set(node, { value, isEligible, domain, pods });
    this.setPods(domain, domain.pods + pods);
  }

  private leave(node: NodeInfo, { value, isEligible, domain, pods }: Member): void {
    this.members.delete(node);
    this.setPods(domain, domain.pods - pods);
    if (isEligible && --domain.eligible === 0) this.countDomain(domain.pods, -1);
    if (--domain.nodes === 0) this.domains.delete(value);
  }

  private setPods(domain: Domain, pods: number): void {
    if (pods === domain.pods) return;
    if (domain.eligible > 0) {
      this.countDomain(domain.pods, -1);
      this.countDomain(pods, 1);
    }
    domain.pods = pods;
  }

  private countDomain(pods: number, delta: 1 | -1): void {
    const count = (this.domainsByPods.get(pods) ?? 0) + delta;
    if (count === 0) this.domainsByPods.delete(pods);
    else this.domainsByPods.set(pods, count);
    if (this.least === undefined) return;
    if (delta > 0) this.least = Math.min(this.least, pods);
    else if (count === 0 && pods === this.least) this.least = undefined;
  }

  /** The least over all domains, but for one that has `except`. Cheap: there are few different numbers. */
  private fewest(except: number | undefined): number | undefined {
    let fewest: number | undefined;
    for (const [pods, count] of this.domainsByPods) {
      if (pods === except && count === 1) continue;
      if (fewest === undefined || pods < fewest) fewest = pods;
    }
    return fewest;
  }
}
