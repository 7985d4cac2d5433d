// Where placed pods are, by what other pods can ask of them: counts by selector and domain, spreads, and the terms that
// placed pods carry. A count is made when a pod first asks for it and kept up to date from then on, so that the next
// pods of the same workload ask for nothing but numbers. Bounded: what was not asked for longest is dropped. Pure.
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type AffinityTerm, termMatches } from '../pods/pod-terms.ts';
import { type CarriedTerm, CarriedTerms } from './carried-terms.ts';
import { DomainCounts } from './domain-counts.ts';
import { type GroupCount, type PodGroup, PodGroups } from './pod-groups.ts';
import { SpreadCounts } from './spread-counts.ts';

/** A question about placed pods. */
export interface PodSelection {
  /** Equal for questions that are the same. */
  readonly id: string;
  /** No pod of another namespace matches; undefined when that is not known beforehand. */
  readonly namespaces: readonly string[] | undefined;
  /** How many selectors it asks a pod about, which is what asking takes; absent: one. */
  readonly selectors?: number;
  /** How much such a pod counts; 0: it does not. */
  amount(namespace: string, labels: Labels, deleting: boolean): number;
}

/** Which nodes count: `id` is equal for questions that are the same. */
export interface NodeSelection {
  readonly id: string;
  matches(node: NodeInfo): boolean;
  /** Pods count on other nodes as well, where those are of a domain of the nodes that match. */
  readonly withPodsBeside: boolean;
}

/** What pods carry: terms that keep others away, that draw others near, and that would rather do either. */
export type TermRole = 'requiredAnti' | 'required' | 'preferred';

const ROLES: readonly TermRole[] = ['requiredAnti', 'required', 'preferred'];

/** Pods of a selection, by the values of a label of their nodes. */
export interface CountedPods {
  readonly domains: DomainCounts;
  /** How much a pod is to the selection; one that is placed is not looked at again. */
  amountOf(pod: PodInfo): number;
}

interface KeptCount extends GroupCount {
  readonly selection: PodSelection;
  /** The groups that it counts, and how much each of their pods is to it. */
  readonly groups: Map<PodGroup, number>;
  readonly domains: DomainCounts | undefined;
  readonly spread: SpreadCounts | undefined;
}

/** Numbers kept over all counts together, about: one a node and count. */
const KEPT_NUMBERS_MAX = 1 << 20;
const KEPT_COUNTS_MIN = 16;
const KEPT_COUNTS_MAX = 512;

/** Selectors that are asked in one turn, about: some 50 ms. */
const ASKED_IN_A_TURN_MAX = 1 << 20;

/** What `inTurns` waits for: thrown through whatever asked, and told of nobody. */
const COUNT_UNFINISHED = new Error('a count of pods is not complete yet');

interface UnfinishedCount {
  /** Those that are still to be looked at. */
  readonly groups: IterableIterator<PodGroup>;
  hasBegun?: boolean;
}

interface Found {
  readonly version: number;
  readonly terms: readonly CarriedTerm[];
}

export class TopologyIndex {
  private readonly groups = new PodGroups();
  private readonly nodes: () => readonly NodeInfo[];
  private readonly labelsOfNamespace: (name: string) => Labels | undefined;
  /** The least lately asked first. */
  private readonly kept = new Map<string, KeptCount>();
  private readonly carried: Readonly<Record<TermRole, CarriedTerms>> = {
    requiredAnti: new CarriedTerms(),
    required: new CarriedTerms(),
    preferred: new CarriedTerms(),
  };
  /** Those of `kept` that are not complete yet, in the order in which they were asked for. */
  private readonly unfinished = new Map<KeptCount, UnfinishedCount>();
  /** Who asks can ask again later. */
  private mayAskAgain = false;
  /** Which carried terms speak of a group's pods. */
  private found = new WeakMap<PodGroup, Partial<Record<TermRole, Found>>>();

  constructor(nodes: () => readonly NodeInfo[], labelsOfNamespace: (name: string) => Labels | undefined) {
    this.nodes = nodes;
    this.labelsOfNamespace = labelsOfNamespace;
  }

  /** A count is not complete: what asked for it is to ask again when there has been another turn or more. */
  get isCounting(): boolean {
    return this.unfinished.size > 0;
  }

