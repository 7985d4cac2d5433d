// What tests of pod security policies share: policies that allow everything but what a case is about, and rows of cases.
import { podSecurityPolicy } from '../../../../actors/admission/plugins/pod-security-policy/pod-security-policy.ts';
import { type PluginCase, PODS, type Present, testPlugin } from './plugin-cases.ts';

const POLICIES = '/apis/policy/v1beta1/podsecuritypolicies';
const ANY = { rule: 'RunAsAny' };
const OPEN = {
  runAsUser: ANY,
  seLinux: ANY,
  fsGroup: ANY,
  supplementalGroups: ANY,
  volumes: ['*'],
  allowPrivilegeEscalation: true,
};

/** A policy that allows everything else. */
export function policy(spec: object = {}, annotations: object = {}, name = 'p'): Present {
  return [POLICIES, { metadata: { name, annotations }, spec: { ...OPEN, ...spec } }];
}

export const TABLE = {
  plugins: [podSecurityPolicy],
  args: ['--allow-privileged'],
  featureGates: 'EphemeralContainers=true,ProcMountType=true',
};

/** A policy, a pod, and what comes of it: members of the pod, or what is wrong with it. */
export type PodRow = readonly [what: string, policy: Present, pod: object, becomes: object | string];

export function refused(problems: string, what: 'admit' | 'validate' = 'admit'): string {
  return `pods "it" is forbidden: PodSecurityPolicy: unable to ${what} pod: [${problems}]`;
}

/** A test for each row. */
export function testPods(rows: readonly PodRow[]): void {
  const cases = rows.map(([what, given, body, becomes]): PluginCase => {
    const outcome = typeof becomes === 'string' ? { refused: refused(becomes) } : { becomes };
    return { what, present: [given], path: PODS, body, ...outcome };
  });
  testPlugin('PodSecurityPolicy', TABLE, cases);
}
