// Goal: what a configuration file, a policy and the flags say is what runs, and what cannot be is refused where it stands.
// Method: tables of files; a good one is followed to the profiles made of it, a bad one to the path in its error.
import test from 'ava';
import { defaultConfiguration } from '../../../../actors/scheduler/configuration/defaults.ts';
import { effectiveConfiguration, type SchedulerFlags } from '../../../../actors/scheduler/configuration/effective.ts';
import { profilesOf } from '../../../../actors/scheduler/configuration/profiles.ts';
import { writtenConfiguration } from '../../../../actors/scheduler/configuration/write-configuration.ts';
import type { SchedulerGates } from '../../../../actors/scheduler/framework/gates.ts';
import { DEFAULT_GATES } from '../../../../actors/scheduler/framework/gates.ts';
import { PLUGINS } from '../../../../actors/scheduler/profiles/plugin-table.ts';
import { qualifiedNameProblems } from '../../../../api/metadata/formats.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { parseArguments } from '../../../../config/parse.ts';

const dialect = DIALECTS.orch;
const HEAD = { apiVersion: 'orchscheduler.config.orch.io/v1beta1', kind: 'OrchSchedulerConfiguration' };
const FLAGS: SchedulerFlags = { schedulerName: 'default-scheduler', hardPodAffinitySymmetricWeight: 1 };

interface Given {
  readonly file?: unknown;
  readonly policy?: unknown;
  readonly flags?: Partial<SchedulerFlags>;
  readonly gates?: Partial<SchedulerGates>;
}

function effective({ file, policy, flags, gates = {} }: Given) {
  const readFile = (path: string): string => `text of ${path}`;
  return effectiveConfiguration({
    flags: { ...FLAGS, ...flags },
    file,
    policy,
    dialect,
    readFile,
    gates: { ...DEFAULT_GATES, ...gates },
  });
}

const ofFile = (members: object) => effective({ file: { ...HEAD, ...members } });
const ofProfile = (profile: object) => ofFile({ profiles: [profile] });
const namesOf = (plugins: readonly { readonly name: string }[]): readonly string[] => plugins.map(({ name }) => name);

test('no file and no flag give the defaults, and so does a file that says nothing', (t) => {
  const standard = defaultConfiguration(dialect);
  t.deepEqual(effective({}), standard);
  t.deepEqual(ofFile({}), standard);
  t.is(profilesOf(standard, dialect).length, 1);
});

test('without the gate of spreading by topology pods without constraints are spread by their services and controllers', (t) => {
  const scoresOf = (given: Given) =>
    namesOf(effective({ ...given, gates: { spreadsByTopology: false } }).profiles[0]!.sets.score);
  const argsOf = (given: Given) =>
    effective({ ...given, gates: { spreadsByTopology: false } }).profiles[0]!.args.PodTopologySpread;
  for (const file of [undefined, HEAD]) {
    t.true(scoresOf({ file }).includes('SelectorSpread'));
    t.false(argsOf({ file }).systemDefaults);
    t.is(profilesOf(effective({ file, gates: { spreadsByTopology: false } }), dialect).length, 1);
  }
  t.false(namesOf(effective({}).profiles[0]!.sets.score).includes('SelectorSpread'));
  const said = { pluginConfig: [{ name: 'PodTopologySpread', args: { defaultingType: 'System' } }] };
  t.true(argsOf({ file: { ...HEAD, profiles: [said] } }).systemDefaults);
});

test('a shape for volumes is taken with the gate of their scores, and refused without', (t) => {
  const shape = [{ utilization: 0, score: 10 }];
  const file = { ...HEAD, profiles: [{ pluginConfig: [{ name: 'VolumeBinding', args: { shape } }] }] };
  t.throws(() => effective({ file }), { message: /profiles: .*shape.*VolumeCapacityPriority/ });
  const open = effective({ file, gates: { scoresVolumeCapacity: true } });
  t.deepEqual(open.profiles[0]!.args.VolumeBinding.shape, shape);
  t.is(namesOf(open.profiles[0]!.sets.score).at(-1), 'VolumeBinding');
  const written = effective({ file: writtenConfiguration(open, dialect), gates: { scoresVolumeCapacity: true } });
  t.deepEqual(written, open);
});

