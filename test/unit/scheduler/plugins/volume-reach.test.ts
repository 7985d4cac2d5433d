// From where the disks of a volume are reached that its node leaves to a CSI driver, and that everybody else reaches as before.
import test from 'ava';
import { DEFAULT_GATES } from '../../../../actors/scheduler/framework/gates.ts';
import { ClusterEvent } from '../../../../actors/scheduler/objects/cluster-event.ts';
import { volumeBinding } from '../../../../actors/scheduler/plugins/volume-binding.ts';
import { volumeReach } from '../../../../actors/scheduler/plugins/volume-reach.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { dialect } from '../objects.ts';
import { clusterFilterCases, clusterOf, podOf } from './cluster-cases.ts';
import { boundClaim, CLAIMS, CSI_NODES, names, onlyOn, using, VOLUMES, volume } from './volume-objects.ts';

const ZONE = dialect.spell('topology.@label/zone');
const OLD_ZONE = dialect.spell('failure-domain.beta.@label/zone');
const REGION = dialect.spell('topology.@label/region');
const DRIVERS_ZONE = 'topology.cinder.csi.openstack.org/zone';
const CONFLICT = 'node(s) had volume node affinity conflict';

const cinder: JsonObject = { cinder: { volumeID: 'v' } };
const leaves =
  (...kinds: readonly string[]) =>
  (name: string) => ({
    metadata: {
      name,
      annotations: { [names.migratedPlugins]: kinds.map((kind) => dialect.spell(`@label/${kind}`)).join(',') },
    },
  });
const toDriver = leaves('aws-ebs', 'cinder');
/** Both nodes leave their disks to drivers; the driver has its label on `labelled` alone. */
const nodes = {
  labelled: { labels: { [DRIVERS_ZONE]: 'a' } },
  plain: { labels: { [ZONE]: 'a', [OLD_ZONE]: 'a', rack: 'r' } },
};
const objectsOf = (spec: JsonObject, labels: JsonObject = {}, csiNode = toDriver) => ({
  [VOLUMES]: [volume('v', { ...cinder, ...spec }, { labels })],
  [CLAIMS]: [boundClaim('c', 'v')],
  [CSI_NODES]: Object.keys(nodes).map(csiNode),
});
const within = (...expressions: readonly (readonly [key: string, ...values: string[]])[]): JsonObject => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: expressions.map(([key, ...values]) => ({ key, operator: 'In', values })) },
      ],
    },
  },
});

const CASES = (
  [
    ['the zone that a volume names is the zone of the driver', onlyOn(ZONE, 'a'), {}, ['plain']],
    ['so is one by the label of before', onlyOn(OLD_ZONE, 'a', 'b'), {}, ['plain']],
    ['another zone is another one there, too', onlyOn(ZONE, 'b'), {}, ['labelled', 'plain']],
    ['a volume that names no zone is where its label says', {}, { [ZONE]: 'b__a' }, ['plain']],
    ['or its label of before', {}, { [OLD_ZONE]: 'a' }, ['plain']],
    ['the label of today goes before that of before', {}, { [ZONE]: 'b', [OLD_ZONE]: 'a' }, ['labelled', 'plain']],
    ['a region of today says that the label of before is not meant', {}, { [REGION]: 'x', [OLD_ZONE]: 'a' }, []],
    ['a zone that is named is not looked up in the labels', onlyOn(ZONE, 'a'), { [ZONE]: 'b' }, ['plain']],
    ['what else a volume demands is demanded as before', within([ZONE, 'a'], ['rack', 'r']), {}, ['labelled', 'plain']],
    ['and so it is beside the zone of its label', onlyOn('rack', 'r'), { [ZONE]: 'a' }, ['labelled', 'plain']],
    ["the driver's own label is taken as it is", onlyOn(DRIVERS_ZONE, 'a'), { [ZONE]: 'b' }, ['plain']],
    ['a label that names no zone at all demands none', {}, { [ZONE]: ' __' }, []],
    ['a volume that says nothing is reached from everywhere', {}, {}, []],
  ] as const
).map(([title, spec, labels, refused]) => ({
  title: `where a node leaves disks to a driver: ${title}`,
  nodes,
  objects: objectsOf(spec, labels),
  pod: using('c'),
  refused: Object.fromEntries(refused.map((name) => [name, CONFLICT])),
}));
const binding = (...migrated: readonly string[]) =>
  volumeBinding({ bindTimeoutMs: 10_000 }, DEFAULT_GATES, volumeReach(dialect, migrated));
clusterFilterCases(binding('cinder'), CASES);

const AS_BEFORE = { labelled: CONFLICT };
clusterFilterCases(binding('aws-ebs'), [
  {
    title: 'disks that no node may leave to a driver are reached as before',
    nodes,
    objects: objectsOf(onlyOn(ZONE, 'a')),
    pod: using('c'),
    refused: AS_BEFORE,
  },
]);
clusterFilterCases(binding('cinder', 'azure-disk', 'aws-ebs'), [
  {
    title: 'disks of a kind that the node does not leave to a driver are reached as before',
    nodes,
    objects: objectsOf(onlyOn(ZONE, 'a'), {}, leaves('aws-ebs')),
    pod: using('c'),
    refused: AS_BEFORE,
  },
  {
    title: 'the driver for azure disks keeps the zones that are there',
    nodes,
    objects: objectsOf(
      { cinder: undefined, azureDisk: { diskName: 'd' }, ...onlyOn(ZONE, 'a') },
      {},
      leaves('azure-disk'),
    ),
    pod: using('c'),
    refused: AS_BEFORE,
  },
]);

test('a pod is tried again when what a node leaves to drivers changes', (t) => {
  const cluster = clusterOf({ nodes, objects: objectsOf(onlyOn(ZONE, 'b')) });
  const prepared = binding('cinder').prepareFilter(podOf({ nodes, pod: using('c') }), cluster);
  const status = typeof prepared === 'function' ? prepared(cluster.node('plain')!) : null;
  t.truthy((status?.helpedBy ?? 0) & ClusterEvent.attachLimits);
});
