// The rules of filtering and scoring told again, slowly and plainly, over the objects as they are stored: what the
// scheduler's plug-ins are held to. Shares no code with them. Knows what the generator makes, and no more.

export interface Term {
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly labelSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

export interface Expression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}

interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: string;
}

export interface Constraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector: { readonly matchLabels: Readonly<Record<string, string>> };
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly Term[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: Term;
  }[];
}

export interface RefPod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
      readonly controller: boolean;
    }[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly schedulerName: string;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly resources: { readonly requests: Readonly<Record<string, string>> };
      readonly ports?: readonly { readonly hostPort: number; readonly hostIP?: string; readonly protocol?: string }[];
    }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
    readonly topologySpreadConstraints?: readonly Constraint[];
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms: readonly { readonly matchExpressions: readonly Expression[] }[];
        };
        readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
          readonly weight: number;
          readonly preference: { readonly matchExpressions: readonly Expression[] };
        }[];
      };
      readonly podAffinity?: PodAffinity;
      readonly podAntiAffinity?: PodAffinity;
    };
  };
}

export interface RefNode {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  };
  readonly status: {
    readonly allocatable: Readonly<Record<string, string>>;
    readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  };
}

export interface RefService {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: { readonly selector: Readonly<Record<string, string>> };
}

export interface RefCluster {
  readonly nodes: readonly RefNode[];
  /** All with a node. */
  readonly pods: readonly RefPod[];
  readonly services: readonly RefService[];
  readonly hostnameLabel: string;
  readonly zoneLabel: string;
  readonly unschedulableTaint: string;
  readonly avoidAnnotation: string;
}

type LabelMap = Readonly<Record<string, string>>;

const UNITS: Readonly<Record<string, number>> = { m: 0.001, Mi: 1024 ** 2, Gi: 1024 ** 3 };

function amount(text: string | undefined): number {
  const match = /^([0-9]+)([A-Za-z]*)$/.exec(text ?? '0')!;
  return Number(match[1]) * (UNITS[match[2]!] ?? 1);
}

function selected(pod: RefPod, namespaces: readonly string[], labels: LabelMap | undefined): boolean {
  if (labels === undefined || !namespaces.includes(pod.metadata.namespace)) return false;
  return Object.entries(labels).every(([key, value]) => pod.metadata.labels[key] === value);
}

const namespacesOf = (term: Term, owner: RefPod) => term.namespaces ?? [owner.metadata.namespace];
const termSelects = (term: Term, owner: RefPod, other: RefPod) =>
  selected(other, namespacesOf(term, owner), term.labelSelector?.matchLabels);

function meets(labels: LabelMap, { key, operator, values = [] }: Expression): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && /^[0-9]+$/.test(value) && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && /^[0-9]+$/.test(value) && Number(value) < Number(values[0]);
  }
}

function allowsNode({ spec }: RefPod, { metadata: { labels } }: RefNode): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return required.nodeSelectorTerms.some(({ matchExpressions }) =>
    matchExpressions.every((each) => meets(labels, each)),
  );
}

function tolerated(
  { spec }: RefPod,
  taint: { key: string; value: string; effect: string },
  effects?: readonly string[],
) {
  return (spec.tolerations ?? []).some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effects !== undefined && effect !== undefined && !effects.includes(effect)) return false;
    if (effect !== undefined && effect !== taint.effect) return false;
    if (key !== undefined && key !== taint.key) return false;
    return operator === 'Exists' || value === taint.value;
  });
}

const onNode = ({ pods }: RefCluster, node: RefNode) => pods.filter(({ spec }) => spec.nodeName === node.metadata.name);
const nodeOf = ({ nodes }: RefCluster, pod: RefPod) =>
  nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName);

function requested(pod: RefPod, resource: string): number {
  return pod.spec.containers.reduce((sum, { resources }) => sum + amount(resources.requests[resource]), 0);
}

/** As scoring sees it: a container that asks for no cpu or memory counts as a small one. */
function scoredRequest(pod: RefPod, resource: 'cpu' | 'memory'): number {
  const least = resource === 'cpu' ? 0.1 : 200 * 1024 ** 2;
  return pod.spec.containers.reduce((sum, { resources: { requests } }) => {
    return sum + (requests[resource] === undefined ? least : amount(requests[resource]));
  }, 0);
}

const RESOURCES = ['cpu', 'memory', 'example.com/gpu'];

