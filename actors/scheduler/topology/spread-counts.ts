// How pods of some kind are spread over the domains that eligible nodes make up, and the least any of them has. Unlike
// DomainCounts a domain counts from its first node on, and pods count on eligible nodes only. Pure.
import type { NodeInfo } from '../core/node-info.ts';

interface Domain {
  nodes: number;
  pods: number;
}

interface Member {
  readonly value: string;
  readonly domain: Domain;
  pods: number;
}

export class SpreadCounts {
  readonly topologyKey: string;
  private readonly eligible: (node: NodeInfo) => boolean;
  private readonly domains = new Map<string, Domain>();
  private readonly members = new Map<NodeInfo, Member>();
  /** How many domains have so many pods. */
  private readonly domainsByPods = new Map<number, number>();
  /** Undefined: to be found again. */
  private least: number | undefined;

  /** `eligible` asks for the topology key as well. */
  constructor(topologyKey: string, eligible: (node: NodeInfo) => boolean) {
    this.topologyKey = topologyKey;
    this.eligible = eligible;
  }

  /** Pods in the domain of a value of the label; undefined when no eligible node has it. */
  podsIn(value: string): number | undefined {
    return this.domains.get(value)?.pods;
  }

  /** The least pods that a domain has, were there `delta` more in the one of `value`; undefined without domains. */
  minimum(value: string | undefined, delta: number): number | undefined {
    const changed = delta === 0 || value === undefined ? undefined : this.domains.get(value);
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
    const value = this.eligible(node) ? node.labels.get(this.topologyKey) : undefined;
    if (before?.value === value) return;
    if (before !== undefined) this.leave(node, before);
    if (value !== undefined) this.join(node, value, podsOnNode);
  }

  private join(node: NodeInfo, value: string, pods: number): void {
    let domain = this.domains.get(value);
    if (domain === undefined) {
      domain = { nodes: 0, pods: 0 };
      this.domains.set(value, domain);
      this.countDomain(0, 1);
    }
    domain.nodes++;
    this.members.set(node, { value, domain, pods });
    this.setPods(domain, domain.pods + pods);
  }

  private leave(node: NodeInfo, { value, domain, pods }: Member): void {
    this.members.delete(node);
    this.setPods(domain, domain.pods - pods);
    if (--domain.nodes > 0) return;
    this.countDomain(domain.pods, -1);
    this.domains.delete(value);
  }

  private setPods(domain: Domain, pods: number): void {
    if (pods === domain.pods) return;
    this.countDomain(domain.pods, -1);
    this.countDomain(pods, 1);
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
