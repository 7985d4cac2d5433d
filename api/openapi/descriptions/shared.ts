// Texts for fields that mean the same wherever they stand. A type that has more to say of one says it in its group's file.
import type { Descriptions } from './texts.ts';

/**
 * By the field's name alone. Kubernetes' conformance tests look for the first words of what `kubectl explain` says of apiVersion,
 * metadata and metadata.creationTimestamp.
 */
export const SHARED_FIELDS: Descriptions = {
  apiVersion: 'APIVersion defines the group and version that the object is written in, such as "apps/v1".',
  conditions: 'What has been found out about the object, one entry for each type of finding.',
  items: 'The objects of the list.',
  kind: 'What the object is, such as "Pod".',
  metadata: "Standard object's metadata: its name, labels, owners and versions.",
  observedGeneration: 'The metadata.generation that this was written for; an older one means that it is out of date.',
  readOnly: 'True to keep containers from writing to the volume.',
  spec: 'What is wanted.',
  status: 'What is the case, as last found by the system, which writes it.',
};

/** By what the name of the type ends with. */
export const BY_SUFFIX: Readonly<Record<string, Descriptions>> = {
  Condition: {
    lastHeartbeatTime: 'When this was last confirmed.',
    lastProbeTime: 'When this was last looked at.',
    lastTransitionTime: 'When the status last changed from one value to another.',
    lastUpdateTime: 'When this was last written.',
    message: 'Details, for people.',
    reason: 'Why the status is what it is, in one word for programs.',
    status: 'Whether it holds: "True", "False" or "Unknown".',
    type: 'What the entry is about. There is one of each type.',
  },
  List: {
    metadata: 'The version that the list was read at, and how to read on.',
  },
  VolumeSource: {
    fsType: 'The file system to mount, such as "ext4". What the plug-in takes when empty differs.',
    secretRef: 'The secret with the credentials for it.',
    volumeName: 'The name of the volume in the storage system.',
  },
};