test('files of the other dialect are read as well', (t) => {
  const file = { apiVersion: 'kubescheduler.config.k8s.io/v1beta1', kind: 'KubeSchedulerConfiguration' };
  t.is(effective({ file: { ...file, podMaxBackoffSeconds: 20 } }).podMaxBackoffMs, 20_000);
});

test('a profile is laid over the defaults: what it disables is gone, what it enables comes last', (t) => {
  const { profiles } = ofProfile({
    schedulerName: 'mine',
    plugins: {
      score: { disabled: [{ name: 'ImageLocality' }], enabled: [{ name: 'NodeResourcesMostAllocated', weight: 7 }] },
      filter: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeName' }] },
      preFilter: { disabled: [{ name: '*' }] },
    },
  });
  const { schedulerName, sets } = profiles[0]!;
  t.is(schedulerName, 'mine');
  t.false(namesOf(sets.score).includes('ImageLocality'));
  t.deepEqual(sets.score.at(-1), { name: 'NodeResourcesMostAllocated', weight: 7 });
  t.deepEqual(namesOf(sets.filter), ['NodeName']);
});

test('every built-in plug-in can be enabled where it runs, by its name', (t) => {
  for (const [name, { points }] of PLUGINS) {
    const plugins = Object.fromEntries(
      points.map((point) => [point, { disabled: [{ name }], enabled: [{ name, weight: 3 }] }]),
    );
    const pluginConfig =
      name === 'RequestedToCapacityRatio' ? [{ name, args: { shape: [{ utilization: 0, score: 10 }] } }] : [];
    const file = { ...HEAD, profiles: [{ plugins, pluginConfig }] };
    t.notThrows(() => profilesOf(effective({ file, gates: { scoresVolumeCapacity: true } }), dialect), name);
  }
});

