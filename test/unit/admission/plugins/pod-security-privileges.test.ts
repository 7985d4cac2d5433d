// PodSecurityPolicy: what containers may do, and what of their host pods use.
import { podOf } from './plugin-cases.ts';
import { policy, testPods } from './pod-security.ts';

const AT = 'spec.containers[0].securityContext';
const pod = (container: object): object => podOf({}, { securityContext: container });
const has = (container: object | undefined): object => ({ spec: { containers: [{ securityContext: container }] } });

const NO_ESCALATION = `${AT}.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed`;
testPods([
  ['a privileged container', policy({ privileged: true }), pod({ privileged: true }), has({ privileged: true })],
  [
    'a privileged container that may not be',
    policy(),
    pod({ privileged: true }),
    `${AT}.privileged: Invalid value: true: Privileged containers are not allowed`,
  ],
  ['a container that says it is not privileged', policy(), pod({ privileged: false }), has({ privileged: false })],
  [
    'a container that could escalate',
    policy({ allowPrivilegeEscalation: false }),
    podOf(),
    has({ allowPrivilegeEscalation: false }),
  ],
  [
    'a container that escalates',
    policy({ allowPrivilegeEscalation: false }),
    pod({ allowPrivilegeEscalation: true }),
    NO_ESCALATION,
  ],
  [
    'a container that may escalate, and does not by default',
    policy({ defaultAllowPrivilegeEscalation: false }),
    podOf(),
    has({ allowPrivilegeEscalation: false }),
  ],
  [
    'a container that may escalate, and does by default',
    policy({ defaultAllowPrivilegeEscalation: true }),
    podOf(),
    has({ allowPrivilegeEscalation: true }),
  ],
  [
    'a container that may escalate, and says it does',
    policy({ defaultAllowPrivilegeEscalation: false }),
    pod({ allowPrivilegeEscalation: true }),
    has({ allowPrivilegeEscalation: true }),
  ],
  ['a container that may escalate and does not say', policy(), podOf(), has(undefined)],
  [
    'a container whose root could be written',
    policy({ readOnlyRootFilesystem: true }),
    podOf(),
    has({ readOnlyRootFilesystem: true }),
  ],
  [
    'a container whose root is written',
    policy({ readOnlyRootFilesystem: true }),
    pod({ readOnlyRootFilesystem: false }),
    `${AT}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`,
  ],
  [
    'a container with another process tree',
    policy(),
    pod({ procMount: 'Unmasked' }),
    `${AT}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`,
  ],
  [
    'a container with a process tree that it may have',
    policy({ allowedProcMountTypes: ['Unmasked'] }),
    pod({ procMount: 'Unmasked' }),
    has({ procMount: 'Unmasked' }),
  ],
  [
    'a container with the usual process tree where only another is allowed',
    policy({ allowedProcMountTypes: ['Unmasked'] }),
    podOf(),
    `${AT}.procMount: Invalid value: "Default": ProcMountType is not allowed`,
  ],
]);

const capable = (add: readonly string[] | undefined, drop?: readonly string[] | undefined): object => ({
  capabilities: { ...(add && { add }), ...(drop && { drop }) },
});
testPods([
  [
    'a container without capabilities',
    policy({ defaultAddCapabilities: ['B', 'A'], requiredDropCapabilities: ['D', 'C'] }),
    podOf(),
    has(capable(['A', 'B'], ['C', 'D'])),
  ],
  [
    'a container that drops what is added',
    policy({ defaultAddCapabilities: ['A', 'B'] }),
    pod(capable(undefined, ['A'])),
    has(capable(['B'], ['A'])),
  ],
  [
    'a container that drops what has to be',
    policy({ requiredDropCapabilities: ['A'] }),
    pod(capable(undefined, ['B'])),
    has(capable(undefined, ['A', 'B'])),
  ],
  [
    'a container with an allowed capability',
    policy({ allowedCapabilities: ['A'] }),
    pod(capable(['A'])),
    has(capable(['A'])),
  ],
  [
    'a container with a capability that it gets anyhow',
    policy({ defaultAddCapabilities: ['A'] }),
    pod(capable(['A'])),
    has(capable(['A'])),
  ],
  [
    'a container with a capability that is not allowed',
    policy({ allowedCapabilities: ['B'] }),
    pod(capable(['A'])),
    `${AT}.capabilities.add: Invalid value: "A": capability may not be added`,
  ],
  [
    'a container with two capabilities that are not allowed',
    policy(),
    pod(capable(['X', 'Y'])),
    `${AT}.capabilities.add: Invalid value: "X": capability may not be added ` +
      `${AT}.capabilities.add: Invalid value: "Y": capability may not be added`,
  ],
  [
    'a container with any capability where all are allowed',
    policy({ allowedCapabilities: ['*'] }),
    pod(capable(['X'])),
    has(capable(['X'])),
  ],
]);

