// Persistent volumes, claims, storage classes and what nodes can attach, read once from the stored objects, and the volumes
// that pods on their way to a node have taken already. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject, asText, asTextMap } from '../../../api/json/object-fields.ts';
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { countOf } from '../../../values/quantity.ts';
import { type Disk, readDisk } from '../pods/disks.ts';
import { type NodeTerm, readNodeTerm } from '../pods/node-terms.ts';
import { readSelector } from '../pods/pod-terms.ts';

/** Whom a volume is kept for. */
export interface ClaimReference {
  readonly namespace: string;
  readonly name: string;
  /** Empty: whoever has the name. */
  readonly uid: string;
}

export interface Volume {
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly storageClass: string;
  readonly capacityBytes: number;
  readonly accessModes: readonly string[];
  readonly block: boolean;
  readonly phase: string;
  readonly deleting: boolean;
  readonly claim: ClaimReference | undefined;
  /** Where it can be reached from; undefined is everywhere. */
  readonly nodeTerms: readonly NodeTerm[] | undefined;
  /** The disk behind it: its kind as in the volume's spec, and what tells it from others of the kind. */
  readonly disk: Disk | undefined;
}

export interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly storageClass: string;
  readonly requestBytes: number;
  readonly accessModes: readonly string[];
  readonly block: boolean;
  readonly selector: LabelSelector | undefined;
  /** Empty: none yet. */
  readonly volumeName: string;
  /** The volume controller has done its part: claim and volume point at each other. */
  readonly bound: boolean;
  readonly lost: boolean;
  readonly deleting: boolean;
  /** The node that its volume is being provisioned for. */
  readonly selectedNode: string;
  /** The uid of the pod that it was made for, if for one. */
  readonly ownerPodUid: string;
}

export interface StorageClass {
  readonly provisioner: string;
  readonly waitsForConsumer: boolean;
  /** Terms of which a node must match one; undefined is every node. */
  readonly allowedTopologies: readonly NodeTerm[] | undefined;
}

/** What a node can attach. */
export interface AttachLimits {
  /** By CSI driver; one that is not here has no limit of its own. */
  readonly limits: ReadonlyMap<string, number>;
  /** In-tree volume plug-ins whose volumes are a CSI driver's business on this node. */
  readonly migrated: ReadonlySet<string>;
}

export interface StorageCapacity {
  readonly storageClass: string;
  /** By their labels; where it is left out, no node. */
  readonly nodes: LabelSelector;
  readonly bytes: number;
  readonly maximumBytes: number | undefined;
}

/** The names of the annotations that volumes and claims carry. */
export interface VolumeNames {
  readonly bindCompleted: string;
  readonly boundByController: string;
  readonly selectedNode: string;
  readonly classAnnotation: string;
  readonly migratedPlugins: string;
  readonly noProvisioner: string;
}

export function volumeNames(dialect: Dialect): VolumeNames {
  return {
    bindCompleted: dialect.spell('pv.@label/bind-completed'),
    boundByController: dialect.spell('pv.@label/bound-by-controller'),
    selectedNode: dialect.spell('volume.@label/selected-node'),
    classAnnotation: dialect.spell('volume.beta.@label/storage-class'),
    migratedPlugins: dialect.spell('storage.alpha.@label/migrated-plugins'),
    noProvisioner: dialect.spell('@label/no-provisioner'),
  };
}

export function readVolume(object: JsonObject, names: VolumeNames): Volume {
  const metadata = asObject(object.metadata);
  const spec = asObject(object.spec);
  const required = asObject(asObject(spec.nodeAffinity).required).nodeSelectorTerms;
  const reference = asObject(spec.claimRef);
  return {
    name: asText(metadata.name),
    resourceVersion: asText(metadata.resourceVersion),
    labels: asTextMap(metadata.labels),
    storageClass: classOf(metadata, spec, names),
    capacityBytes: countOf(asObject(spec.capacity).storage, 1) ?? 0,
    accessModes: asList(spec.accessModes).map(asText),
    block: spec.volumeMode === 'Block',
    phase: asText(asObject(object.status).phase),
    deleting: asText(metadata.deletionTimestamp) !== '',
    claim:
      spec.claimRef === undefined || spec.claimRef === null
        ? undefined
        : { namespace: asText(reference.namespace), name: asText(reference.name), uid: asText(reference.uid) },
    nodeTerms: required === undefined ? undefined : labelTerms(asList(required).map(readNodeTerm)),
    disk: readDisk(spec),
  };
}