test('arguments of plug-ins reach the profile', (t) => {
  const { args } = ofProfile({
    pluginConfig: [
      { name: 'InterPodAffinity', args: { hardPodAffinityWeight: 5 } },
      {
        name: 'VolumeBinding',
        args: { apiVersion: HEAD.apiVersion, kind: 'VolumeBindingArgs', bindTimeoutSeconds: 9 },
      },
      { name: 'NodeResourcesLeastAllocated', args: { resources: [{ name: 'gpu', weight: 4 }] } },
      {
        name: 'PodTopologySpread',
        args: { defaultConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway' }] },
      },
    ],
  }).profiles[0]!;
  t.is(args.InterPodAffinity.hardPodAffinityWeight, 5);
  t.is(args.VolumeBinding.bindTimeoutMs, 9_000);
  t.deepEqual(args.NodeResourcesLeastAllocated.resources, [{ name: 'gpu', weight: 4 }]);
  t.deepEqual(args.PodTopologySpread, {
    defaultConstraints: [{ topologyKey: 'rack', maxSkew: 2, required: false }],
    systemDefaults: false,
  });
});

test('what is written out reads back as the same configuration', (t) => {
  const configuration = ofFile({
    podInitialBackoffSeconds: 2,
    parallelism: 4,
    leaderElection: { leaseDuration: '30s', resourceLock: 'endpointsleases' },
    clientConnection: { qps: 7.5, burst: 9 },
    profiles: [
      {
        schedulerName: 'a',
        plugins: { score: { disabled: [{ name: '*' }] }, preScore: { disabled: [{ name: '*' }] } },
      },
      { schedulerName: 'b', pluginConfig: [{ name: 'InterPodAffinity', args: { hardPodAffinityWeight: 0 } }] },
    ],
  });
  t.deepEqual(effective({ file: writtenConfiguration(configuration, dialect) }), configuration);
  t.like(writtenConfiguration(configuration, dialect), { parallelism: 4 });
  t.like(writtenConfiguration(effective({}), dialect), { parallelism: 16 });
});

test('without a file the flags hold, and beside one they do not', (t) => {
  const flags: Partial<SchedulerFlags> = {
    schedulerName: 'mine',
    hardPodAffinitySymmetricWeight: 44,
    algorithmProvider: 'ClusterAutoscalerProvider',
    leaderElect: false,
    orchApiQps: 5,
    address: '::1',
    port: 1234,
  };
  const { profiles, leaderElection, clientConnection, healthzBindAddress } = effective({ flags });
  t.is(profiles[0]!.schedulerName, 'mine');
  t.is(profiles[0]!.args.InterPodAffinity.hardPodAffinityWeight, 44);
  t.true(namesOf(profiles[0]!.sets.score).includes('NodeResourcesMostAllocated'));
  t.false(leaderElection.leaderElect);
  t.is(clientConnection.qps, 5);
  t.is(healthzBindAddress, '[::1]:1234');
  t.is(
    effective({ flags: { ...flags, algorithmProvider: '' }, file: HEAD }).profiles[0]!.schedulerName,
    'default-scheduler',
  );
});

test('a policy names predicates and priorities, and the two that always hold are added', (t) => {
  const { profiles } = effective({
    policy: {
      kind: 'Policy',
      apiVersion: 'v1',
      predicates: [
        { name: 'PodFitsResources' },
        { name: 'Racks', argument: { labelsPresence: { labels: ['rack'], presence: true } } },
      ],
      priorities: [
        { name: 'LeastRequestedPriority', weight: 3 },
        { name: 'EqualPriority', weight: 1 },
        { name: 'Zones', weight: 2, argument: { serviceAntiAffinity: { label: 'zone' } } },
      ],
    },
  });
  const { sets, args } = profiles[0]!;
  t.deepEqual(namesOf(sets.filter), ['NodeUnschedulable', 'NodeResourcesFit', 'TaintToleration', 'NodeLabel']);
  t.deepEqual(sets.score, [
    { name: 'NodeResourcesLeastAllocated', weight: 3 },
    { name: 'ServiceAffinity', weight: 2 },
  ]);
  t.deepEqual(args.NodeLabel.presentLabels, ['rack']);
  t.deepEqual(args.ServiceAffinity.antiAffinityLabelsPreference, ['zone']);
  t.notThrows(() => profilesOf(effective({ policy: {} }), dialect));
  const apiVersion = 'kubescheduler.config.k8s.io/v1';
  t.deepEqual(effective({ policy: { kind: 'Policy', apiVersion } }), effective({ policy: {} }));
});

test('alwaysCheckAllPredicates of a policy is what the profile does, also where it was written and read again', (t) => {
  for (const alwaysCheckAllPredicates of [false, true]) {
    const configuration = effective({ policy: { alwaysCheckAllPredicates } });
    const again = effective({ file: writtenConfiguration(configuration, dialect) });
    for (const { asksAllFilters } of [...profilesOf(configuration, dialect), ...profilesOf(again, dialect)])
      t.is(asksAllFilters, alwaysCheckAllPredicates);
  }
});

test('of a priority that a policy names twice the last weight counts, and those of its own add up', (t) => {
  const label = (name: string) => ({ name, weight: 2, argument: { labelPreference: { label: name, presence: true } } });
  const priorities = [
    { name: 'ImageLocalityPriority', weight: 3 },
    { name: 'ServiceSpreadingPriority', weight: 4 },
    label('a'),
    { name: 'ImageLocalityPriority', weight: 5 },
    { name: 'SelectorSpreadPriority', weight: 6 },
    label('b'),
  ];
  t.deepEqual(effective({ policy: { priorities }, gates: { spreadsByTopology: false } }).profiles[0]!.sets.score, [
    { name: 'ImageLocality', weight: 5 },
    { name: 'SelectorSpread', weight: 6 },
    { name: 'NodeLabel', weight: 4 },
  ]);
});

test('a policy that names no predicates has the usual ones asked in the order of predicates', (t) => {
  const filters = effective({ policy: {} }).profiles[0]!.sets.filter;
  t.deepEqual(namesOf(filters).slice(0, 7), [
    ...['NodeUnschedulable', 'NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity'],
    ...['VolumeRestrictions', 'TaintToleration'],
  ]);
  t.deepEqual(namesOf(filters).toSorted(), namesOf(effective({}).profiles[0]!.sets.filter).toSorted());
});

test('an argument of a predicate or priority that has a meaning of its own says nothing', (t) => {
  const { sets, args } = effective({
    policy: {
      predicates: [
        { name: 'CheckNodeLabelPresence', argument: { labelsPresence: { labels: ['a'], presence: true } } },
        { name: 'HostName', argument: { serviceAffinity: { labels: ['b'] } } },
      ],
      priorities: [
        { name: 'ImageLocalityPriority', weight: 2, argument: { labelPreference: { label: 'c', presence: true } } },
      ],
    },
  }).profiles[0]!;
  t.deepEqual(namesOf(sets.filter), ['NodeUnschedulable', 'NodeName', 'TaintToleration', 'NodeLabel']);
  t.deepEqual(sets.score, [{ name: 'ImageLocality', weight: 2 }]);
  t.deepEqual([...args.NodeLabel.presentLabels, ...args.NodeLabel.presentLabelsPreference], []);
  t.deepEqual(args.ServiceAffinity.affinityLabels, []);
});

test('a weight of 0 for required affinity is none that a policy gives', (t) => {
  const weightOf = (policy: object) => effective({ policy }).profiles[0]!.args.InterPodAffinity.hardPodAffinityWeight;
  t.is(weightOf({ hardPodAffinitySymmetricWeight: 0 }), 1);
  t.is(weightOf({}), 1);
  t.is(weightOf({ hardPodAffinitySymmetricWeight: 7 }), 7);
});

test('a policy spreads pods without constraints by topology, as the gate says, where it names that or no priorities', (t) => {
  const spread = (priorities: readonly object[] | undefined, spreadsByTopology: boolean) => {
    const policy = { kind: 'Policy', apiVersion: 'v1', ...(priorities === undefined ? {} : { priorities }) };
    const configuration = effective({ policy, gates: { spreadsByTopology } });
    t.notThrows(() => profilesOf(configuration, dialect));
    const { sets, args } = configuration.profiles[0]!;
    const scores = sets.score.filter(({ name }) => name.endsWith('Spread'));
    return { scores, systemDefaults: args.PodTopologySpread.systemDefaults };
  };
  const byOwners = { name: 'SelectorSpreadPriority', weight: 3 };
  const byConstraints = { name: 'EvenPodsSpreadPriority', weight: 4 };
  const topology = (weight: number) => ({ name: 'PodTopologySpread', weight });
  const selector = (weight: number) => ({ name: 'SelectorSpread', weight });
  t.deepEqual(spread(undefined, true), { scores: [topology(2)], systemDefaults: true });
  t.deepEqual(spread([byOwners], true), { scores: [topology(3)], systemDefaults: true });
  t.deepEqual(spread([byConstraints], true), { scores: [topology(4)], systemDefaults: false });
  for (const both of [
    [byOwners, byConstraints],
    [byConstraints, byOwners],
  ]) {
    t.deepEqual(spread(both, true), { scores: [topology(4)], systemDefaults: true });
  }
  t.deepEqual(spread(undefined, false), { scores: [topology(2), selector(1)], systemDefaults: false });
  t.deepEqual(spread([byConstraints, byOwners], false), { scores: [topology(4), selector(3)], systemDefaults: false });
});

const score = (enabled: readonly object[]) => ({ plugins: { score: { enabled } } });
const args = (name: string, value: object) => ({ profiles: [{ pluginConfig: [{ name, args: value }] }] });
const REQUIRED =
  'profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const required = (term: object) =>
  args('NodeAffinity', {
    addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  });
const EXTENDER = { urlPrefix: 'http://127.0.0.1:1/', filterVerb: 'filter' };

test('addresses to listen on may be of either family, of all, or of none', (t) => {
  for (const address of ['127.0.0.1:10251', '[::1]:1', ':10251', '0.0.0.0:0', '']) {
    t.is(ofFile({ healthzBindAddress: address, metricsBindAddress: address }).metricsBindAddress, address);
  }
  t.is(ofFile({ metricsBindAddress: '127.0.0.1' }).metricsBindAddress, '127.0.0.1:10251');
  t.is(ofFile({ healthzBindAddress: '::1' }).healthzBindAddress, '[::1]:10251');
});

test('a lease may be renewed until it ends, by the file as by the flag', (t) => {
  t.is(ofFile({ leaderElection: { renewDeadline: '15s' } }).leaderElection.renewDeadlineMs, 15_000);
});

test('what is written and says nothing counts as not said: no profiles, no resources, no way of defaulting, no lock', (t) => {
  t.deepEqual(ofFile({ profiles: [] }), ofFile({}));
  const election = { resourceLock: '', resourceName: '', resourceNamespace: '', retryPeriod: '0s' };
  t.deepEqual(ofFile({ leaderElection: election }), ofFile({}));
  const none = args('NodeResourcesLeastAllocated', { resources: [] });
  t.deepEqual(ofFile(none).profiles[0]!.args, ofFile({}).profiles[0]!.args);
  const spread = ofFile(args('PodTopologySpread', { defaultingType: '' })).profiles[0]!.args.PodTopologySpread;
  t.true(spread.systemDefaults);
  t.deepEqual(
    ofFile(args('PodTopologySpread', { defaultConstraints: [] })).profiles[0]!.args.PodTopologySpread,
    spread,
  );
});

test('a rate of requests below 0 is taken from the file and from the flag: there is no limit then', (t) => {
  t.is(ofFile({ clientConnection: { qps: -1 } }).clientConnection.qps, -1);
  const parsed = parseArguments('scheduler', ['--orch-api-qps', '-0.5']);
  t.is(parsed.action === 'run' && parsed.options.orchApiQps, -0.5);
});

test('a deadline of 0 for an extender says nothing, in a file and in a policy', (t) => {
  const asked = { urlPrefix: 'http://there', filterVerb: 'filter' };
  const deadline = (httpTimeout: unknown) =>
    effective({ policy: { extenders: [{ ...asked, httpTimeout }] } }).extenders[0]!.httpTimeoutMs;
  t.is(ofFile({ extenders: [{ ...asked, httpTimeout: '0s' }] }).extenders[0]!.httpTimeoutMs, 5_000);
  t.deepEqual([undefined, 0, 1, 2e9].map(deadline), [5_000, 5_000, 1, 2_000]);
});

test('a resource can weigh any amount where the ratio of use is scored', (t) => {
  const resources = [{ name: 'cpu', weight: 1000 }];
  const shape = [{ utilization: 0, score: 0 }];
  const read = ofFile(args('RequestedToCapacityRatio', { shape, resources })).profiles[0]!.args;
  t.deepEqual(read.RequestedToCapacityRatio.resources, resources);
});

/** What a file holds beside its head, and what is said of it. */
const BAD_FILES: readonly (readonly [members: object, message: string])[] = [
  [
    { apiVersion: 'v1' },
    'apiVersion: must be one of orchscheduler.config.orch.io/v1beta1, kubescheduler.config.k8s.io/v1beta1',
  ],
  [{ kind: 'Config' }, 'kind: must be one of OrchSchedulerConfiguration, KubeSchedulerConfiguration'],
  [{ profile: [] }, 'profile: is an unknown field'],
  [{ profiles: {} }, 'profiles: must be a list'],
  [{ profiles: [3] }, 'profiles[0]: must be an object'],
  [{ profiles: [{}, {}] }, 'profiles[0].schedulerName: is required'],
  [{ profiles: [{ schedulerName: '' }] }, 'profiles[0].schedulerName: is required'],
  [
    { profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] },
    'profiles[1].schedulerName: a is the name of another profile',
  ],
  [
    args('InterPodAffinity', { apiVersion: HEAD.apiVersion, kind: 'NodeAffinityArgs' }),
    'profiles[0].pluginConfig[0].args.kind: must be InterPodAffinityArgs, or be left out',
  ],
  [
    args('PodTopologySpread', { defaultConstraints: [{ maxSkew: 1, topologyKey: 'zone' }] }),
    'profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: is required',
  ],
  [{ profiles: [{ plugins: { scores: {} } }] }, 'profiles[0].plugins.scores: is an unknown field'],
  [{ profiles: [score([{}])] }, 'profiles[0].plugins.score.enabled[0].name: is required'],
  [
    { profiles: [score([{ name: 'ImageLocality' }])] },
    'profiles[0].plugins.score.enabled[0].name: ImageLocality runs there already; disable it first to give it another place or weight',
  ],
  [
    { profiles: [score([{ name: 'NodeLabel', weight: -1 }])] },
    'profiles[0].plugins.score.enabled[0].weight: must be within 0 and 2147483647',
  ],
  [
    { profiles: [{ pluginConfig: [{ name: 'NodeName', args: { a: 1 } }] }] },
    'profiles[0].pluginConfig[0].args: NodeName takes none',
  ],
  [
    { profiles: [{ pluginConfig: [{ name: 'A' }, { name: 'A' }] }] },
    'profiles[0].pluginConfig[1].name: A is configured twice',
  ],
  [{ percentageOfNodesToScore: 101 }, 'percentageOfNodesToScore: must be within 0 and 100'],
  [{ percentageOfNodesToScore: 1.5 }, 'percentageOfNodesToScore: must be a whole number'],
  [{ podInitialBackoffSeconds: 0 }, 'podInitialBackoffSeconds: must be within 1 and 2147483647'],
  [{ podInitialBackoffSeconds: 11 }, 'podMaxBackoffSeconds: must not be less than podInitialBackoffSeconds'],
  [{ enableProfiling: 'yes' }, 'enableProfiling: must be true or false'],
  [{ leaderElection: { leaseDuration: 15 } }, 'leaderElection.leaseDuration: must be a duration, such as 15s'],
  [{ leaderElection: { renewDeadline: '16s' } }, 'leaderElection.renewDeadline: must not exceed leaseDuration'],
  [
    { leaderElection: { retryPeriod: '9s' } },
    'leaderElection.retryPeriod: leaves no time for a second try before renewDeadline',
  ],
  [
    { leaderElection: { resourceLock: 'pods' } },
    'leaderElection.resourceLock: must be one of endpoints, configmaps, leases, endpointsleases, configmapsleases',
  ],
  [{ clientConnection: { burst: -1 } }, 'clientConnection.burst: must be within 0 and 2147483647'],
  [
    { clientConnection: { contentType: 'text/plain' } },
    'clientConnection.contentType: must be one of , application/vnd.orch.protobuf, application/json',
  ],
  [
    { clientConnection: { acceptContentTypes: 'text/plain' } },
    'clientConnection.acceptContentTypes: must have one of application/vnd.orch.protobuf, application/json',
  ],
  [{ pluginModules: [''] }, 'pluginModules[0]: must be a text'],
  ...['here', 'localhost:80', '0.0.0.0:65536', '[here]:80'].flatMap((address) =>
    ['healthzBindAddress', 'metricsBindAddress'].map(
      (member) =>
        [{ [member]: address }, `${member}: must be an IP address and a port, such as 0.0.0.0:10251`] as const,
    ),
  ),
  [{ extenders: [{}] }, 'extenders[0].urlPrefix: is required'],
  [{ extenders: [{ urlPrefix: 'there' }] }, 'extenders[0].urlPrefix: is not an address'],
  // There may be a password in it.
  [{ extenders: [{ urlPrefix: 'http://me:a#secret@there' }] }, 'extenders[0].urlPrefix: is not an address'],
  [{ extenders: [{ urlPrefix: 'ftp://there' }] }, 'extenders[0].urlPrefix: must be an http or https address'],
  [
    { extenders: [{ ...EXTENDER, tlsConfig: { caData: 'AAAA' } }] },
    'extenders[0].tlsConfig.caFile: holds no certificates',
  ],
  [
    { extenders: [{ ...EXTENDER, prioritizeVerb: 'p' }] },
    'extenders[0].weight: must be positive where there is a prioritizeVerb',
  ],
  [
    {
      extenders: [
        { ...EXTENDER, bindVerb: 'b' },
        { ...EXTENDER, bindVerb: 'b' },
      ],
    },
    'extenders[1].bindVerb: one extender can bind, and another does',
  ],
  [
    { extenders: [{ ...EXTENDER, managedResources: [{ name: 'cpu' }] }] },
    'extenders[0].managedResources: cpu is no extended resource',
  ],
  [
    {
      extenders: [
        { ...EXTENDER, managedResources: [{ name: 'example.com/a' }] },
        { ...EXTENDER, managedResources: [{ name: 'example.com/b' }, { name: 'example.com/a' }] },
      ],
    },
    'extenders[1].managedResources: example.com/a is managed already',
  ],
  [
    required({ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] }),
    `${REQUIRED}[0].matchExpressions[0].operator: must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt`,
  ],
  [
    required({ matchExpressions: [{ key: 'a', operator: 'In' }] }),
    `${REQUIRED}[0].matchExpressions[0].key: operator In of key a takes at least one value`,
  ],
  [
    required({ matchFields: [{ key: 'spec.x', operator: 'In', values: ['n'] }] }),
    `${REQUIRED}[0].matchFields[0].key: must be one of metadata.name`,
  ],
  [
    args('PodTopologySpread', { defaultConstraints: [{ topologyKey: 'a b', maxSkew: 1 }] }),
    `profiles[0].pluginConfig[0].args.defaultConstraints[0].topologyKey: "a b": ${qualifiedNameProblems('a b')[0]}`,
  ],
  [
    args('InterPodAffinity', { hardPodAffinityWeight: 101 }),
    'profiles[0].pluginConfig[0].args.hardPodAffinityWeight: must be within 0 and 100',
  ],
  [args('VolumeBinding', { seconds: 1 }), 'profiles[0].pluginConfig[0].args.seconds: is an unknown field'],
  [
    args('NodeResourcesFit', { ignoredResourceGroups: ['a.b/c'] }),
    'profiles[0].pluginConfig[0].args.ignoredResourceGroups: a.b/c has a slash: a group is what comes before it',
  ],
  [
    args('NodeResourcesFit', { ignoredResources: ['example.com/a', 'a/b/c'] }),
    `profiles[0].pluginConfig[0].args.ignoredResources: "a/b/c": ${qualifiedNameProblems('a/b/c')[0]}`,
  ],
  [args('RequestedToCapacityRatio', {}), 'profiles[0].pluginConfig[0].args.shape: must have a point at least'],
  [
    args('NodeLabel', { presentLabels: ['a'], absentLabels: ['a'] }),
    'profiles[0].pluginConfig[0].args.absentLabels: a is among presentLabels too',
  ],
  [
    args('PodTopologySpread', { defaultConstraints: [{ topologyKey: 'a', maxSkew: 1, labelSelector: {} }] }),
    'profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: is not for default constraints: it follows from what owns the pod',
  ],
];