function hasRoom(pod: RefPod, node: RefNode, cluster: RefCluster): boolean {
  const others = onNode(cluster, node);
  if (others.length + 1 > amount(node.status.allocatable.pods)) return false;
  if (RESOURCES.every((resource) => requested(pod, resource) === 0)) return true;
  return RESOURCES.every((resource) => {
    const wanted = requested(pod, resource);
    if (wanted === 0 && resource === 'example.com/gpu') return true;
    const used = others.reduce((sum, other) => sum + requested(other, resource), 0);
    return wanted <= amount(node.status.allocatable[resource]) - used + 1e-9;
  });
}

function portsFree(pod: RefPod, node: RefNode, cluster: RefCluster): boolean {
  const claims = (of: RefPod) => of.spec.containers.flatMap(({ ports = [] }) => ports);
  const taken = onNode(cluster, node).flatMap(claims);
  return claims(pod).every((wanted) =>
    taken.every((other) => {
      if (wanted.hostPort !== other.hostPort || (wanted.protocol ?? 'TCP') !== (other.protocol ?? 'TCP')) return true;
      const [a, b] = [wanted.hostIP ?? '0.0.0.0', other.hostIP ?? '0.0.0.0'];
      return a !== b && a !== '0.0.0.0' && b !== '0.0.0.0';
    }),
  );
}

/** Placed pods whose node has the same value of the label. */
function near(cluster: RefCluster, node: RefNode, key: string): readonly RefPod[] {
  const value = node.metadata.labels[key];
  if (value === undefined) return [];
  return cluster.pods.filter((pod) => nodeOf(cluster, pod)?.metadata.labels[key] === value);
}

const required = (affinity: PodAffinity | undefined) => affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
const preferred = (affinity: PodAffinity | undefined) =>
  affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];

function affinityHolds(pod: RefPod, node: RefNode, cluster: RefCluster): boolean {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  for (const term of required(podAntiAffinity)) {
    if (near(cluster, node, term.topologyKey).some((other) => termSelects(term, pod, other))) return false;
  }
  for (const other of cluster.pods) {
    for (const term of required(other.spec.affinity?.podAntiAffinity)) {
      if (!termSelects(term, other, pod)) continue;
      const value = node.metadata.labels[term.topologyKey];
      if (value !== undefined && nodeOf(cluster, other)?.metadata.labels[term.topologyKey] === value) return false;
    }
  }
  const terms = required(podAffinity);
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => node.metadata.labels[topologyKey] === undefined)) return false;
  const wanted = (other: RefPod) => terms.every((term) => termSelects(term, pod, other));
  if (terms.every(({ topologyKey }) => near(cluster, node, topologyKey).some(wanted))) return true;
  const anywhere = cluster.pods.some(
    (other) =>
      wanted(other) &&
      terms.some(({ topologyKey }) => nodeOf(cluster, other)?.metadata.labels[topologyKey] !== undefined),
  );
  return !anywhere && wanted(pod);
}

/** Matching pods in each domain of the nodes that count. */
function domains(pod: RefPod, constraint: Constraint, nodes: readonly RefNode[], cluster: RefCluster) {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const value = node.metadata.labels[constraint.topologyKey];
    if (value === undefined) continue;
    const matching = onNode(cluster, node).filter((other) =>
      selected(other, [pod.metadata.namespace], constraint.labelSelector.matchLabels),
    );
    counts.set(value, (counts.get(value) ?? 0) + matching.length);
  }
  return counts;
}

function spreadHolds(pod: RefPod, node: RefNode, cluster: RefCluster): boolean {
  const musts = (pod.spec.topologySpreadConstraints ?? []).filter((each) => each.whenUnsatisfiable === 'DoNotSchedule');
  const hasKeys = ({ metadata: { labels } }: RefNode) =>
    musts.every(({ topologyKey }) => labels[topologyKey] !== undefined);
  if (!hasKeys(node)) return false;
  const eligible = cluster.nodes.filter((each) => hasKeys(each) && allowsNode(pod, each));
  return musts.every((constraint) => {
    const values = new Set(eligible.map(({ metadata }) => metadata.labels[constraint.topologyKey]!));
    if (values.size === 0) return true;
    // Eligible nodes make a domain, and pods count wherever they are in it.
    const counts = domains(pod, constraint, cluster.nodes, cluster);
    const podsIn = (value: string) => (values.has(value) ? (counts.get(value) ?? 0) : 0);
    const self = selected(pod, [pod.metadata.namespace], constraint.labelSelector.matchLabels) ? 1 : 0;
    const here = podsIn(node.metadata.labels[constraint.topologyKey]!);
    return here + self - Math.min(...[...values].map(podsIn)) <= constraint.maxSkew;
  });
}