  /** Answers what asks about pods. Undefined: it asked for a count that takes longer than a turn may; to be asked again. */
  inTurns<Answer>(ask: () => Answer): Answer | undefined {
    this.mayAskAgain = true;
    try {
      return ask();
    } catch (error) {
      if (error !== COUNT_UNFINISHED) throw error;
      return undefined;
    } finally {
      this.mayAskAgain = false;
    }
  }

  /** Counts on, for as long as a turn may take. */
  countOn(): void {
    for (const [count, unfinished] of this.unfinished) {
      this.countGroups(count, unfinished, ASKED_IN_A_TURN_MAX);
      return;
    }
  }

  /** A pod is on the node now. */
  place(pod: PodInfo, node: NodeInfo): void {
    const group = this.groups.ensure(pod, (made) => this.joinCounts(made));
    group.nodes.set(node, (group.nodes.get(node) ?? 0) + 1);
    for (const [count, amount] of group.counts) count.change(node, amount);
    this.carry(pod, node, 1);
  }

  /** A pod that was placed is no more. */
  take(pod: PodInfo, node: NodeInfo): void {
    const group = this.groups.get(pod);
    if (group === undefined) return;
    const left = (group.nodes.get(node) ?? 0) - 1;
    if (left > 0) group.nodes.set(node, left);
    else group.nodes.delete(node);
    for (const [count, amount] of group.counts) count.change(node, -amount);
    this.carry(pod, node, -1);
    if (group.nodes.size > 0) return;
    for (const count of group.counts.keys()) (count as KeptCount).groups.delete(group);
    this.groups.drop(pod);
  }

  /** A node came, went, or has other labels. */
  nodeChanged(node: NodeInfo): void {
    for (const role of ROLES) this.carried[role].relabeled(node);
    for (const count of this.kept.values()) {
      const { domains, spread, groups } = count;
      domains?.relabeled(node);
      // One that is not complete looks at all nodes in the end.
      if (!this.unfinished.has(count)) spread?.nodeChanged(node, podsOf(groups.keys(), node));
    }
  }

  /** A namespace's labels are others now: what terms say of it may be, too. */
  namespaceChanged(): void {
    for (const [id, { selection }] of this.kept) if (selection.namespaces === undefined) this.drop(id);
    this.found = new WeakMap();
  }

  /** Pods of the selection by the values of a label of their nodes. */
  domainCounts(selection: PodSelection, topologyKey: string): DomainCounts {
    return this.counted(selection, topologyKey).domains;
  }

  /** The same, for who also asks what would be were single pods elsewhere. */
  counted(selection: PodSelection, topologyKey: string): CountedPods {
    const id = `${topologyKey}\n${selection.id}`;
    const { domains, groups } = this.keep(id, selection, () => ({ domains: new DomainCounts(topologyKey) }));
    const amountOf = (pod: PodInfo): number => {
      const group = this.groups.get(pod);
      if (group !== undefined) return groups.get(group) ?? 0;
      return selection.amount(pod.namespace, pod.labels, pod.deleting);
    };
    return { domains: domains!, amountOf };
  }

  /** How pods of the selection are spread over the nodes of another; these must have a label of that key. */
  spreadCounts(selection: PodSelection, topologyKey: string, nodes: NodeSelection): SpreadCounts {
    const id = `${topologyKey}\n${selection.id}\n${nodes.withPodsBeside}\n${nodes.id}`;
    const eligible = (node: NodeInfo) => node.present && nodes.matches(node);
    const counted = nodes.withPodsBeside ? ({ present }: NodeInfo) => present : eligible;
    const make = () => ({ spread: new SpreadCounts(topologyKey, { eligible, counted }) });
    return this.keep(id, selection, make).spread!;
  }

  /** The terms of one role that placed pods carry and that speak of this pod. */
  termsAbout(pod: PodInfo, role: TermRole): readonly CarriedTerm[] {
    const terms = this.carried[role];
    if (terms.size === 0) return [];
    const group = this.groups.get(pod);
    const before = group === undefined ? undefined : this.found.get(group);
    const known = before?.[role];
    if (known?.version === terms.version) return known.terms;
    const about: CarriedTerm[] = [];
    for (const carried of terms.values()) if (this.speaksOf(carried.term, pod)) about.push(carried);
    if (group !== undefined) this.found.set(group, { ...before, [role]: { version: terms.version, terms: about } });
    return about;
  }

  speaksOf(term: AffinityTerm, pod: PodInfo): boolean {
    return this.termMatches(term, pod.namespace, pod.labels);
  }

