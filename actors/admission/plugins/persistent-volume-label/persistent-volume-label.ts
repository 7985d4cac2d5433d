// PersistentVolumeLabel: volumes of a cloud carry the labels of their zone. No cloud is asked here: what a provisioner has labelled is
// bound to the nodes of those labels, and other volumes of clouds are refused, as by an original without that cloud.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { isJsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

interface CloudVolume {
  /** Of the spec, and of the source its identity. */
  readonly member: string;
  readonly id: string;
  readonly spoken: string;
  readonly unavailable: string;
  /** Nothing is asked about one that is not there yet. */
  readonly mayBePlanned: boolean;
}

const CLOUD_VOLUMES: readonly CloudVolume[] = [
  {
    member: 'awsElasticBlockStore',
    id: 'volumeID',
    spoken: 'AWS EBS volume',
    unavailable: 'unable to build AWS cloud provider for EBS',
    mayBePlanned: true,
  },
  {
    member: 'gcePersistentDisk',
    id: 'pdName',
    spoken: 'GCE PD volume',
    unavailable: 'unable to build GCE cloud provider for PD',
    mayBePlanned: true,
  },
  {
    member: 'azureDisk',
    id: 'diskName',
    spoken: 'AzureDisk volume',
    unavailable: 'unable to build Azure cloud provider for AzureDisk',
    mayBePlanned: true,
  },
  {
    member: 'cinder',
    id: 'volumeID',
    spoken: 'Cinder volume',
    unavailable: 'unable to build OpenStack cloud provider for Cinder disk',
    mayBePlanned: true,
  },
  {
    member: 'vsphereVolume',
    id: 'volumePath',
    spoken: 'vSphere Volume',
    unavailable: 'unable to build vSphere cloud provider',
    mayBePlanned: false,
  },
];
/** The identity of a volume that is not there yet. */
const PLACEHOLDER = 'placeholder-for-provisioning';
const ZONE_SEPARATOR = '__';

class PersistentVolumeLabel implements AdmissionPlugin {
  /** Zone and region, as they are called now and were called before. */
  readonly #labels: readonly (readonly [zone: string, region: string])[];
  readonly #provisioned: string;

  constructor({ dialect }: PluginContext) {
    this.#labels = [
      [dialect.spell('topology.@label/zone'), dialect.spell('topology.@label/region')],
      [dialect.spell('failure-domain.beta.@label/zone'), dialect.spell('failure-domain.beta.@label/region')],
    ];
    this.#provisioned = dialect.spell('pv.@label/provisioned-by');
  }

  readonly mutate = (attributes: Attributes): void => {
    const labels = this.#trusted(attributes.object);
    if (labels !== undefined) {
      attributes.object = withAffinity(attributes.object, labels);
      return;
    }
    const spec = partAt(attributes.object, 'spec');
    for (const { member, id, spoken, unavailable, mayBePlanned } of CLOUD_VOLUMES) {
      if (!isJsonObject(spec[member])) continue;
      const name = textAt(partAt(spec, member), id);
      if (!mayBePlanned || name !== PLACEHOLDER)
        throw forbid(attributes, `error querying ${spoken} ${name}: ${unavailable}`);
    }
  };

  /** What a provisioner has said; undefined where it has not said all of it. */
  #trusted(volume: JsonObject): readonly Requirement[] | undefined {
    const { labels = {}, annotations = {} } = metadataOf(volume);
    if (!Object.hasOwn(annotations, this.#provisioned)) return undefined;
    for (const [zone, region] of this.#labels) {
      const [zones, regionName] = [labels[zone], labels[region]];
      if (zones === undefined || regionName === undefined) continue;
      return [
        { key: zone, operator: 'In', values: [...new Set(zones.split(ZONE_SEPARATOR))].sort() },
        { key: region, operator: 'In', values: [regionName] },
      ];
    }
    return undefined;
  }
}

interface Requirement extends JsonObject {
  readonly key: string;
}

/** The volume on the nodes that meet all of it, unless it says which nodes those are itself. */
function withAffinity(volume: JsonObject, requirements: readonly Requirement[]): JsonObject {
  const spec = partAt(volume, 'spec');
  const affinity = partAt(spec, 'nodeAffinity');
  const required = partAt(affinity, 'required');
  const given = partsAt(required, 'nodeSelectorTerms');
  const keys = given.flatMap((term) => partsAt(term, 'matchExpressions').map(({ key }) => key));
  if (requirements.some(({ key }) => keys.includes(key))) return volume;
  const terms = (given.length === 0 ? [{}] : given).map((term) => ({
    ...term,
    matchExpressions: [...partsAt(term, 'matchExpressions'), ...requirements],
  }));
  const nodeAffinity = { ...affinity, required: { ...required, nodeSelectorTerms: terms } };
  return { ...volume, spec: { ...spec, nodeAffinity } };
}

export const persistentVolumeLabel: AdmissionPluginKind = {
  name: 'PersistentVolumeLabel',
  wants: [{ operations: ['create'], resources: ['core/persistentvolumes'] }],
  create: (context) => new PersistentVolumeLabel(context),
};
