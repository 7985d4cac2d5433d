// PodTolerationRestriction: pods get the tolerations of their namespace and keep to those that it allows; both are in annotations, or
// in the settings for all.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { qosClassOf } from '../../../../api/pods/quality-of-service.ts';
import { notFound, unnamedError } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import { ConfigurationError } from '../../../../config/configuration-file.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { areTolerationsAllowed, mergedTolerations } from '../tolerations.ts';
import { readTolerationSettings, type TolerationSettings, tolerationsOf } from './configuration.ts';

/** What a namespace's annotations say; undefined what they do not, and a text what is wrong with it. */
interface NamespaceTolerations {
  readonly standard: readonly JsonObject[] | string | undefined;
  readonly allowed: readonly JsonObject[] | string | undefined;
}

const NO_SETTINGS: TolerationSettings = { standard: [], allowed: [] };

class PodTolerationRestriction implements AdmissionPlugin {
  readonly #settings: TolerationSettings;
  readonly #namespaces: KindView<NamespaceTolerations>;
  readonly #ofMemoryPressure: JsonObject;

  constructor({ cluster, dialect }: PluginContext, settings: TolerationSettings) {
    this.#settings = settings;
    this.#ofMemoryPressure = {
      key: dialect.spell('node.@label/memory-pressure'),
      operator: 'Exists',
      effect: 'NoSchedule',
    };
    const standard = dialect.spell('scheduler.alpha.@label/defaultTolerations');
    const allowed = dialect.spell('scheduler.alpha.@label/tolerationsWhitelist');
    this.#namespaces = cluster.follow('v1/namespaces', (namespace) => {
      const { annotations = {} } = metadataOf(namespace);
      return { standard: annotated(annotations[standard]), allowed: annotated(annotations[allowed]) };
    });
  }

  readonly mutate = (attributes: Attributes): void => {
    const spec = partAt(attributes.object, 'spec');
    const given = partsAt(spec, 'tolerations');
    const added = this.#added(attributes);
    if (added.length > 0)
      attributes.object = { ...attributes.object, spec: { ...spec, tolerations: mergedTolerations(given, added) } };
    this.validate(attributes);
  };

  /** What a pod is given beside its own. */
  #added(attributes: Attributes): readonly JsonObject[] {
    const isNew = attributes.asked.operation === 'create';
    const standard = isNew ? (usable(this.#of(attributes).standard) ?? this.#settings.standard) : [];
    return qosClassOf(attributes.object) === 'BestEffort' ? standard : [...standard, this.#ofMemoryPressure];
  }

  readonly validate = (attributes: Attributes): void => {
    const tolerations = partsAt(partAt(attributes.object, 'spec'), 'tolerations');
    if (tolerations.length === 0) return;
    const own = usable(this.#of(attributes).allowed);
    if (areTolerationsAllowed(tolerations, own ?? this.#settings.allowed)) return;
    const whose = own === undefined ? 'cluster' : 'namespace';
    throw new StatusError(
      unnamedError(
        `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`,
      ),
    );
  };

  #of({ asked: { namespace } }: Attributes): NamespaceTolerations {
    const known = this.#namespaces.get('', namespace);
    if (known === undefined) throw new StatusError(notFound({ group: '', plural: 'namespaces' }, namespace));
    return known;
  }
}

/** An empty annotation names none, which is a choice. */
function annotated(text: string | undefined): readonly JsonObject[] | string | undefined {
  if (text === undefined) return undefined;
  if (text === '') return [];
  try {
    return tolerationsOf(JSON.parse(text), 'tolerations');
  } catch (error) {
    return error instanceof ConfigurationError ? error.message : 'the tolerations of the namespace are not JSON';
  }
}

function usable(tolerations: readonly JsonObject[] | string | undefined): readonly JsonObject[] | undefined {
  if (typeof tolerations === 'string') throw new StatusError(unnamedError(tolerations));
  return tolerations;
}

export const podTolerationRestriction = configurable<TolerationSettings>({
  name: 'PodTolerationRestriction',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  readConfiguration: readTolerationSettings,
  create: (context, settings = NO_SETTINGS) => new PodTolerationRestriction(context, settings),
});
