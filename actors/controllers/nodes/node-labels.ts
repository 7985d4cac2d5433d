// Keeps the older names of what a node's labels say of its machine in step with the newer ones, by which manifests of old choose nodes.

import { partAt, textAt } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget } from '../targets.ts';

const NODES = 'core/nodes';

/** A newer label, which counts, and the older one that says the same. */
const PAIRS = [
  ['@label/os', 'beta.@label/os'],
  ['@label/arch', 'beta.@label/arch'],
] as const;

interface Untidy {
  readonly revision: number;
  /** Those that are to be others. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Keys are names of nodes. */
export class NodeLabels implements Controller {
  readonly name = 'node-labels';
  readonly identity;
  readonly wants = [NODES];
  readonly keysInFlightMax = 8;
  readonly #due: Due;
  readonly #pairs: readonly (readonly [newer: string, older: string])[];
  readonly #untidy = new Map<string, Untidy>();

  constructor(due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'node-controller');
    this.#due = due;
    this.#pairs = PAIRS.map(([newer, older]) => [dialect.spell(newer), dialect.spell(older)]);
  }

  reset(): void {
    this.#untidy.clear();
  }

  /** A node that is as it should be is not planned: heartbeats are many. */
  onEvent(event: FeedEvent): void {
    const { name, type, revision } = event;
    this.#untidy.delete(name);
    if (type === 'delete') return;
    const labels = this.#changes(partAt(partAt(event.object(), 'metadata'), 'labels'));
    if (labels === undefined) return;
    this.#untidy.set(name, { revision, labels });
    this.#due.add(name);
  }

  /** Undefined where the labels are in step. */
  #changes(labels: ApiObject): Untidy['labels'] | undefined {
    const changes = this.#pairs
      .filter(([newer, older]) => labels[newer] !== undefined && labels[newer] !== labels[older])
      .map(([newer, older]) => [older, textAt(labels, newer)]);
    return changes.length === 0 ? undefined : Object.fromEntries(changes);
  }

  onSynced(): void {
    for (const name of this.#untidy.keys()) this.#due.add(name);
  }

  plan(name: string): Plan {
    const node = this.#untidy.get(name);
    if (node === undefined) return NOTHING;
    const metadata = { resourceVersion: String(node.revision), labels: node.labels };
    return { writes: [{ verb: 'patch', target: coreTarget('nodes', '', name), body: { metadata } }] };
  }
}