/** The nodes that will do. */
export function feasibleNodes(pod: RefPod, cluster: RefCluster): readonly RefNode[] {
  const cordon = { key: cluster.unschedulableTaint, value: '', effect: 'NoSchedule' };
  return cluster.nodes.filter(
    (node) =>
      (node.spec.unschedulable !== true || tolerated(pod, cordon)) &&
      (node.spec.taints ?? []).every((taint) => taint.effect === 'PreferNoSchedule' || tolerated(pod, taint)) &&
      allowsNode(pod, node) &&
      portsFree(pod, node, cluster) &&
      hasRoom(pod, node, cluster) &&
      spreadHolds(pod, node, cluster) &&
      affinityHolds(pod, node, cluster),
  );
}

type Scores = readonly number[];

function scaled(scores: Scores, reverse: boolean): Scores {
  const most = Math.max(0, ...scores);
  return scores.map((score) => {
    const part = most === 0 ? 0 : Math.floor((100 * score) / most);
    return reverse ? 100 - part : part;
  });
}

function resourceScores(pod: RefPod, node: RefNode, cluster: RefCluster): number {
  const shares = (['cpu', 'memory'] as const).map((resource) => {
    const capacity = amount(node.status.allocatable[resource]);
    const used = onNode(cluster, node).reduce(
      (sum, other) => sum + scoredRequest(other, resource),
      scoredRequest(pod, resource),
    );
    // Whole thousandths and bytes, as they are counted.
    const whole = (value: number) => (resource === 'cpu' ? Math.round(value * 1000) : Math.round(value));
    return { capacity: whole(capacity), used: whole(used) };
  });
  const least = shares.map(({ capacity, used }) =>
    capacity === 0 || used > capacity ? 0 : Math.floor(((capacity - used) * 100) / capacity),
  );
  const [cpu, memory] = shares.map(({ capacity, used }) => (capacity === 0 ? 1 : used / capacity));
  const balanced = cpu! >= 1 || memory! >= 1 ? 0 : Math.floor((1 - Math.abs(cpu! - memory!)) * 100);
  return Math.floor((least[0]! + least[1]!) / 2) + balanced;
}

/** Nodes may ask to be spared the pods of a replica set or replication controller. */
function isSpared({ metadata }: RefPod, node: RefNode, { avoidAnnotation }: RefCluster): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const text = node.metadata.annotations?.[avoidAnnotation];
  if (text === undefined || owner === undefined) return false;
  if (owner.kind !== 'ReplicaSet' && owner.kind !== 'ReplicationController') return false;
  const { preferAvoidPods } = JSON.parse(text) as {
    readonly preferAvoidPods: readonly {
      readonly podSignature: { readonly podController: { readonly kind: string; readonly uid: string } };
    }[];
  };
  return preferAvoidPods.some(
    ({ podSignature: { podController } }) => podController.kind === owner.kind && podController.uid === owner.uid,
  );
}

function imageScore(pod: RefPod, node: RefNode, { nodes }: RefCluster): number {
  const MIB = 1024 ** 2;
  const sizeOn = ({ status }: RefNode, image: string) =>
    status.images.find(({ names }) => names.includes(image))?.sizeBytes;
  let bytes = 0;
  for (const { image } of pod.spec.containers) {
    const having = nodes.filter((each) => sizeOn(each, image) !== undefined).length;
    bytes += Math.trunc((sizeOn(node, image) ?? 0) * (having / nodes.length));
  }
  const most = 1000 * MIB * pod.spec.containers.length;
  const counted = Math.min(Math.max(bytes, 23 * MIB), most);
  return Math.trunc((100 * (counted - 23 * MIB)) / (most - 23 * MIB));
}

