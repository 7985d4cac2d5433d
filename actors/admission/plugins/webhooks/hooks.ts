// The webhooks of one kind of configuration, followed: in the order of the configurations' names, and in each as they are listed. Which
// of them hear of a kind of write is found once, until a configuration changes.
import type { Registry } from '../../../../api/resources/registry.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import type { Operation } from '../../attributes.ts';
import type { ClusterView, KindView } from '../../cluster.ts';
import { type Hook, hooksOf } from '../../hooks/hook.ts';
import { type Invocation, invocationsOf } from './matching.ts';

const NONE: readonly Invocation[] = Object.freeze([]);

export class Hooks {
  readonly #registry: Registry;
  readonly #view: KindView<readonly Hook[]>;
  readonly #onChange: (hooks: readonly Hook[]) => void;
  #known = new WeakMap<KnownType, Map<string, readonly Invocation[]>>();
  #hooks: readonly Hook[] = [];
  #changes = -1;

  /** `onChange` is told of all webhooks, before the first of them is asked for. */
  constructor(
    plural: string,
    { cluster, registry }: { readonly cluster: Pick<ClusterView, 'follow'>; readonly registry: Registry },
    onChange: (hooks: readonly Hook[]) => void,
  ) {
    this.#registry = registry;
    this.#onChange = onChange;
    this.#view = cluster.follow(`admissionregistration.@group/v1/${plural}`, (configuration, { name }) =>
      hooksOf(configuration, name),
    );
  }

  /** The webhooks that hear of a kind of write, in their order. */
  for(type: KnownType, subresource: string, operation: Operation): readonly Invocation[] {
    if (this.#changes !== this.#view.changes) this.#refresh();
    if (this.#hooks.length === 0) return NONE;
    let ofType = this.#known.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#known.set(type, ofType);
    }
    const key = `${operation}/${subresource}`;
    let found = ofType.get(key);
    if (found === undefined) {
      found = invocationsOf(this.#hooks, this.#registry, type, subresource, operation);
      ofType.set(key, found);
    }
    return found;
  }

  #refresh(): void {
    const configurations = this.#view.within('');
    this.#changes = this.#view.changes;
    this.#known = new WeakMap();
    this.#hooks = [...configurations].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, hooks]) => hooks);
    this.#onChange(this.#hooks);
  }
}
