// DenyServiceExternalIPs, PersistentVolumeLabel and OwnerReferencesPermissionEnforcement, case by case.
import test from 'ava';
import { denyServiceExternalIPs } from '../../../../actors/admission/plugins/deny-service-external-ips/deny-service-external-ips.ts';
import { ownerReferencesPermissionEnforcement } from '../../../../actors/admission/plugins/owner-references-permission-enforcement/owner-references-permission-enforcement.ts';
import { persistentVolumeLabel } from '../../../../actors/admission/plugins/persistent-volume-label/persistent-volume-label.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { testPlugin } from './plugin-cases.ts';

const SERVICES = '/api/v1/namespaces/default/services';
const service = (externalIPs?: readonly string[]): object => ({
  metadata: { name: 'it' },
  spec: { ports: [{ port: 80 }], externalIPs },
});
const DENIED = 'services "it" is forbidden: Use of external IPs is denied by admission control';
const external = (...externalIPs: readonly string[]): object => ({ spec: { externalIPs } });

testPlugin('DenyServiceExternalIPs', { plugins: [denyServiceExternalIPs] }, [
  { what: 'a service without external addresses', path: SERVICES, body: service() },
  { what: 'a service with one', path: SERVICES, body: service(['192.0.2.1']), refused: DENIED },
  {
    what: 'a dry run with one',
    path: SERVICES,
    body: service(['192.0.2.1']),
    request: { parameters: { dryRun: ['All'] } },
    refused: DENIED,
  },
  {
    what: 'a service that gets one',
    present: [[SERVICES, service()]],
    verb: 'patch',
    path: `${SERVICES}/it`,
    body: external('192.0.2.1'),
    refused: DENIED,
  },
  {
    what: 'another change of a service',
    present: [[SERVICES, service()]],
    verb: 'patch',
    path: `${SERVICES}/it`,
    body: { metadata: { labels: { a: 'b' } } },
  },
]);

test('DenyServiceExternalIPs: a service keeps the addresses it has, and may give some up', async (t) => {
  let isOn = false;
  const { create } = denyServiceExternalIPs;
  const world = await AdmissionWorld.start({
    plugins: [
      {
        ...denyServiceExternalIPs,
        create: (context) => ({
          validate: (attributes) => (isOn ? create(context).validate!(attributes) : undefined),
        }),
      },
    ],
  });
  await world.created(SERVICES, service(['192.0.2.1', '192.0.2.2']));
  isOn = true;
  t.is((await world.write('patch', `${SERVICES}/it`, { body: { metadata: { labels: { a: 'b' } } } })).code, 200);
  t.is((await world.write('patch', `${SERVICES}/it`, { body: external('192.0.2.2') })).code, 200);
  t.is((await world.write('patch', `${SERVICES}/it`, { body: external('192.0.2.2', '192.0.2.1') })).code, 403);
  await world.stop();
});

const VOLUMES = '/api/v1/persistentvolumes';
const volume = (source: object, metadata: object = {}, more: object = {}): object => ({
  metadata: { name: 'it', ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source, ...more },
});
const provisioned = (labels: object) => ({ labels, annotations: { 'pv.orch.io/provisioned-by': 'p' } });
const ZONED = provisioned({ 'topology.orch.io/zone': 'b__a', 'topology.orch.io/region': 'r' });
const terms = (...expressions: readonly (readonly [key: string, values: readonly string[]])[]) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: expressions.map(([key, values]) => ({ key, operator: 'In', values })) }],
  },
});
const EBS = { awsElasticBlockStore: { volumeID: 'vol-1' } };
const failed = (what: string): string => `persistentvolumes "it" is forbidden: error querying ${what}`;