for (const [members, message] of BAD_FILES) {
  test(`a file is refused: ${message} (${JSON.stringify(members)})`, (t) => {
    t.throws(() => ofFile(members), { name: 'ConfigurationError', message });
  });
}

const OWN = (name: string, weight: number, argument: object): object => ({ name, weight, argument });
const RACKS = { serviceAntiAffinity: { label: 'rack' } };
const RATIO = { requestedToCapacityRatioArguments: { shape: [{ utilization: 0, score: 1 }] } };
const BAD_POLICIES: readonly (readonly [policy: unknown, message: string])[] = [
  [[], 'the file must hold an object'],
  [{ kind: 'Pod' }, 'kind: must be Policy'],
  [
    {
      predicates: [{ name: 'a', argument: { labelsPresence: { labels: ['a'] }, serviceAffinity: { labels: ['b'] } } }],
    },
    'predicates[0].argument: must be of one kind',
  ],
  [{ predicates: [{ name: 'Nothing' }] }, 'predicates[0].name: there is no predicate Nothing'],
  [{ priorities: [{ name: 'Nothing', weight: 1 }] }, 'priorities[0].name: there is no priority Nothing'],
  [{ priorities: [{ name: 'ImageLocalityPriority' }] }, 'priorities[0].weight: must be within 1 and 2147483647'],
  [
    { priorities: [{ name: 'EqualPriority', weight: 1 }, { name: 'EqualPriority' }] },
    'priorities[1].weight: must be within 1 and 2147483647',
  ],
  [
    { predicates: [{ name: 'HostName' }, { name: 'HostName', argument: {} }] },
    'predicates[1].argument: must be of one kind',
  ],
  [
    { priorities: [OWN('a', 1, { ...RACKS, labelPreference: { label: 'b' } })] },
    'priorities[0].argument: must be of one kind',
  ],
  [
    { priorities: [OWN('a', 1, RACKS), OWN('b', 2, { labelPreference: { label: 'b' } }), OWN('c', 2, RACKS)] },
    'priorities[2].weight: must be 1, as that of the other priorities with an argument of this kind',
  ],
  [
    { priorities: [OWN('a', 1, RATIO), OWN('b', 1, RATIO)] },
    'priorities[1].argument: another priority has one of this kind already',
  ],
  [{ hardPodAffinitySymmetricWeight: 101 }, 'hardPodAffinitySymmetricWeight: must be within 0 and 100'],
];

