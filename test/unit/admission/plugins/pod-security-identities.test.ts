// PodSecurityPolicy: as whom pods run.
import { podOf } from './plugin-cases.ts';
import { policy, testPods } from './pod-security.ts';

const ranges = [
  { min: 10, max: 20 },
  { min: 30, max: 40 },
];
const MUST = { rule: 'MustRunAs', ranges };
const MAY = { rule: 'MayRunAs', ranges };
const SAID = '[{10 20} {30 40}]';
const CONTAINER = 'spec.containers[0].securityContext';

/** The pod's own security context, and its container's. */
const pod = (context: object, container: object = {}): object =>
  podOf({ securityContext: context }, { securityContext: container });
const has = (context: object | undefined, container?: object | undefined): object => ({
  spec: {
    ...(context === undefined ? undefined : { securityContext: context }),
    ...(container === undefined ? undefined : { containers: [{ securityContext: container }] }),
  },
});

const user = policy({ runAsUser: MUST });
testPods([
  ['a pod without a user', user, podOf(), has(undefined, { runAsUser: 10 })],
  ['a pod with a user of the first range', user, pod({ runAsUser: 20 }), has({ runAsUser: 20 })],
  ['a pod with a user of the second range', user, pod({ runAsUser: 30 }), has({ runAsUser: 30 })],
  ['a container with a user of its own', user, pod({ runAsUser: 5 }, { runAsUser: 11 }), has({}, { runAsUser: 11 })],
  [
    'a pod with a user of no range',
    user,
    pod({ runAsUser: 21 }),
    `${CONTAINER}.runAsUser: Invalid value: 21: must be in the ranges: ${SAID}`,
  ],
  [
    'a container with a user of no range',
    user,
    pod({ runAsUser: 11 }, { runAsUser: 0 }),
    `${CONTAINER}.runAsUser: Invalid value: 0: must be in the ranges: ${SAID}`,
  ],
  [
    'a pod whose initial container has a user of no range',
    user,
    podOf({ initContainers: [{ name: 'i', image: 'i', securityContext: { runAsUser: 1 } }] }),
    `spec.initContainers[0].securityContext.runAsUser: Invalid value: 1: must be in the ranges: ${SAID}`,
  ],
  ['a pod that may run as any user', policy(), pod({ runAsUser: 0 }), has({ runAsUser: 0 })],
]);

const notRoot = policy({ runAsUser: { rule: 'MustRunAsNonRoot' } });
testPods([
  ['a pod that does not say whether it is root', notRoot, podOf(), has(undefined, { runAsNonRoot: true })],
  ['a pod that says it is not root', notRoot, pod({ runAsNonRoot: true }), has({ runAsNonRoot: true })],
  ['a pod with a user that is not root', notRoot, pod({ runAsUser: 7 }), has({ runAsUser: 7 })],
  [
    'a pod that says it may be root',
    notRoot,
    pod({ runAsNonRoot: false }),
    `${CONTAINER}.runAsNonRoot: Invalid value: false: must be true`,
  ],
  [
    'a container that says it may be root',
    notRoot,
    pod({ runAsNonRoot: true, runAsUser: 9 }, { runAsNonRoot: false }),
    `${CONTAINER}.runAsNonRoot: Invalid value: false: must be true`,
  ],
  [
    'a pod that is root',
    notRoot,
    pod({ runAsUser: 0 }),
    `${CONTAINER}.runAsUser: Invalid value: 0: running with the root UID is forbidden`,
  ],
]);

testPods([
  ['a pod without a group', policy({ runAsGroup: MUST }), podOf(), has(undefined, { runAsGroup: 10 })],
  ['a pod with a group', policy({ runAsGroup: MUST }), pod({ runAsGroup: 33 }), has({ runAsGroup: 33 })],
  [
    'a pod with a group of no range',
    policy({ runAsGroup: MUST }),
    pod({ runAsGroup: 5 }),
    `${CONTAINER}: Invalid value: []int64{5}: group 5 must be in the ranges: ${SAID}`,
  ],
  ['a pod without a group that it need not have', policy({ runAsGroup: MAY }), podOf(), has(undefined, undefined)],
  [
    'a pod with a group that it may not have',
    policy({ runAsGroup: MAY }),
    pod({}, { runAsGroup: 25 }),
    `${CONTAINER}: Invalid value: []int64{25}: group 25 must be in the ranges: ${SAID}`,
  ],
  ['a pod that may run as any group', policy({ runAsGroup: { rule: 'RunAsAny' } }), pod({ runAsGroup: 1 }), has({})],
]);