testPlugin('PersistentVolumeLabel', { plugins: [persistentVolumeLabel] }, [
  {
    what: 'a volume of no cloud',
    path: VOLUMES,
    body: volume({ nfs: { server: 's', path: '/' } }),
    becomes: { spec: { nodeAffinity: undefined } },
  },
  {
    what: 'a volume of AWS',
    path: VOLUMES,
    body: volume(EBS),
    refused: failed('AWS EBS volume vol-1: unable to build AWS cloud provider for EBS'),
  },
  {
    what: 'a volume of GCE',
    path: VOLUMES,
    body: volume({ gcePersistentDisk: { pdName: 'd' } }),
    refused: failed('GCE PD volume d: unable to build GCE cloud provider for PD'),
  },
  {
    what: 'a volume of Azure',
    path: VOLUMES,
    body: volume({ azureDisk: { diskName: 'd', diskURI: 'u' } }),
    refused: failed('AzureDisk volume d: unable to build Azure cloud provider for AzureDisk'),
  },
  {
    what: 'a volume of OpenStack',
    path: VOLUMES,
    body: volume({ cinder: { volumeID: 'v' } }),
    refused: failed('Cinder volume v: unable to build OpenStack cloud provider for Cinder disk'),
  },
  {
    what: 'a volume of vSphere',
    path: VOLUMES,
    body: volume({ vsphereVolume: { volumePath: 'placeholder-for-provisioning' } }),
    refused: failed('vSphere Volume placeholder-for-provisioning: unable to build vSphere cloud provider'),
  },
  {
    what: 'a volume that is not there yet',
    path: VOLUMES,
    body: volume({ awsElasticBlockStore: { volumeID: 'placeholder-for-provisioning' } }),
  },
  {
    what: 'a volume that its provisioner has labelled',
    path: VOLUMES,
    body: volume(EBS, ZONED),
    becomes: {
      spec: { nodeAffinity: terms(['topology.orch.io/zone', ['a', 'b']], ['topology.orch.io/region', ['r']]) },
    },
  },
  {
    what: 'a volume that says itself which nodes have it',
    path: VOLUMES,
    body: volume(EBS, ZONED, { nodeAffinity: terms(['topology.orch.io/zone', ['c']]) }),
    becomes: { spec: { nodeAffinity: terms(['topology.orch.io/zone', ['c']]) } },
  },
  {
    what: 'a volume of which half is labelled',
    path: VOLUMES,
    body: volume(EBS, provisioned({ 'topology.orch.io/zone': 'a' })),
    refused: failed('AWS EBS volume vol-1: unable to build AWS cloud provider for EBS'),
  },
]);

const MAPS = '/api/v1/namespaces/default/configmaps';
const owner = (more: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'd',
  uid: 'u-1',
  ...more,
});
const map = (...ownerReferences: readonly object[]): object => ({ metadata: { name: 'it', ownerReferences } });
const NOT_DELETABLE =
  /^configmaps "it" is forbidden: cannot set an ownerRef on a resource you can't delete: .*, <nil>$/;
const NOT_FINALIZABLE =
  /^configmaps "it" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: .*, <nil>$/;
const BOSS = { groups: ['system:masters'] };

testPlugin(
  'OwnerReferencesPermissionEnforcement',
  { plugins: [ownerReferencesPermissionEnforcement], authorizationModes: 'AlwaysDeny', user: BOSS },
  [
    { what: 'a new object with an owner', path: MAPS, user: {}, body: map(owner()) },
    {
      what: 'a new object that holds its owner back',
      path: MAPS,
      user: {},
      body: map(owner({ blockOwnerDeletion: true })),
      refused: NOT_FINALIZABLE,
    },
    {
      what: 'a new object of a superuser that does',
      path: MAPS,
      user: BOSS,
      body: map(owner({ blockOwnerDeletion: true })),
    },
    {
      what: 'a new object that holds back an owner of no known kind',
      path: MAPS,
      user: {},
      body: map(owner({ kind: 'Nothing', blockOwnerDeletion: true })),
      refused:
        'configmaps "it" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Nothing: no matches for kind "Nothing" in version "apps/v1"',
    },
    {
      what: 'an object that gets an owner',
      present: [[MAPS, map()]],
      verb: 'patch',
      path: `${MAPS}/it`,
      user: {},
      body: map(owner()),
      refused: NOT_DELETABLE,
    },
    {
      what: 'an object that gets an owner from a superuser',
      present: [[MAPS, map()]],
      verb: 'patch',
      path: `${MAPS}/it`,
      user: BOSS,
      body: map(owner()),
    },
    {
      what: 'an object that loses its owner',
      present: [[MAPS, map(owner())]],
      verb: 'patch',
      path: `${MAPS}/it`,
      user: {},
      body: { metadata: { ownerReferences: null } },
      refused: NOT_DELETABLE,
    },
    {
      what: 'another change of an owned object',
      present: [[MAPS, map(owner({ blockOwnerDeletion: true }))]],
      verb: 'patch',
      path: `${MAPS}/it`,
      user: {},
      body: { data: { a: 'b' } },
    },
    {
      what: 'a dry run that gives an owner',
      present: [[MAPS, map()]],
      verb: 'patch',
      path: `${MAPS}/it`,
      user: {},
      body: map(owner()),
      request: { parameters: { dryRun: ['All'] } },
      refused: NOT_DELETABLE,
    },
  ],
);
