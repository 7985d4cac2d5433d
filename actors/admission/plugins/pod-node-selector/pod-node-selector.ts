// PodNodeSelector: the node selector of a namespace, in an annotation or in the settings, is that of its pods, who may add to it
// what the settings allow.
import { asObject, partAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { notFound, unnamedError } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbidNamed } from '../forbid.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { type NodeSelectorSettings, readNodeSelectors } from './configuration.ts';
import { areAllowed, conflict, type Labels, labelsOfText } from './label-text.ts';

const NO_SETTINGS: NodeSelectorSettings = { standard: {}, allowed: {} };

/** What a namespace's annotation says, where it has one; a text says what is wrong with it. */
interface NamespaceSelector {
  readonly labels: Labels | string | undefined;
}

class PodNodeSelector implements AdmissionPlugin {
  readonly #settings: NodeSelectorSettings;
  readonly #namespaces: KindView<NamespaceSelector>;

  constructor({ cluster, dialect }: PluginContext, settings: NodeSelectorSettings) {
    this.#settings = settings;
    const annotation = dialect.spell('scheduler.alpha.@label/node-selector');
    this.#namespaces = cluster.follow('v1/namespaces', (namespace) => {
      const text = metadataOf(namespace).annotations?.[annotation];
      return { labels: text === undefined ? undefined : labelsOfText(text) };
    });
  }

  readonly mutate = (attributes: Attributes): void => {
    const wanted = this.#wanted(attributes.asked.namespace);
    const spec = partAt(attributes.object, 'spec');
    const own = asObject(spec.nodeSelector) as Labels;
    if (conflict(wanted, own))
      throw forbidNamed(attributes, 'pod node label selector conflicts with its namespace node label selector');
    if (Object.keys(wanted).length > 0)
      attributes.object = { ...attributes.object, spec: { ...spec, nodeSelector: { ...own, ...wanted } } };
    this.#requireAllowed(attributes);
  };

  /** What came later in the chain may have changed it. */
  readonly validate = (attributes: Attributes): void => {
    const selector = partAt(partAt(attributes.object, 'spec'), 'nodeSelector') as Labels;
    if (conflict(this.#wanted(attributes.asked.namespace), selector))
      throw forbidNamed(attributes, 'pod node label selector conflicts with its namespace node label selector');
    this.#requireAllowed(attributes);
  };

  #wanted(name: string): Labels {
    const namespace = this.#namespaces.get('', name);
    if (namespace === undefined) throw new StatusError(notFound({ group: '', plural: 'namespaces' }, name));
    const { labels = this.#settings.standard } = namespace;
    if (typeof labels === 'string') throw new StatusError(unnamedError(labels));
    return labels;
  }

  #requireAllowed(attributes: Attributes): void {
    const { allowed } = this.#settings;
    const { namespace } = attributes.asked;
    if (!Object.hasOwn(allowed, namespace)) return;
    const selector = partAt(partAt(attributes.object, 'spec'), 'nodeSelector') as Labels;
    if (!areAllowed(selector, allowed[namespace]!))
      throw forbidNamed(attributes, 'pod node label selector labels conflict with its namespace whitelist');
  }
}

export const podNodeSelector = configurable<NodeSelectorSettings>({
  name: 'PodNodeSelector',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  readConfiguration: readNodeSelectors,
  create: (context, settings = NO_SETTINGS) => new PodNodeSelector(context, settings),
});