/** An annotation is taken at its word, and an empty one means no class. */
function classOf({ annotations }: JsonObject, spec: JsonObject, { classAnnotation }: VolumeNames): string {
  return asText(asObject(annotations)[classAnnotation] ?? spec.storageClassName);
}

/** A volume goes by the labels of nodes alone: fields are not looked at, and a term of nothing else holds everywhere. */
function labelTerms(terms: readonly NodeTerm[]): readonly NodeTerm[] | undefined {
  const ofFieldsAlone = (term: NodeTerm) => term.matchExpressions.length === 0 && term.matchFields.length > 0;
  return terms.some(ofFieldsAlone) ? undefined : terms.map((term) => ({ ...term, matchFields: [] }));
}

export function readClaim(object: JsonObject, names: VolumeNames): Claim {
  const metadata = asObject(object.metadata);
  const annotations = asObject(metadata.annotations);
  const spec = asObject(object.spec);
  const volumeName = asText(spec.volumeName);
  const owner = asList(metadata.ownerReferences)
    .map(asObject)
    .find((each) => each.controller === true);
  return {
    namespace: asText(metadata.namespace),
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
    storageClass: classOf(metadata, spec, names),
    requestBytes: countOf(asObject(asObject(spec.resources).requests).storage, 1) ?? 0,
    accessModes: asList(spec.accessModes).map(asText),
    block: spec.volumeMode === 'Block',
    selector: spec.selector === undefined || spec.selector === null ? undefined : readSelector(spec.selector),
    volumeName,
    bound: volumeName !== '' && annotations[names.bindCompleted] !== undefined,
    lost: asObject(object.status).phase === 'Lost',
    deleting: asText(metadata.deletionTimestamp) !== '',
    selectedNode: asText(annotations[names.selectedNode]),
    ownerPodUid: owner?.kind === 'Pod' ? asText(owner.uid) : '',
  };
}

export function readStorageClass(object: JsonObject): StorageClass {
  const topologies = asList(object.allowedTopologies).map((term): NodeTerm => {
    const expressions = asList(asObject(term).matchLabelExpressions).map(asObject);
    return {
      matchExpressions: expressions.map(({ key, values }) => ({
        key: asText(key),
        operator: 'In',
        values: asList(values).map(asText),
      })),
      matchFields: [],
    };
  });
  return {
    provisioner: asText(object.provisioner),
    waitsForConsumer: object.volumeBindingMode === 'WaitForFirstConsumer',
    allowedTopologies: topologies.length === 0 ? undefined : topologies,
  };
}

export function readAttachLimits(object: JsonObject, names: VolumeNames): AttachLimits {
  const limits = new Map<string, number>();
  for (const driver of asList(asObject(object.spec).drivers).map(asObject)) {
    const { count } = asObject(driver.allocatable);
    if (typeof count === 'number') limits.set(asText(driver.name), count);
  }
  const migrated = asText(asObject(asObject(object.metadata).annotations)[names.migratedPlugins]);
  return { limits, migrated: new Set(migrated.split(',').filter((name) => name !== '')) };
}

export function readStorageCapacity(object: JsonObject): StorageCapacity {
  return {
    storageClass: asText(object.storageClassName),
    nodes: readSelector(object.nodeTopology),
    bytes: countOf(object.capacity, 1) ?? 0,
    maximumBytes: countOf(object.maximumVolumeSize, 1),
  };
}
