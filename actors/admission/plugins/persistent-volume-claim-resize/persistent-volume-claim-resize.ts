// PersistentVolumeClaimResize: a claim grows when it is bound and its class allows it.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { booleanAt, partAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { compareQuantities } from '../../../../values/quantity.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

const NOT_EXPANDABLE =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

class PersistentVolumeClaimResize implements AdmissionPlugin {
  /** Those that allow it. */
  readonly #expandable: KindView<true>;
  readonly #annotation: string;

  constructor({ cluster, dialect }: PluginContext) {
    this.#annotation = dialect.spell('volume.beta.@label/storage-class');
    this.#expandable = cluster.follow('storage.@group/v1/storageclasses', (object) =>
      booleanAt(object, 'allowVolumeExpansion') ? true : undefined,
    );
  }

  readonly validate = (attributes: Attributes): void => {
    const { object, old = {} } = attributes;
    if (compareQuantities(storageOf(old), storageOf(object)) >= 0) return;
    if (partAt(old, 'status').phase !== 'Bound')
      throw forbid(attributes, 'Only bound persistent volume claims can be expanded');
    const name = this.#classOf(object);
    if (name === '' || name !== this.#classOf(old) || this.#expandable.get('', name) === undefined)
      throw forbid(attributes, NOT_EXPANDABLE);
  };

  #classOf(claim: JsonObject): string {
    return metadataOf(claim).annotations?.[this.#annotation] ?? textAt(partAt(claim, 'spec'), 'storageClassName');
  }
}

/** What a claim asks for. */
function storageOf(claim: JsonObject): string {
  return textAt(partAt(partAt(partAt(claim, 'spec'), 'resources'), 'requests'), 'storage', '0');
}

export const persistentVolumeClaimResize: AdmissionPluginKind = {
  name: 'PersistentVolumeClaimResize',
  wants: [{ operations: ['update'], resources: ['core/persistentvolumeclaims'] }],
  create: (context) => new PersistentVolumeClaimResize(context),
};