  /** Whether a term speaks of pods with these labels in this namespace. */
  termMatches(term: AffinityTerm, namespace: string, labels: Labels): boolean {
    return termMatches(term, namespace, labels, this.labelsOfNamespace);
  }

  private carry(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    const { required, requiredAnti, preferred } = pod.affinity;
    for (const term of requiredAnti) this.carried.requiredAnti.change(term, 1, node, sign);
    for (const term of required) this.carried.required.change(term, 1, node, sign);
    for (const { weight, term } of preferred) this.carried.preferred.change(term, weight, node, sign);
  }

  private joinCounts(group: PodGroup): void {
    for (const count of this.kept.values()) {
      const amount = count.selection.amount(group.namespace, group.labels, group.deleting);
      if (amount === 0) continue;
      group.counts.set(count, amount);
      count.groups.set(group, amount);
    }
  }

  private keep(
    id: string,
    selection: PodSelection,
    make: () => { readonly domains?: DomainCounts; readonly spread?: SpreadCounts },
  ): KeptCount {
    const known = this.kept.get(id);
    if (known !== undefined) {
      this.kept.delete(id);
      this.kept.set(id, known);
      this.complete(known);
      return known;
    }
    const { domains, spread } = make();
    const counter = (domains ?? spread)!;
    const count: KeptCount = {
      selection,
      domains,
      spread,
      groups: new Map(),
      change: (node, delta) => counter.change(node, delta),
    };
    this.unfinished.set(count, { groups: this.groups.in(selection.namespaces) });
    this.kept.set(id, count);
    this.dropLeastAsked();
    this.complete(count);
    return count;
  }

  /** Throws COUNT_UNFINISHED where that takes longer than a turn may, and who asks can ask again. */
  private complete(count: KeptCount): void {
    const unfinished = this.unfinished.get(count);
    if (unfinished === undefined) return;
    if (!unfinished.hasBegun) this.countGroups(count, unfinished, ASKED_IN_A_TURN_MAX);
    if (!this.unfinished.has(count)) return;
    if (this.mayAskAgain) throw COUNT_UNFINISHED;
    this.countGroups(count, unfinished, Number.POSITIVE_INFINITY);
  }

  /** Looks at groups, asking at most so many selectors, and at least at one. */
  private countGroups(count: KeptCount, unfinished: UnfinishedCount, askedMax: number): void {
    const { selection, groups, domains } = count;
    const { selectors = 1 } = selection;
    unfinished.hasBegun = true;
    for (let asked = 0; asked < askedMax; asked += selectors) {
      const { value: group, done } = unfinished.groups.next();
      if (done === true) {
        this.finish(count);
        return;
      }
      // Pods of one that came in the meantime are counted already.
      if (groups.has(group)) continue;
      const amount = selection.amount(group.namespace, group.labels, group.deleting);
      if (amount === 0) continue;
      groups.set(group, amount);
      group.counts.set(count, amount);
      if (domains !== undefined) for (const [node, pods] of group.nodes) domains.change(node, amount * pods);
    }
  }

  private finish(count: KeptCount): void {
    const { spread, groups } = count;
    this.unfinished.delete(count);
    if (spread === undefined) return;
    const pods = podsByNode(groups.keys());
    for (const node of this.nodes()) spread.nodeChanged(node, pods.get(node) ?? 0);
  }

  private dropLeastAsked(): void {
    const room = Math.floor(KEPT_NUMBERS_MAX / Math.max(1, this.nodes().length));
    const most = Math.max(KEPT_COUNTS_MIN, Math.min(KEPT_COUNTS_MAX, room));
    for (const id of this.kept.keys()) {
      if (this.kept.size <= most) return;
      this.drop(id);
    }
  }

  private drop(id: string): void {
    const count = this.kept.get(id);
    if (count === undefined) return;
    for (const group of count.groups.keys()) group.counts.delete(count);
    this.kept.delete(id);
    this.unfinished.delete(count);
  }
}

/** Each pod is looked at once: there may be as many groups as pods, and to ask each of them about each node takes seconds. */
function podsByNode(groups: Iterable<PodGroup>): ReadonlyMap<NodeInfo, number> {
  const sums = new Map<NodeInfo, number>();
  for (const group of groups) for (const [node, pods] of group.nodes) sums.set(node, (sums.get(node) ?? 0) + pods);
  return sums;
}

function podsOf(groups: Iterable<PodGroup>, node: NodeInfo): number {
  let pods = 0;
  for (const group of groups) pods += group.nodes.get(node) ?? 0;
  return pods;
}
