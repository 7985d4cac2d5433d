// RuntimeClass: a pod names a class that is there, and gets its overhead and the nodes that have it.
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { isJsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt } from '../../../../api/json/object-fields.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import { mergedTolerations } from '../tolerations.ts';

interface RuntimeClass {
  /** Undefined: the class says nothing of it. */
  readonly overhead: JsonObject | undefined;
  readonly scheduling: JsonObject | undefined;
}

const OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const OWN_OVERHEAD = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

class RuntimeClassPlugin implements AdmissionPlugin {
  readonly #classes: KindView<RuntimeClass>;
  readonly #hasOverhead: boolean;

  constructor({ cluster, options }: PluginContext) {
    this.#hasOverhead = options.gate('PodOverhead');
    this.#classes = cluster.follow('node.@group/v1/runtimeclasses', (object) => ({
      overhead: isJsonObject(object.overhead) ? partAt(object.overhead, 'podFixed') : undefined,
      scheduling: isJsonObject(object.scheduling) ? object.scheduling : undefined,
    }));
  }

  readonly mutate = (attributes: Attributes): void => {
    const runtimeClass = this.#classOf(attributes);
    if (runtimeClass === undefined) return;
    if (this.#hasOverhead && runtimeClass.overhead !== undefined) setOverhead(attributes, runtimeClass.overhead);
    if (runtimeClass.scheduling !== undefined) setScheduling(attributes, runtimeClass.scheduling);
  };

  readonly validate = (attributes: Attributes): void => {
    const overhead = this.#hasOverhead ? overheadOf(attributes) : undefined;
    const runtimeClass = this.#classOf(attributes);
    if (!this.#hasOverhead) return;
    if (runtimeClass?.overhead === undefined) {
      if (overhead !== undefined) throw forbid(attributes, OWN_OVERHEAD);
    } else if (!deepEqual(runtimeClass.overhead, overhead ?? {})) throw forbid(attributes, OTHER_OVERHEAD);
  };

  #classOf(attributes: Attributes): RuntimeClass | undefined {
    const { runtimeClassName } = partAt(attributes.object, 'spec');
    if (typeof runtimeClassName !== 'string') return undefined;
    const runtimeClass = this.#classes.get('', runtimeClassName);
    if (runtimeClass === undefined)
      throw forbid(attributes, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
    return runtimeClass;
  }
}

/** Amounts are canonical texts on both sides. */
function overheadOf({ object }: Attributes): JsonObject | undefined {
  const { overhead } = partAt(object, 'spec');
  return isJsonObject(overhead) ? overhead : undefined;
}

function setOverhead(attributes: Attributes, overhead: JsonObject): void {
  const own = overheadOf(attributes);
  if (own !== undefined && !deepEqual(own, overhead)) throw forbid(attributes, OTHER_OVERHEAD);
  const spec = partAt(attributes.object, 'spec');
  attributes.object = { ...attributes.object, spec: { ...spec, overhead } };
}

function setScheduling(attributes: Attributes, scheduling: JsonObject): void {
  const spec = partAt(attributes.object, 'spec');
  const own = partAt(spec, 'nodeSelector');
  const wanted = partAt(scheduling, 'nodeSelector');
  for (const [key, value] of Object.entries(wanted))
    if (Object.hasOwn(own, key) && own[key] !== value)
      throw forbid(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; ` +
          `pod.spec.nodeSelector[${key}] = ${String(own[key])}`,
      );
  const nodeSelector = { ...own, ...wanted };
  const tolerations = mergedTolerations(partsAt(spec, 'tolerations'), partsAt(scheduling, 'tolerations'));
  attributes.object = {
    ...attributes.object,
    spec: {
      ...spec,
      ...(Object.keys(nodeSelector).length === 0 ? undefined : { nodeSelector }),
      ...(tolerations.length === 0 ? undefined : { tolerations }),
    },
  };
}

export const runtimeClass: AdmissionPluginKind = {
  name: 'RuntimeClass',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  create: (context) => new RuntimeClassPlugin(context),
};
