// DefaultTolerationSeconds, case by case. The options of these tests are 300 and 200 seconds.
import test from 'ava';
import { defaultTolerationSeconds } from '../../../../actors/admission/plugins/default-toleration-seconds/default-toleration-seconds.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, PODS, podOf, testPlugin } from './plugin-cases.ts';

const until = (key: string, tolerationSeconds: number) => ({
  key: `node.orch.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});
const NOT_READY = until('not-ready', 300);
const UNREACHABLE = until('unreachable', 200);
const BOTH = { spec: { tolerations: [NOT_READY, UNREACHABLE] } };

const cases: readonly PluginCase[] = [
  { what: 'a pod that tolerates nothing', path: PODS, body: podOf(), becomes: BOTH },
  {
    what: 'a dry run',
    path: PODS,
    body: podOf(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: BOTH,
  },
  {
    what: 'a pod that tolerates another taint',
    path: PODS,
    body: podOf({ tolerations: [{ key: 'a', operator: 'Exists' }] }),
    becomes: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }, NOT_READY, UNREACHABLE] } },
  },
  {
    what: 'a pod that says how long for one of them',
    path: PODS,
    body: podOf({ tolerations: [until('not-ready', 5)] }),
    becomes: { spec: { tolerations: [until('not-ready', 5), UNREACHABLE] } },
  },
  {
    what: 'a pod that tolerates every effect of one of them',
    path: PODS,
    body: podOf({ tolerations: [{ key: 'node.orch.io/unreachable', operator: 'Exists' }] }),
    becomes: { spec: { tolerations: [{ key: 'node.orch.io/unreachable', operator: 'Exists' }, NOT_READY] } },
  },
  {
    what: 'a pod that tolerates another effect of one of them',
    path: PODS,
    body: podOf({ tolerations: [{ key: 'node.orch.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }] }),
    becomes: {
      spec: {
        tolerations: [
          { key: 'node.orch.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
          NOT_READY,
          UNREACHABLE,
        ],
      },
    },
  },
  {
    what: 'a pod that tolerates everything',
    path: PODS,
    body: podOf({ tolerations: [{ operator: 'Exists' }] }),
    becomes: { spec: { tolerations: [{ operator: 'Exists' }] } },
  },
  {
    what: 'an update of another field',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    becomes: BOTH,
  },
  {
    what: 'an update of the status',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { phase: 'Running' } },
    becomes: BOTH,
  },
];

testPlugin('DefaultTolerationSeconds', { plugins: [defaultTolerationSeconds] }, cases);

test('the seconds are those of the options', async (t) => {
  const world = await AdmissionWorld.start({
    args: ['--default-not-ready-toleration-seconds=11', '--default-unreachable-toleration-seconds=12'],
  });
  const { spec } = await world.created(PODS, podOf());
  t.deepEqual(spec.tolerations, [until('not-ready', 11), until('unreachable', 12)]);
  await world.stop();
});