const port = (hostPort: number): object => podOf({}, { ports: [{ containerPort: 80, hostPort }] });
const ports = policy({
  hostPorts: [
    { min: 100, max: 200 },
    { min: 300, max: 300 },
  ],
});
const onHost = (member: string, spoken: string): string =>
  `spec.securityContext.${member}: Invalid value: true: ${spoken} is not allowed to be used`;
testPods([
  ['a pod in the network of its host', policy(), podOf({ hostNetwork: true }), onHost('hostNetwork', 'Host network')],
  ['a pod among the processes of its host', policy(), podOf({ hostPID: true }), onHost('hostPID', 'Host PID')],
  ['a pod in the memory of its host', policy(), podOf({ hostIPC: true }), onHost('hostIPC', 'Host IPC')],
  [
    'a pod that may be in the network of its host',
    policy({ hostNetwork: true }),
    podOf({ hostNetwork: true }),
    { spec: { hostNetwork: true } },
  ],
  [
    'a pod that may be among the processes of its host',
    policy({ hostPID: true }),
    podOf({ hostPID: true }),
    { spec: { hostPID: true } },
  ],
  [
    'a pod that may be in the memory of its host',
    policy({ hostIPC: true }),
    podOf({ hostIPC: true }),
    { spec: { hostIPC: true } },
  ],
  ['a pod at an allowed port of its host', ports, port(150), {}],
  ['a pod at the one allowed port of its host', ports, port(300), {}],
  [
    'a pod at a port of its host that is not allowed',
    ports,
    port(99),
    'spec.containers[0].hostPort: Invalid value: 99: Host port 99 is not allowed to be used. Allowed ports: [100-200,300]',
  ],
  [
    'a pod at a port of its host where none is allowed',
    policy(),
    port(80),
    'spec.containers[0].hostPort: Invalid value: 80: Host port 80 is not allowed to be used. Allowed ports: []',
  ],
]);

const tuned = (...names: readonly string[]): object =>
  podOf({ securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } });
const SYSCTLS = 'pod.spec.securityContext.sysctls';
testPods([
  ['a pod with a safe setting of the kernel', policy(), tuned('kernel.shm_rmid_forced'), {}],
  [
    'a pod with an unsafe setting of the kernel',
    policy(),
    tuned('kernel.shm_rmid_forced', 'kernel.msgmax'),
    `${SYSCTLS}[1]: Forbidden: unsafe sysctl "kernel.msgmax" is not allowed`,
  ],
  [
    'a pod with an unsafe setting that is allowed',
    policy({ allowedUnsafeSysctls: ['kernel.msgmax'] }),
    tuned('kernel.msgmax'),
    {},
  ],
  [
    'a pod with one of many allowed settings',
    policy({ allowedUnsafeSysctls: ['kernel.msg*'] }),
    tuned('kernel.msgmni'),
    {},
  ],
  [
    'a pod with a safe setting that is forbidden',
    policy({ forbiddenSysctls: ['kernel.shm_rmid_forced'] }),
    tuned('kernel.shm_rmid_forced'),
    `${SYSCTLS}[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed`,
  ],
  [
    'a pod with one of many forbidden settings',
    policy({ forbiddenSysctls: ['net.*'] }),
    tuned('net.ipv4.tcp_syncookies'),
    `${SYSCTLS}[0]: Forbidden: sysctl "net.ipv4.tcp_syncookies" is not allowed`,
  ],
]);