function affinityScores(pod: RefPod, nodes: readonly RefNode[], cluster: RefCluster): Scores {
  const raw = nodes.map((node) => {
    let score = 0;
    for (const other of cluster.pods) {
      const home = nodeOf(cluster, other);
      const together = (key: string) => {
        const value = node.metadata.labels[key];
        return value !== undefined && home?.metadata.labels[key] === value;
      };
      for (const [sign, kind] of [
        [1, 'podAffinity'],
        [-1, 'podAntiAffinity'],
      ] as const) {
        for (const { weight, podAffinityTerm: term } of preferred(pod.spec.affinity?.[kind])) {
          if (termSelects(term, pod, other) && together(term.topologyKey)) score += sign * weight;
        }
        for (const { weight, podAffinityTerm: term } of preferred(other.spec.affinity?.[kind])) {
          if (termSelects(term, other, pod) && together(term.topologyKey)) score += sign * weight;
        }
      }
      for (const term of required(other.spec.affinity?.podAffinity)) {
        if (termSelects(term, other, pod) && together(term.topologyKey)) score += 1;
      }
    }
    return score;
  });
  const [least, most] = [Math.min(0, ...raw), Math.max(0, ...raw)];
  return raw.map((score) => (most === least ? 0 : Math.trunc(100 * ((score - least) / (most - least)))));
}

function spreadScores(pod: RefPod, nodes: readonly RefNode[], cluster: RefCluster): Scores {
  const own = pod.spec.topologySpreadConstraints ?? [];
  let wishes = own.filter((each) => each.whenUnsatisfiable === 'ScheduleAnyway');
  if (own.length === 0) {
    const services = cluster.services.filter(
      ({ metadata, spec }) =>
        Object.keys(spec.selector).length > 0 && selected(pod, [metadata.namespace], spec.selector),
    );
    if (services.length === 0) return nodes.map(() => 0);
    const matchLabels = Object.assign({}, ...services.map(({ spec }) => spec.selector)) as LabelMap;
    const wish = (topologyKey: string, maxSkew: number): Constraint => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels },
    });
    wishes = [wish(cluster.hostnameLabel, 3), wish(cluster.zoneLabel, 5)];
  }
  if (wishes.length === 0) return nodes.map(() => 0);
  const hasKeys = ({ metadata: { labels } }: RefNode) =>
    own.length === 0 || wishes.every(({ topologyKey }) => labels[topologyKey] !== undefined);
  const counted = cluster.nodes.filter((node) => hasKeys(node) && allowsNode(pod, node));
  const judged = nodes.filter(hasKeys);
  const raw = nodes.map((node) => {
    if (!hasKeys(node)) return undefined;
    let score = 0;
    for (const wish of wishes) {
      const value = node.metadata.labels[wish.topologyKey];
      if (value === undefined) continue;
      // Judged nodes without the label are one domain together.
      const sizes = new Set(judged.map(({ metadata }) => metadata.labels[wish.topologyKey] ?? ''));
      const size = wish.topologyKey === cluster.hostnameLabel ? judged.length : sizes.size;
      score += (domains(pod, wish, counted, cluster).get(value) ?? 0) * Math.log(size + 2) + wish.maxSkew - 1;
    }
    return Math.trunc(score);
  });
  const known = raw.filter((score) => score !== undefined);
  const [least, most] = [Math.min(...known), Math.max(0, ...known)];
  return raw.map((score) =>
    score === undefined ? 0 : most === 0 ? 100 : Math.trunc((100 * (most + least - score)) / most),
  );
}

/** What each of these nodes is worth, together, by the default plug-ins and weights. */
export function totals(pod: RefPod, nodes: readonly RefNode[], cluster: RefCluster): Scores {
  const wishes = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const nodeAffinity = nodes.map(({ metadata }) =>
    wishes
      .filter(({ preference }) => preference.matchExpressions.every((each) => meets(metadata.labels, each)))
      .reduce((sum, { weight }) => sum + weight, 0),
  );
  const taints = nodes.map(
    ({ spec }) =>
      (spec.taints ?? []).filter(
        (taint) => taint.effect === 'PreferNoSchedule' && !tolerated(pod, taint, ['PreferNoSchedule']),
      ).length,
  );
  const parts: readonly Scores[] = [
    nodes.map((node) => resourceScores(pod, node, cluster) + imageScore(pod, node, cluster)),
    scaled(nodeAffinity, false),
    scaled(taints, true),
    affinityScores(pod, nodes, cluster),
    spreadScores(pod, nodes, cluster).map((score) => 2 * score),
    nodes.map((node) => (isSpared(pod, node, cluster) ? 0 : 100 * 10_000)),
  ];
  return nodes.map((_, at) => parts.reduce((sum, scores) => sum + scores[at]!, 0));
}
