// The enabled plugins in the order they run, and for each kind of write those that want it. What nobody wants costs two
// look-ups in small maps.
import { kindKey } from '../../../api/kind-key.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { AdmissionPluginName } from '../../../config/admission-plugins.ts';
import type { Attributes, Operation, PluginCall, PluginPhases } from '../attributes.ts';
import type { ClusterView } from '../cluster.ts';
import { AdmissionMetrics, type AdmissionType, type NamedCall } from './admission-metrics.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginConfigurations, PluginContext, Wanted } from './plugin.ts';

/** Nobody wants it. */
export const NO_PLUGINS: PluginPhases = { mutating: [], validating: [], isRepeatable: true };

interface Running {
  readonly name: AdmissionPluginName;
  readonly wants: readonly Wanted[];
  readonly plugin: AdmissionPlugin;
  readonly isRepeatable: boolean;
  readonly readsCluster: boolean;
}

export class PluginChain {
  readonly #running: readonly Running[];
  readonly #known = new WeakMap<KnownType, Map<string, PluginPhases>>();

  readonly #cluster: ClusterView;
  readonly #metrics: AdmissionMetrics;

  /** @param kinds in the order they run. */
  constructor(
    kinds: readonly AdmissionPluginKind[],
    context: Omit<PluginContext, 'cluster'> & { readonly cluster: ClusterView },
    configurations: PluginConfigurations,
  ) {
    const { cluster } = context;
    this.#cluster = cluster;
    const { metrics, clock } = context.reader.context;
    this.#metrics = new AdmissionMetrics(metrics, clock);
    this.#running = kinds.map(({ name, wants, isRepeatable = false, create }) => {
      const before = cluster.views;
      const plugin = create(context, configurations[name]);
      return { name, wants, plugin, isRepeatable, readsCluster: cluster.views > before };
    });
  }

  /** The plugins that want to hear of a write. */
  phases(type: KnownType, subresource: string, operation: Operation): PluginPhases {
    let ofType = this.#known.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#known.set(type, ofType);
    }
    const key = subresource === '' ? operation : `${operation}/${subresource}`;
    let phases = ofType.get(key);
    if (phases === undefined) {
      phases = this.#find(type, subresource, operation);
      ofType.set(key, phases);
    }
    return phases;
  }

  /** What a plugin answers the same one of another thread. Throws for one that does not run. */
  answer(name: AdmissionPluginName, question: unknown): unknown {
    const answer = this.#running.find((one) => one.name === name)?.plugin.answer;
    if (answer === undefined) throw new Error(`${name} does not answer here`);
    return answer(question);
  }

  #find(type: KnownType, subresource: string, operation: Operation): PluginPhases {
    const wanting = this.#running.filter(({ wants }) =>
      wants.some((wanted) => isWanted(wanted, type, subresource, operation)),
    );
    if (wanting.length === 0) return NO_PLUGINS;
    const mutating = wanting.flatMap(({ name, readsCluster, plugin: { mutate } }) =>
      mutate === undefined ? [] : [{ name, call: readsCluster ? this.#onWhole(mutate) : mutate }],
    );
    const validating = wanting.flatMap(({ name, readsCluster, plugin: { validate } }) =>
      validate === undefined ? [] : [{ name, call: readsCluster ? this.#onWhole(validate) : validate }],
    );
    const phase = (type: AdmissionType, calls: readonly NamedCall[]): readonly PluginCall[] =>
      calls.length === 0 ? [] : [this.#metrics.phase(type, operation, calls)];
    const phases = {
      mutating: phase('admit', mutating),
      validating: phase('validate', validating),
      isRepeatable: wanting.every((one) => one.isRepeatable || one.plugin.mutate === undefined),
    };
    if (!wanting.some(({ readsCluster }) => readsCluster)) return phases;
    // Whoever comes first waits for all of them. A question (a review) changes nothing, and is answered also while etcd is not reached.
    const cluster = this.#cluster;
    const current = type.persisted || subresource !== '' ? () => cluster.current() : () => cluster.currentHere();
    return mutating.length > 0
      ? { ...phases, mutating: [current, ...phases.mutating] }
      : { ...phases, validating: [current, ...phases.validating] };
  }

  /** What is known of the cluster may have been lost while the write waited for a webhook: until it is there again, it is nothing. */
  #onWhole(call: PluginCall): PluginCall {
    const cluster = this.#cluster;
    const whole: PluginCall = (attributes) => {
      const waiting = cluster.isWhole ? undefined : cluster.current();
      return waiting === undefined ? call(attributes) : waiting.then(() => whole(attributes));
    };
    return whole;
  }
}

function isWanted(
  { operations, resources }: Wanted,
  type: KnownType,
  subresource: string,
  operation: Operation,
): boolean {
  if (!operations.includes(operation)) return false;
  const key = subresource === '' ? kindKey(type) : `${kindKey(type)}/${subresource}`;
  return resources.includes(key) || resources.includes('**') || (subresource === '' && resources.includes('*'));
}

/** Makes one call after the other; undefined when none of them had to wait. Throws what refuses the write. */
export function callEach(calls: readonly PluginCall[], of: Attributes): Promise<void> | undefined {
  for (let index = 0; index < calls.length; index++) {
    const waiting = calls[index]!(of);
    if (waiting instanceof Promise) return waiting.then(() => callEach(calls.slice(index + 1), of));
  }
  return undefined;
}
