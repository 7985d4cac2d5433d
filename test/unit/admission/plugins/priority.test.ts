// Priority, case by case.
import test from 'ava';
import { priority } from '../../../../actors/admission/plugins/priority/priority.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';

const CLASSES = '/apis/scheduling.orch.io/v1/priorityclasses';
const classOf = (name: string, value: number, more: object = {}): Present => [
  CLASSES,
  { metadata: { name }, value, ...more },
];
const STANDARD = classOf('standard', 7, { globalDefault: true, preemptionPolicy: 'Never' });

const cases: readonly PluginCase[] = [
  {
    what: 'a pod without a class where none is the default',
    path: PODS,
    body: podOf(),
    becomes: { spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority', priorityClassName: undefined } },
  },
  {
    what: 'a pod without a class where one is the default',
    present: [STANDARD],
    path: PODS,
    body: podOf(),
    becomes: { spec: { priority: 7, preemptionPolicy: 'Never', priorityClassName: 'standard' } },
  },
  {
    what: 'a pod with a class',
    present: [STANDARD],
    path: PODS,
    body: podOf({ priorityClassName: 'high' }),
    becomes: { spec: { priority: 1000, preemptionPolicy: 'PreemptLowerPriority' } },
  },
  {
    what: 'a dry run of a pod with a class',
    path: PODS,
    request: { parameters: { dryRun: ['All'] } },
    body: podOf({ priorityClassName: 'low' }),
    becomes: { spec: { priority: -5 } },
  },
  {
    what: 'a pod that names the number of its class',
    path: PODS,
    body: podOf({ priorityClassName: 'high', priority: 1000 }),
    becomes: { spec: { priority: 1000 } },
  },
  {
    what: 'a pod of a class that is not there',
    path: PODS,
    body: podOf({ priorityClassName: 'none' }),
    refused: 'pods "it" is forbidden: no PriorityClass with name none was found',
  },
  {
    what: 'a pod with another number than its class',
    path: PODS,
    body: podOf({ priorityClassName: 'high', priority: 999 }),
    refused:
      'pods "it" is forbidden: the integer value of priority (999) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
  },
  {
    what: 'a pod without a class and with a number',
    path: PODS,
    body: podOf({ priority: 1 }),
    refused:
      'pods "it" is forbidden: the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
  },
  {
    what: 'a pod with another policy than its class',
    path: PODS,
    body: podOf({ priorityClassName: 'high', preemptionPolicy: 'Never' }),
    refused:
      'pods "it" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
  },
  {
    what: 'a pod whose policy is an empty text',
    path: PODS,
    body: podOf({ preemptionPolicy: '' }),
    refused:
      'pods "it" is forbidden: the string value of PreemptionPolicy () must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
  },
  {
    what: 'an update that leaves the number out',
    present: [[PODS, podOf({ priorityClassName: 'high' })]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } }, spec: { priority: null, preemptionPolicy: null } },
    becomes: { spec: { priority: 1000, preemptionPolicy: 'PreemptLowerPriority' } },
  },
  {
    what: 'an update that changes the number',
    present: [[PODS, podOf({ priorityClassName: 'high' })]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { spec: { priority: 1 } },
    code: 422,
    refused: /^Pod "it" is invalid: spec: Forbidden: pod updates may not change fields/,
  },
  {
    what: 'an update of the status',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { phase: 'Running' } },
    becomes: { status: { phase: 'Running' }, spec: { priority: 0 } },
  },
  {
    what: 'a first default class',
    path: CLASSES,
    body: { metadata: { name: 'one' }, value: 1, globalDefault: true },
    becomes: { globalDefault: true },
  },
  {
    what: 'a second default class',
    present: [STANDARD],
    path: CLASSES,
    body: { metadata: { name: 'two' }, value: 1, globalDefault: true },
    refused:
      'priorityclasses.scheduling.orch.io "two" is forbidden: PriorityClass standard is already marked as default. Only one default can exist',
  },
  {
    what: 'a class that becomes the second default',
    present: [STANDARD],
    verb: 'patch',
    path: `${CLASSES}/high`,
    body: { globalDefault: true },
    refused:
      'priorityclasses.scheduling.orch.io "high" is forbidden: PriorityClass standard is already marked as default. Only one default can exist',
  },
  {
    what: 'an update of the default class',
    present: [STANDARD],
    verb: 'patch',
    path: `${CLASSES}/standard`,
    body: { description: 'as before' },
    becomes: { globalDefault: true, description: 'as before' },
  },
];

testPlugin('Priority', { plugins: [priority], present: [classOf('high', 1000), classOf('low', -5)] }, cases);

test('Priority: of several default classes, which a race has made, the one of the lowest value is the default', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [priority] });
  const [of9, of5, of7] = [9, 5, 7].map((value) => classOf(`c${value}`, value, { globalDefault: true })[1]);
  world.gate.beforeCommit = () => {
    world.gate.beforeCommit = () => world.soon('create', CLASSES, { body: of7! });
    return world.soon('create', CLASSES, { body: of5! });
  };
  t.is((await world.write('create', CLASSES, { body: of9! })).code, 201);
  const { body } = await world.write('create', PODS, { body: podOf() });
  t.like(body.spec, { priority: 5, priorityClassName: 'c5' });
  await world.stop();
});