test('a ratio for which a policy names no resources scores nothing, and one that names some scores those', (t) => {
  const named = { ...RATIO.requestedToCapacityRatioArguments, resources: [{ name: 'memory' }] };
  const priorities = (ratio: object) => [{ name: 'ImageLocalityPriority', weight: 1 }, OWN('a', 2, ratio)];
  const [without, empty, some] = [
    RATIO,
    { requestedToCapacityRatioArguments: { ...named, resources: [] } },
    { requestedToCapacityRatioArguments: named },
  ].map((ratio) => effective({ policy: { priorities: priorities(ratio) } }).profiles[0]!);
  t.deepEqual(namesOf(without!.sets.score), ['ImageLocality']);
  t.deepEqual(namesOf(empty!.sets.score), ['ImageLocality']);
  t.deepEqual(namesOf(some!.sets.score), ['ImageLocality', 'RequestedToCapacityRatio']);
  t.deepEqual(some!.args.RequestedToCapacityRatio.resources, [{ name: 'memory', weight: 1 }]);
});

for (const [policy, message] of BAD_POLICIES) {
  test(`a policy is refused: ${message}`, (t) => {
    t.throws(() => effective({ policy }), { name: 'ConfigurationError', message });
  });
}

test('a policy and a provider do not go with plug-ins of a file', (t) => {
  const file = { ...HEAD, profiles: [score([])] };
  t.throws(() => effective({ file, policy: {} }), {
    message: 'profiles: plug-ins cannot be configured together with a policy',
  });
  t.throws(() => effective({ file, flags: { algorithmProvider: 'DefaultProvider' } }), {
    message: 'profiles: plug-ins cannot be configured together with --algorithm-provider',
  });
});

