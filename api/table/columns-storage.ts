// The columns of volumes, claims on them, and the drivers and classes they come from.
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { booleanAt, listAt, partAt, partsAt, scalarTextAt, textAt, textsAt } from '../json/object-fields.ts';
import { accessModesText } from './access-modes.ts';
import {
  AGE,
  type Column,
  column,
  type KindTable,
  type KindTables,
  kindTable,
  NAME,
  objectName,
  wideColumn,
} from './column.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');
const status = (object: JsonObject): JsonObject => partAt(object, 'status');
const annotations = (object: JsonObject): JsonObject => partAt(partAt(object, 'metadata'), 'annotations');

function phaseText(object: JsonObject): string {
  const { deletionTimestamp } = partAt(object, 'metadata');
  return deletionTimestamp === undefined || deletionTimestamp === null
    ? textAt(status(object), 'phase')
    : 'Terminating';
}

const STATUS = column('Status', 'string', 'Whether claim and volume have found each other.', phaseText);
const VOLUME_MODE = wideColumn('VolumeMode', 'string', 'Whether it is a file system or a block device.', (object) =>
  textAt(spec(object), 'volumeMode', '<unset>'),
);

/** The class of a volume or claim. It once was an annotation, which still goes first. */
function storageClassColumn(dialect: Dialect): Column {
  const annotation = dialect.spell('volume.beta.@label/storage-class');
  return column('StorageClass', 'string', 'The storage class it is of.', (object) => {
    const annotated = annotations(object)[annotation];
    return typeof annotated === 'string' ? annotated : textAt(spec(object), 'storageClassName');
  });
}

function claimText(volume: JsonObject): string {
  const { claimRef } = spec(volume);
  if (claimRef === undefined || claimRef === null) return '';
  const claim = partAt(spec(volume), 'claimRef');
  return `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}

function persistentVolume(dialect: Dialect): KindTable {
  return kindTable([
    NAME,
    column('Capacity', 'string', 'How much it holds.', (object) =>
      scalarTextAt(partAt(spec(object), 'capacity'), 'storage', '0'),
    ),
    column('Access Modes', 'string', 'How it can be mounted.', (object) =>
      accessModesText(textsAt(spec(object), 'accessModes')),
    ),
    column('Reclaim Policy', 'string', 'What becomes of it when its claim is gone.', (object) =>
      textAt(spec(object), 'persistentVolumeReclaimPolicy'),
    ),
    STATUS,
    column('Claim', 'string', 'The claim it is bound to.', claimText),
    storageClassColumn(dialect),
    column('Reason', 'string', 'Why it is in its state, in one word.', (object) => textAt(status(object), 'reason')),
    AGE,
    VOLUME_MODE,
  ]);
}

/** What is only known, and so only shown, of a claim that has a volume. */
function ofBound(cell: (claim: JsonObject) => string): (claim: JsonObject) => string {
  return (claim) => (textAt(spec(claim), 'volumeName') === '' ? '' : cell(claim));
}

function persistentVolumeClaim(dialect: Dialect): KindTable {
  return kindTable([
    NAME,
    STATUS,
    column('Volume', 'string', 'The volume it is bound to.', (object) => textAt(spec(object), 'volumeName')),
    column(
      'Capacity',
      'string',
      'How much the bound volume holds.',
      ofBound((claim) => scalarTextAt(partAt(status(claim), 'capacity'), 'storage', '0')),
    ),
    column(
      'Access Modes',
      'string',
      'How the bound volume can be mounted.',
      ofBound((claim) => accessModesText(textsAt(status(claim), 'accessModes'))),
    ),
    storageClassColumn(dialect),
    AGE,
    VOLUME_MODE,
  ]);
}

function storageClass(dialect: Dialect): KindTable {
  const defaultMarks = [
    dialect.spell('storageclass.@label/is-default-class'),
    dialect.spell('storageclass.beta.@label/is-default-class'),
  ];
  return kindTable([
    {
      ...NAME,
      cell: (object) => {
        const isDefault = defaultMarks.some((mark) => annotations(object)[mark] === 'true');
        return isDefault ? `${objectName(object)} (default)` : objectName(object);
      },
    },
    column('Provisioner', 'string', 'Who makes volumes of the class.', (object) => textAt(object, 'provisioner')),
    column('ReclaimPolicy', 'string', 'What becomes of its volumes when their claims are gone.', (object) =>
      textAt(object, 'reclaimPolicy', 'Delete'),
    ),
    column('VolumeBindingMode', 'string', 'Whether a volume is made at once or when a pod needs it.', (object) =>
      textAt(object, 'volumeBindingMode', 'Immediate'),
    ),
    column('AllowVolumeExpansion', 'string', 'Whether claims on its volumes may grow.', (object) =>
      booleanAt(object, 'allowVolumeExpansion'),
    ),
    AGE,
  ]);
}

const VOLUME_ATTACHMENT = kindTable([
  NAME,
  {
    ...column('Attacher', 'string', 'The driver that attaches the volume.', (object) =>
      textAt(spec(object), 'attacher'),
    ),
    format: 'name',
  },
  column('PV', 'string', 'The volume to attach.', (object) =>
    textAt(partAt(spec(object), 'source'), 'persistentVolumeName'),
  ),
  column('Node', 'string', 'The node to attach it to.', (object) => textAt(spec(object), 'nodeName')),
  column('Attached', 'boolean', 'Whether it is attached.', (object) => booleanAt(status(object), 'attached')),
  AGE,
]);

function audiencesText(driver: JsonObject): string {
  const requests = partsAt(spec(driver), 'tokenRequests');
  return requests.length === 0 ? '<unset>' : requests.map((request) => textAt(request, 'audience')).join(',');
}

/** A switch in the driver's spec. */
function driverSwitch(name: string, member: string, description: string, absent: boolean): Column {
  return column(name, 'boolean', description, (object) => booleanAt(spec(object), member, absent));
}

const CSI_DRIVER = kindTable([
  NAME,
  driverSwitch('AttachRequired', 'attachRequired', 'Whether volumes are attached before they are mounted.', true),
  driverSwitch('PodInfoOnMount', 'podInfoOnMount', 'Whether the driver is told of the pod when it mounts.', false),
  driverSwitch('StorageCapacity', 'storageCapacity', 'Whether the driver reports how much room is left.', false),
  column('TokenRequests', 'string', 'The audiences of the tokens the driver is given for a pod.', audiencesText),
  driverSwitch('RequiresRepublish', 'requiresRepublish', 'Whether mounted volumes are published again.', false),
  column('Modes', 'string', 'Which lifecycles of volumes the driver can serve.', (object) => {
    const modes = textsAt(spec(object), 'volumeLifecycleModes');
    return modes.length === 0 ? '<none>' : modes.join(',');
  }),
  AGE,
]);

export function storageTables(dialect: Dialect): KindTables {
  return {
    '/PersistentVolume': persistentVolume(dialect),
    '/PersistentVolumeClaim': persistentVolumeClaim(dialect),
    'storage.@group/StorageClass': storageClass(dialect),
    'storage.@group/VolumeAttachment': VOLUME_ATTACHMENT,
    'storage.@group/CSIDriver': CSI_DRIVER,
    'storage.@group/CSINode': kindTable([
      NAME,
      column(
        'Drivers',
        'integer',
        'How many drivers are installed on the node.',
        (object) => listAt(spec(object), 'drivers').length,
      ),
      AGE,
    ]),
  };
}
