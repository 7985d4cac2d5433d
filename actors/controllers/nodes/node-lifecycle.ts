// Follows whether nodes are alive: what a node that fell silent says of itself is made Unknown, and nodes that are not ready or
// not heard of are given the taints that evict their pods, as fast as their zone allows (zone-disruption.ts). The pods are
// evicted by node-pods.ts; the taints by which nothing is placed are node-taints.ts'.
import { asText, partAt, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { Announcements } from '../announcements.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget } from '../targets.ts';
import { type Moment, NodeHealth } from './node-health.ts';
import { type ZoneCount, ZoneDisruption } from './zone-disruption.ts';

const NODES = 'core/nodes';
const REVIEW_MS = 5_000;
/** Between two reviews: a thread that was away for longer has not listened, and what it has not heard says nothing of nodes. */
const AWAY_MS = 20_000;
const EFFECT = 'NoExecute';
const COMPONENT = 'node-controller';

// Keys: the review of all nodes, a node, a zone whose nodes wait for their taint.
const REVIEW = 'review';
const nodeKey = (name: string): string => `node ${name}`;
const zoneKey = (name: string): string => `zone ${name}`;

interface Node {
  readonly health: NodeHealth;
  revision: number;
  uid: string;
  taints: readonly ApiObject[];
  zone: string;
  /** Does not say how its zone does. */
  isExcluded: boolean;
  /** It is its turn to be tainted. */
  mayBeTainted: boolean;
  /** Its taint is to go although it is not ready. */
  isSpared: boolean;
  /** Was ready when it was last said to be unknown; for the event. */
  wasReady: boolean;
}

/** The part of the node lifecycle controller that writes nodes. */
export class NodeLifecycle implements Controller {
  readonly name = 'node-lifecycle';
  readonly identity;
  readonly wants: readonly string[];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 16;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #dialect: Dialect;
  readonly #announcements: Announcements;
  /** The taint for what `Ready` says. */
  readonly #taintOf: ReadonlyMap<string | undefined, string>;
  readonly #nodes = new Map<string, Node>();
  /** When the lease of each node was renewed last, as it says. */
  readonly #leases = new Map<string, string>();
  readonly #zones = new ZoneDisruption();
  /** The review comes again by itself. */
  #isReviewed = false;
  #reviewedAtMs: number | undefined;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'node-controller');
    this.wants = [NODES, dialect.spell('coordination.@group/leases')];
    this.#clock = clock;
    this.#due = due;
    this.#dialect = dialect;
    this.#announcements = new Announcements(clock, due);
    this.#taintOf = new Map([
      ['False', dialect.spell('node.@label/not-ready')],
      ['Unknown', dialect.spell('node.@label/unreachable')],
    ]);
  }

  reset(): void {
    this.#nodes.clear();
    this.#leases.clear();
    this.#zones.clear();
    this.#reviewedAtMs = undefined;
  }

  onSynced(): void {
    this.#announcements.clear();
    this.#isReviewed = false;
    if (this.#nodes.size > 0) this.#due.add(REVIEW);
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === NODES) this.#onNode(event);
    else if (event.namespace === this.#dialect.nodeLeaseNamespace) this.#onLease(event);
  }

  plan(key: string): Plan {
    if (key === REVIEW) return this.#review();
    if (this.#announcements.owns(key)) return this.#announcements.plan(key);
    const name = key.slice(key.indexOf(' ') + 1);
    return key === zoneKey(name) ? this.#planZone(name) : this.#planNode(name);
  }

  onOutcome(_key: string, { target }: Write, { ok }: WriteOutcome): void {
    const node = this.#nodes.get(target.name);
    if (target.subresource !== 'status' || !ok || node === undefined || !node.wasReady) return;
    node.wasReady = false;
    const { name } = target;
    this.#tell(name, node.uid, 'NodeNotReady', 'status is now: NodeNotReady');
  }

  #tell(name: string, uid: string, reason: string, what: string): void {
    const about = { kind: 'Node', namespace: '', name, uid } as const;
    this.#announcements.tell({ about, component: COMPONENT, type: 'Normal', reason, message: `Node ${name} ${what}` });
  }

  #onNode(event: FeedEvent): void {
    const { name, revision, type } = event;
    const known = this.#nodes.get(name);
    if (type === 'delete') {
      if (known === undefined) return;
      this.#zones.dequeue(known.zone, name);
      this.#nodes.delete(name);
      this.#tell(name, known.uid, 'RemovingNode', `event: Removing Node ${name} from Controller`);
      return;
    }
    const object = event.object();
    const metadata = partAt(object, 'metadata');
    const labels = partAt(metadata, 'labels');
    const now = this.#now();
    // One that was made again under its name is another.
    const isSame = known?.uid === textAt(metadata, 'uid');
    const health = isSame ? known.health : new NodeHealth(object, this.#leases.has(name), now);
    if (isSame) health.observe(object, now);
    const zone = this.#zoneOf(labels);
    if (known !== undefined && (!isSame || known.zone !== zone)) this.#zones.dequeue(known.zone, name);
    const { mayBeTainted, isSpared, wasReady } = isSame ? known : NEW;
    this.#nodes.set(name, {
      health,
      revision,
      uid: textAt(metadata, 'uid'),
      taints: partsAt(partAt(object, 'spec'), 'taints'),
      zone,
      isExcluded: labels[this.#dialect.spell('node.@label/exclude-disruption')] !== undefined,
      mayBeTainted,
      isSpared,
      wasReady,
    });
    if (type === 'present') return;
    if (!isSame)
      this.#tell(name, textAt(metadata, 'uid'), 'RegisteredNode', `event: Registered Node ${name} in Controller`);
    if (!this.#isReviewed) this.#due.add(REVIEW);
  }

  #onLease(event: FeedEvent): void {
    const { name, type } = event;
    if (type === 'delete') {
      this.#leases.delete(name);
      return;
    }
    const renewTime = textAt(partAt(event.object(), 'spec'), 'renewTime');
    const before = this.#leases.get(name);
    this.#leases.set(name, renewTime);
    if (before !== renewTime) this.#nodes.get(name)?.health.renewed(this.#now());
  }

  #review(): Plan {
    this.#isReviewed = this.#nodes.size > 0;
    const now = this.#now();
    const wasAway = now.monotonicMs - (this.#reviewedAtMs ?? now.monotonicMs) > AWAY_MS;
    this.#reviewedAtMs = this.#isReviewed ? now.monotonicMs : undefined;
    if (!this.#isReviewed) return NOTHING;
    const counts = new Map<string, ZoneCount>();
    for (const [name, node] of this.#nodes) {
      if (wasAway) node.health.beginAnew(now);
      if (node.health.silence(now, this.#dialect) !== undefined) this.#due.add(nodeKey(name));
      this.#reviewTaint(name, node, now);
      if (!node.isExcluded) count(counts, node);
    }
    const outcome = this.#zones.review(counts, now.monotonicMs);
    for (const [name, node] of outcome === 'go on' ? NO_NODES : this.#nodes) {
      if (outcome === 'all begins anew') node.health.beginAnew(now);
      else {
        node.isSpared = true;
        node.mayBeTainted = false;
        this.#due.add(nodeKey(name));
      }
    }
    for (const zone of this.#zones.waiting) this.#due.add(zoneKey(zone));
    return { writes: [], againAfterMs: REVIEW_MS };
  }

  /** A taint that is to be another, or to go, is changed at once; one that is to come waits for its turn. */
  #reviewTaint(name: string, node: Node, now: Moment): void {
    const wanted = this.#taintOf.get(node.health.readyStatus);
    const own = this.#ownTaints(node);
    if (wanted === undefined || own.length > 0) node.mayBeTainted = false;
    if (own.length === 0) node.isSpared = false;
    if (wanted !== undefined && own.length === 0) {
      if (!node.mayBeTainted) this.#zones.enqueue(node.zone, name, now.monotonicMs);
      return;
    }
    this.#zones.dequeue(node.zone, name);
    if (this.#taintsAfter(node) !== undefined) this.#due.add(nodeKey(name));
  }

  #planZone(zone: string): Plan {
    const { nodes, waitMs } = this.#zones.take(zone, this.#clock.monotonicMs());
    for (const name of nodes) {
      const node = this.#nodes.get(name);
      if (node === undefined) continue;
      node.mayBeTainted = true;
      this.#due.add(nodeKey(name));
    }
    return waitMs === undefined ? NOTHING : { writes: [], againAfterMs: waitMs };
  }

  #planNode(name: string): Plan {
    const node = this.#nodes.get(name);
    if (node === undefined) return NOTHING;
    const metadata = { resourceVersion: String(node.revision) };
    const conditions = node.health.silence(this.#now(), this.#dialect);
    if (conditions !== undefined) {
      node.wasReady = node.health.readyStatus === 'True';
      const target = coreTarget('nodes', '', name, 'status');
      return { writes: [{ verb: 'patch', target, body: { metadata, status: { conditions } } }] };
    }
    const taints = this.#taintsAfter(node);
    if (taints === undefined) return NOTHING;
    return { writes: [{ verb: 'patch', target: coreTarget('nodes', '', name), body: { metadata, spec: { taints } } }] };
  }

  /** What the node's taints are to be; undefined: as they are. */
  #taintsAfter(node: Node): readonly ApiObject[] | undefined {
    const { readyStatus } = node.health;
    if (readyStatus === undefined) return undefined;
    const own = this.#ownTaints(node);
    const wanted = node.isSpared ? undefined : this.#taintOf.get(readyStatus);
    const mayHave = wanted !== undefined && (own.length > 0 || node.mayBeTainted);
    if (own.length === (mayHave ? 1 : 0) && own.every(({ key }) => key === wanted)) return undefined;
    const others = node.taints.filter((taint) => !own.includes(taint));
    if (!mayHave) return others;
    const kept = own.find(({ key }) => key === wanted);
    return [...others, kept ?? { key: wanted, effect: EFFECT, timeAdded: timestampOf(this.#clock.nowMs()) }];
  }

  #ownTaints({ taints }: Node): readonly ApiObject[] {
    const keys = [...this.#taintOf.values()];
    return taints.filter(({ key, effect }) => effect === EFFECT && keys.includes(asText(key)));
  }

  #zoneOf(labels: ApiObject): string {
    const named = (part: string, older: string): string =>
      textAt(labels, this.#dialect.spell(part)) || textAt(labels, this.#dialect.spell(older));
    const region = named('topology.@label/region', 'failure-domain.beta.@label/region');
    return `${region}/${named('topology.@label/zone', 'failure-domain.beta.@label/zone')}`;
  }

  #now(): Moment {
    return { wallMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() };
  }
}

const NEW = { mayBeTainted: false, isSpared: false, wasReady: false };
const NO_NODES: ReadonlyMap<string, Node> = new Map();

function count(counts: Map<string, ZoneCount>, { zone, health }: Node): void {
  const { ready, failing } = counts.get(zone) ?? { ready: 0, failing: 0 };
  const isReady = health.readyStatus === 'True';
  counts.set(zone, isReady ? { ready: ready + 1, failing } : { ready, failing: failing + 1 });
}
