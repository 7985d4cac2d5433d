// The affinity terms that placed pods carry, each with how many carry it in which domain. A new pod is asked against the
// terms, which are few, and not against the pods. Pure; owned by topology-index.ts.
import type { NodeInfo } from '../nodes/node-info.ts';
import type { AffinityTerm } from '../pods/pod-terms.ts';
import { DomainCounts } from './domain-counts.ts';

/** One term, and what those who carry it add up to: 1 each, or their weights. */
export interface CarriedTerm {
  readonly term: AffinityTerm;
  readonly counts: DomainCounts;
}

export class CarriedTerms {
  private readonly byId = new Map<string, CarriedTerm>();
  /** Goes up when a term comes or goes, so that what was found among them is found again. */
  version = 0;

  get size(): number {
    return this.byId.size;
  }

  values(): IterableIterator<CarriedTerm> {
    return this.byId.values();
  }

  /** `amount` more of the term is carried on the node. Terms of different weight are told apart by `weight`. */
  change(term: AffinityTerm, weight: number, node: NodeInfo, sign: 1 | -1): void {
    const id = weight === 1 ? term.id : `${weight}\n${term.id}`;
    let carried = this.byId.get(id);
    if (carried === undefined) {
      carried = { term, counts: new DomainCounts(term.topologyKey) };
      this.byId.set(id, carried);
      this.version++;
    }
    carried.counts.change(node, sign * weight);
    if (!carried.counts.unused) return;
    this.byId.delete(id);
    this.version++;
  }

  relabeled(node: NodeInfo): void {
    for (const { counts } of this.byId.values()) counts.relabeled(node);
  }
}