const BAD_PROFILES: readonly (readonly [profile: object, message: string])[] = [
  [
    score([{ name: 'RequestedToCapacityRatio' }]),
    'profile default-scheduler: the plug-in RequestedToCapacityRatio needs a shape in its args',
  ],
  [score([{ name: 'Mine' }]), 'profile default-scheduler: there is no plug-in Mine'],
  [score([{ name: 'NodeName' }]), 'profile default-scheduler: the plug-in NodeName cannot run at score'],
  [
    { plugins: { queueSort: { disabled: [{ name: '*' }] } } },
    'profile default-scheduler: one plug-in must run at queueSort',
  ],
  [{ plugins: { bind: { disabled: [{ name: '*' }] } } }, 'profile default-scheduler: a plug-in must run at bind'],
  [
    { plugins: { preFilter: { disabled: [{ name: 'NodePorts' }] } } },
    'profile default-scheduler: the plug-in NodePorts runs at filter, so it must run at preFilter too',
  ],
];

for (const [profile, message] of BAD_PROFILES) {
  test(`profiles that cannot run are refused: ${message}`, (t) => {
    t.throws(() => profilesOf(ofProfile(profile), dialect), { message });
  });
}

test('plug-ins of the operator take the place a profile gives them, with what it says of them', (t) => {
  const configuration = ofProfile({
    plugins: { score: { enabled: [{ name: 'Mine', weight: 2 }] } },
    pluginConfig: [{ name: 'Mine', args: { likes: 'n1' } }],
  });
  const seen: unknown[] = [];
  const prepareScore = () => null;
  const make = (given: unknown) => {
    seen.push(given);
    return { prepareScore };
  };
  const [profile] = profilesOf(configuration, dialect, new Map([['Mine', make]]));
  t.deepEqual(seen, [{ likes: 'n1' }]);
  t.like(profile!.scores.at(-1), { plugin: { name: 'Mine' }, weight: 2 });
});
