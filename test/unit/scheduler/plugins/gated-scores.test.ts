// Goal: scores that feature gates switch on are the original's, and a profile has them only where its gate is open.
// Method: tables of clusters with volumes; the numbers are worked out by hand.
import test from 'ava';
import type { ScorePlugin } from '../../../../actors/scheduler/framework/framework.ts';
import { DEFAULT_GATES } from '../../../../actors/scheduler/framework/gates.ts';
import { balancedAllocation } from '../../../../actors/scheduler/plugins/balanced-allocation.ts';
import { volumeBinding } from '../../../../actors/scheduler/plugins/volume-binding.ts';
import { attachedDisks } from '../../../../actors/scheduler/plugins/volume-limits.ts';
import { DEFAULT_PLUGINS, withVolumeScores } from '../../../../actors/scheduler/profiles/default-plugins.ts';
import { PLUGIN_ARGS } from '../../../../actors/scheduler/profiles/plugin-args.ts';
import { PLUGINS } from '../../../../actors/scheduler/profiles/plugin-table.ts';
import { makeProfile } from '../../../../actors/scheduler/profiles/profile.ts';
import { dialect, type PodParts } from '../objects.ts';
import { clusterScoreCases } from './cluster-cases.ts';
import {
  CLAIMS,
  CLASSES,
  CSI_NODES,
  claim,
  names,
  onlyOn,
  storageClass,
  using,
  VOLUMES,
  volume,
} from './volume-objects.ts';

const scoring = (shape?: readonly { readonly utilization: number; readonly score: number }[]) =>
  volumeBinding(
    { bindTimeoutMs: 1000, ...(shape === undefined ? {} : { shape }) },
    { ...DEFAULT_GATES, scoresVolumeCapacity: true },
  ) as unknown as ScorePlugin;

const nodes = { a: { labels: { zone: 'a' } }, b: { labels: { zone: 'b' } } };
const waits = storageClass('slow', 'WaitForFirstConsumer', { provisioner: names.noProvisioner });
const sized = (name: string, storage: string, zone: string, more: object = {}) =>
  volume(name, { capacity: { storage }, ...onlyOn('zone', zone), ...more });

clusterScoreCases(scoring(), [
  { title: 'a pod without claims is skipped', nodes, scores: null },
  {
    title: 'the fuller the volume would be, the better the node',
    nodes,
    objects: {
      [CLASSES]: [waits],
      [CLAIMS]: [claim('c')],
      [VOLUMES]: [sized('v', '10Gi', 'a'), sized('w', '40Gi', 'b')],
    },
    pod: using('c'),
    scores: { a: 50, b: 12 },
  },
  {
    title: 'claims of one class are added up, and classes are averaged',
    nodes: { a: nodes.a },
    objects: {
      [CLASSES]: [waits, storageClass('quick', 'WaitForFirstConsumer', { provisioner: names.noProvisioner })],
      [CLAIMS]: [claim('c'), claim('d'), claim('e', { storageClassName: 'quick' })],
      [VOLUMES]: [
        sized('v', '10Gi', 'a'),
        sized('w', '15Gi', 'a'),
        sized('x', '5Gi', 'a', { storageClassName: 'quick' }),
      ],
    },
    pod: using('c', 'd', 'e'),
    scores: { a: 70 },
  },
  {
    title: 'what would be made for the node counts for nothing',
    nodes: { a: nodes.a },
    objects: { [CLASSES]: [storageClass('slow', 'WaitForFirstConsumer')], [CLAIMS]: [claim('c')] },
    pod: using('c'),
    scores: { a: 0 },
  },
]);
clusterScoreCases(
  scoring([
    { utilization: 0, score: 10 },
    { utilization: 100, score: 0 },
  ]),
  [
    {
      title: 'a shape may want the emptiest',
      nodes: { a: nodes.a },
      objects: { [CLASSES]: [waits], [CLAIMS]: [claim('c')], [VOLUMES]: [sized('v', '20Gi', 'a')] },
      pod: using('c'),
      scores: { a: 75 },
    },
  ],
);

const ebs = (...ids: string[]): PodParts => ({
  requests: { cpu: '5', memory: '5000Mi' },
  spec: { volumes: ids.map((volumeID) => ({ name: volumeID, awsElasticBlockStore: { volumeID } })) },
});
const limited = (disks: string) => ({
  n: { allocatable: { cpu: '10', memory: '10000Mi', 'attachable-volumes-aws-ebs': disks } },
});
const none: PodParts = { requests: { cpu: '0', memory: '0' } };
clusterScoreCases(
  balancedAllocation(
    attachedDisks({ provisionerPrefix: dialect.spell('@label/'), migrated: ['aws-ebs'], machineTypeLabels: [] }),
  ),
  [
    {
      title: 'a pod without disks is scored by cpu and memory',
      nodes: limited('4'),
      pod: { requests: { cpu: '5', memory: '2000Mi' } },
      scores: { n: 70 },
    },
    { title: 'equal shares of all three score 100', nodes: limited('4'), pod: ebs('x', 'y'), scores: { n: 100 } },
    // Shares of 1/2, 1/2 and 1/4: their variance is 1/72.
    { title: 'fewer disks than the rest cost their variance', nodes: limited('4'), pod: ebs('x'), scores: { n: 98 } },
    { title: 'the last disks score 0', nodes: limited('2'), pod: ebs('x', 'y'), scores: { n: 0 } },
    {
      title: 'disks that are there take room, and need none again',
      nodes: limited('4'),
      placed: { 'n/o': { ...ebs('x', 'z'), ...none } },
      pod: ebs('x', 'y'),
      scores: { n: 100 },
    },
    {
      title: 'where a CSI driver has taken over, cpu and memory are balanced',
      nodes: limited('4'),
      objects: {
        [CSI_NODES]: [
          {
            metadata: { name: 'n', annotations: { [names.migratedPlugins]: dialect.spell('@label/aws-ebs') } },
            spec: {},
          },
        ],
      },
      pod: ebs('x'),
      scores: { n: 100 },
    },
  ],
);

test('VolumeBinding runs at score where its gate is open, and is refused there where it is not', (t) => {
  const parts = { schedulerName: 's', sets: withVolumeScores(DEFAULT_PLUGINS), args: PLUGIN_ARGS, dialect };
  const { scores } = makeProfile({ ...parts, gates: { ...DEFAULT_GATES, scoresVolumeCapacity: true } });
  t.is(scores.at(-1)?.plugin.name, 'VolumeBinding');
  t.throws(() => makeProfile({ ...parts, gates: DEFAULT_GATES }), { message: /VolumeBinding cannot run at score/ });
});

for (const [name, scores] of [
  ['NodeResourcesLeastAllocated', { n: 25 }],
  ['NodeResourcesMostAllocated', { n: 25 }],
] as const) {
  const resources = ['ephemeral-storage', 'cpu'].map((each) => ({ name: each, weight: 1 }));
  const args = { ...PLUGIN_ARGS, [name]: { resources } };
  const plugin = PLUGINS.get(name)!.create(args, dialect, { ...DEFAULT_GATES, countsLocalStorage: false });
  clusterScoreCases(plugin as ScorePlugin, [
    {
      title: 'where its gate is shut, local storage is what no node has, and weighs as much',
      nodes: { n: { allocatable: { cpu: '10', 'ephemeral-storage': '10Gi' } } },
      pod: { requests: { cpu: '5', memory: '0', 'ephemeral-storage': '10Gi' } },
      scores,
    },
  ]);
}