testPods([
  ['a pod without a group of its volumes', policy({ fsGroup: MUST }), podOf(), has({ fsGroup: 10 })],
  ['a pod with a group of its volumes', policy({ fsGroup: MUST }), pod({ fsGroup: 12 }), has({ fsGroup: 12 })],
  [
    'a pod with a group of its volumes of no range',
    policy({ fsGroup: MUST }),
    pod({ fsGroup: 0 }),
    `spec.securityContext.fsGroup: Invalid value: []int64{0}: group 0 must be in the ranges: ${SAID}`,
  ],
  ['a pod that need not have a group of its volumes', policy({ fsGroup: MAY }), podOf(), has({ fsGroup: undefined })],
  ['a pod that has a group of its volumes', policy({ fsGroup: MAY }), pod({ fsGroup: 40 }), has({ fsGroup: 40 })],
  [
    'a pod with a group of its volumes that it may not have',
    policy({ fsGroup: MAY }),
    pod({ fsGroup: 41 }),
    `spec.securityContext.fsGroup: Invalid value: []int64{41}: group 41 must be in the ranges: ${SAID}`,
  ],
  ['a pod without further groups', policy({ supplementalGroups: MUST }), podOf(), has({ supplementalGroups: [10] })],
  [
    'a pod with further groups',
    policy({ supplementalGroups: MUST }),
    pod({ supplementalGroups: [31, 11] }),
    has({ supplementalGroups: [31, 11] }),
  ],
  [
    'a pod with further groups, one of no range',
    policy({ supplementalGroups: MUST }),
    pod({ supplementalGroups: [11, 1] }),
    `spec.securityContext.supplementalGroups: Invalid value: []int64{11, 1}: group 1 must be in the ranges: ${SAID}`,
  ],
  [
    'a pod that says it has no further groups where it must have some',
    policy({ supplementalGroups: MUST }),
    pod({ supplementalGroups: [] }),
    'spec.securityContext.supplementalGroups: Invalid value: []int64{}: unable to validate empty groups against required ranges',
  ],
  [
    'a pod that says it has no further groups where it may have some',
    policy({ supplementalGroups: MAY }),
    pod({ supplementalGroups: [] }),
    has({ supplementalGroups: undefined }),
  ],
  [
    'a pod that need not have further groups',
    policy({ supplementalGroups: MAY }),
    podOf(),
    has({ supplementalGroups: undefined }),
  ],
  [
    'a pod with further groups that it may not have',
    policy({ supplementalGroups: MAY }),
    pod({ supplementalGroups: [9] }),
    `spec.securityContext.supplementalGroups: Invalid value: []int64{9}: group 9 must be in the ranges: ${SAID}`,
  ],
]);

const label = { level: 's0:c1,c0', role: 'r', type: 't', user: 'u' };
const labelled = policy({ seLinux: { rule: 'MustRunAs', seLinuxOptions: label } });
const wrong = (part: string, is: string, must: string): string =>
  ['spec.securityContext', CONTAINER]
    .map((at) => `${at}.seLinuxOptions.${part}: Invalid value: "${is}": must be ${must}`)
    .join(' ');
testPods([
  ['a pod without a label', labelled, podOf(), has({ seLinuxOptions: label }, undefined)],
  ['a pod with the label', labelled, pod({ seLinuxOptions: label }), has({ seLinuxOptions: label })],
  [
    'a pod whose categories come in another order',
    labelled,
    pod({ seLinuxOptions: { ...label, level: 's0:c0,c1' } }),
    has({ seLinuxOptions: { level: 's0:c0,c1' } }),
  ],
  [
    'a pod of another sensitivity',
    labelled,
    pod({ seLinuxOptions: { ...label, level: 's1:c0,c1' } }),
    wrong('level', 's1:c0,c1', 's0:c1,c0'),
  ],
  [
    'a pod of other categories',
    labelled,
    pod({ seLinuxOptions: { ...label, level: 's0:c2' } }),
    wrong('level', 's0:c2', 's0:c1,c0'),
  ],
  ['a pod of another role', labelled, pod({ seLinuxOptions: { ...label, role: 'x' } }), wrong('role', 'x', 'r')],
  ['a pod of another type', labelled, pod({ seLinuxOptions: { ...label, type: 'x' } }), wrong('type', 'x', 't')],
  [
    'a pod of another SELinux user',
    labelled,
    pod({ seLinuxOptions: { ...label, user: 'x' } }),
    wrong('user', 'x', 'u'),
  ],
  [
    'a container with a label of its own',
    labelled,
    pod({}, { seLinuxOptions: { ...label, user: 'x' } }),
    `${CONTAINER}.seLinuxOptions.user: Invalid value: "x": must be u`,
  ],
  ['a pod that may have any label', policy(), pod({ seLinuxOptions: label }), has({ seLinuxOptions: label })],
]);
