// Keeps the taints by which nothing is placed on a node in step with what the node says of itself: its conditions, and that it is
// unschedulable. Other taints are left alone.

import { asText, booleanAt, partAt, partsAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget } from '../targets.ts';

const NODES = 'core/nodes';
const EFFECT = 'NoSchedule';
const UNSCHEDULABLE = 'unschedulable';

/** The taint's name for a condition's type and status. */
const TAINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
  PIDPressure: { True: 'pid-pressure' },
};

interface Node {
  readonly revision: number;
  readonly taints: readonly ApiObject[];
  /** Names of the taints it should have. */
  readonly wanted: readonly string[];
}

/** Keys are names of nodes. */
export class NodeTaints implements Controller {
  readonly name = 'node-taints';
  readonly identity;
  readonly wants = [NODES];
  readonly keysInFlightMax = 16;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #prefix: string;
  /** The taints that are kept here. */
  readonly #own: ReadonlySet<string>;
  readonly #nodes = new Map<string, Node>();

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'node-controller');
    this.#clock = clock;
    this.#due = due;
    this.#prefix = dialect.spell('node.@label/');
    const names = [...Object.values(TAINTS).flatMap((taints) => Object.values(taints)), UNSCHEDULABLE];
    this.#own = new Set(names.map((name) => this.#prefix + name));
  }

  reset(): void {
    this.#nodes.clear();
  }

  onSynced(): void {
    for (const name of this.#nodes.keys()) this.#due.add(name);
  }

  /** A node that is as it should be is not planned: heartbeats are many. */
  onEvent(event: FeedEvent): void {
    const { name, type, revision } = event;
    if (type === 'delete') {
      this.#nodes.delete(name);
      return;
    }
    const object = event.object();
    const spec = partAt(object, 'spec');
    const node = { revision, taints: partsAt(spec, 'taints'), wanted: wantedTaints(object) };
    this.#nodes.set(name, node);
    if (type !== 'present' && this.#change(node) !== undefined) this.#due.add(name);
  }

  plan(name: string): Plan {
    const node = this.#nodes.get(name);
    const taints = node && this.#change(node);
    if (node === undefined || taints === undefined) return NOTHING;
    const body = { metadata: { resourceVersion: String(node.revision) }, spec: { taints } };
    return { writes: [{ verb: 'patch', target: coreTarget('nodes', '', name), body }] };
  }

  /** The taints that a node should have; undefined where it has them. */
  #change({ taints, wanted }: Node): readonly ApiObject[] | undefined {
    const keys = wanted.map((name) => this.#prefix + name);
    const isOwn = ({ key, effect }: ApiObject): boolean => effect === EFFECT && this.#own.has(asText(key));
    const kept = taints.filter((taint) => !isOwn(taint) || keys.includes(asText(taint.key)));
    const missing = keys.filter((key) => !taints.some((taint) => isOwn(taint) && taint.key === key));
    if (missing.length === 0 && kept.length === taints.length) return undefined;
    const timeAdded = timestampOf(this.#clock.nowMs());
    return [...kept, ...missing.map((key) => ({ key, effect: EFFECT, timeAdded }))];
  }
}

function wantedTaints(node: ApiObject): readonly string[] {
  const names = new Set<string>();
  for (const condition of partsAt(partAt(node, 'status'), 'conditions')) {
    const type = asText(condition.type);
    const name = Object.hasOwn(TAINTS, type) ? TAINTS[type]![asText(condition.status)] : undefined;
    if (name !== undefined) names.add(name);
  }
  if (booleanAt(partAt(node, 'spec'), 'unschedulable')) names.add(UNSCHEDULABLE);
  return [...names];
}
