// Goal: argv is read as Go's flags read it, into typed values, and whatever cannot be used is one clear line. Method:
// tables of command lines.
import test from 'ava';
import {
  ADMISSION_PLUGINS,
  type AdmissionPluginRow,
  DEFAULT_ADMISSION_PLUGINS,
} from '../../../config/admission-plugins.ts';
import type { Program } from '../../../config/options/option.ts';
import { programOptions, type UpOptions } from '../../../config/options.ts';
import { type ParsedArguments, parseArguments } from '../../../config/parse.ts';
import { UsageError } from '../../../config/usage-error.ts';
import { ORIGINAL_FLAGS } from './original-flags.ts';

type Run<P extends Program> = Extract<ParsedArguments<P>, { action: 'run' }>;

function run<P extends Program>(program: P, argv: readonly string[]): Run<P> {
  const parsed = parseArguments(program, argv);
  if (parsed.action !== 'run') throw new Error(`expected to run, not ${parsed.action}`);
  return parsed;
}

const values: readonly (readonly [argv: string, expected: Partial<UpOptions>])[] = [
  ['--secure-port 7443', { securePort: 7443 }],
  ['--secure-port=7443', { securePort: 7443 }],
  ['--secure_port=7443', { securePort: 7443 }],
  ['--secure-port 1 --secure-port 65535', { securePort: 65535 }],
  ['-v 4', { v: 4 }],
  ['-v=4', { v: 4 }],
  ['-v4', { v: 4 }],
  ['--v=4', { v: 4 }],
  ['--anonymous-auth', { anonymousAuth: true }],
  ['--anonymous-auth=T', { anonymousAuth: true }],
  ['--anonymous-auth=0', { anonymousAuth: false }],
  ['--request-timeout 1m30s', { requestTimeoutMs: 90_000 }],
  ['--shutdown-delay-duration 0', { shutdownDelayDurationMs: 0 }],
  ['--min-request-timeout 60', { minRequestTimeoutSeconds: 60 }],
  ['--audit-log-maxage 3', { auditLogMaxageDays: 3 }],
  ['--store-history-bytes 1048576', { storeHistoryBytes: 1_048_576 }],
  ['--authorization-mode AlwaysDeny', { authorizationMode: ['AlwaysDeny'] }],
  [
    '--authorization-mode AlwaysDeny --authorization-mode AlwaysAllow',
    { authorizationMode: ['AlwaysDeny', 'AlwaysAllow'] },
  ],
  ['--authorization-mode AlwaysDeny,AlwaysAllow', { authorizationMode: ['AlwaysDeny', 'AlwaysAllow'] }],
  ['--service-account-key-file a,b --service-account-key-file c', { serviceAccountKeyFile: ['a,b', 'c'] }],
  ['--service-node-port-range 1000-2000', { serviceNodePortRange: { first: 1000, last: 2000 } }],
  ['--service-node-port-range 1000+10', { serviceNodePortRange: { first: 1000, last: 1010 } }],
  ['--service-node-port-range 1000', { serviceNodePortRange: { first: 1000, last: 1000 } }],
  [
    '--service-cluster-ip-range 10.8.0.0/29',
    { serviceClusterIpRange: [{ family: 4, address: '10.8.0.0', prefixLength: 29 }] },
  ],
  [
    '--service-cluster-ip-range 10.8.0.9/16,fd00::7/112',
    {
      serviceClusterIpRange: [
        { family: 4, address: '10.8.0.0', prefixLength: 16 },
        { family: 6, address: 'fd00::', prefixLength: 112 },
      ],
    },
  ],
  [
    '--runtime-config api/all=false,v1 --runtime-config batch/v1beta1=T',
    {
      runtimeConfig: new Map([
        ['api/all', false],
        ['v1', true],
        ['batch/v1beta1', true],
      ]),
    },
  ],
  [
    '--feature-gates WarningHeaders=false --feature-gates=SuspendJob=true',
    { featureGates: 'WarningHeaders=false,SuspendJob=true' },
  ],
  ['--goaway-chance 0.02', { goawayChance: 0.02 }],
  ['--bind-address ::', { bindAddress: '::' }],
  ['--bind-address=', { bindAddress: '' }],
  ['--secure-port 7443 --', { securePort: 7443 }],
  ['--insecure-port=0', { insecurePort: 0 }],
  ['--port=0', { insecurePort: 0 }],
  ['--kubelet-timeout=7s', { orchletTimeoutMs: 7000 }],
  ['--kubelet-port=10260', { orchletPort: 10260 }],
  ['--service-account-api-audiences=a,b', { apiAudiences: ['a', 'b'] }],
];

for (const [argv, expected] of values) {
  test(`up ${argv} is understood`, (t) => {
    const { options } = run('up', argv.split(' '));
    for (const property of Object.keys(expected) as (keyof UpOptions)[]) {
      t.deepEqual(options[property], expected[property], property);
    }
  });
}

const refused: readonly (readonly [program: Program, argv: string, message: RegExp])[] = [
  ['up', '--secure-prt 1', /^unknown flag: --secure-prt \(did you mean --secure-port\?\)$/],
  ['apiserver', '--ssh-user=core', /^--ssh-user is not available in this release, .*\(nodes are connected to/],
  [
    'apiserver',
    '--admission-control=Priority --enable-admission-plugins=Priority',
    /^--admission-control and --enable-admission-plugins are mutually exclusive$/,
  ],
  [
    'apiserver',
    '--admission-control=Priority --disable-admission-plugins=Priority',
    /^--admission-control and --disable-admission-plugins are mutually exclusive$/,
  ],
  ['apiserver', '--insecure-port=8080', /^--insecure-port 8080 is not available in this release, .*; available are 0$/],
  ['up', '--zzzzzzzzzzz', /^unknown flag: --zzzzzzzzzzz$/],
  ['up', '--__proto__ x', /^unknown flag: --/],
  ['up', '--constructor=x', /^unknown flag: --constructor$/],
  ['up', '--leader-elect', /^unknown flag: --leader-elect/],
  ['up', '-x', /^unknown shorthand flag: "-x"$/],
  ['up', '--secure-port', /^flag needs a value: --secure-port$/],
  ['up', '--secure-port --v=1', /^flag needs a value: --secure-port$/],
  // By the name that was written.
  ['up', '--etcd-servers', /^flag needs a value: --etcd-servers$/],
  ['up', '--store-servers', /^flag needs a value: --store-servers$/],
  ['up', '--etcd-compaction-interval=5', /^invalid value "5" for --etcd-compaction-interval: not a duration/],
  ['up', '--kubelet-port=x', /^invalid value "x" for --kubelet-port: not a whole number$/],
  ['scheduler', '--kubeconfig', /^flag needs a value: --kubeconfig$/],
  ['up', 'extra', /^unexpected argument "extra"$/],
  ['up', '-', /^unexpected argument "-"$/],
  ['up', '-- extra', /^unexpected argument "extra"$/],
  ['up', '--zzzzzzzzzzz x --version', /^unknown flag: --zzzzzzzzzzz$/],
  ['up', '--anonymous-auth extra', /^unexpected argument "extra"$/],
  ['up', '--store-prefix /x true', /^unexpected argument "true"$/],
  ['up', '--version=false --zzzzzzzzzzz', /^unknown flag: --zzzzzzzzzzz$/],
  ['up', '--anonymous-auth false', /^unexpected argument "false" \(did you mean --anonymous-auth=false\?\)$/],
  ['up', '--anonymous-auth=yes', /"yes" for --anonymous-auth: must be true or false$/],
  ['up', '--secure-port=x', /"x" for --secure-port: not a whole number$/],
  ['up', '--secure-port=', /--secure-port: not a whole number$/],
  ['up', '--secure-port=1e3', /not a whole number$/],
  ['up', '--secure-port=010', /not a whole number$/],
  ['up', '--secure-port=99999999999999999999', /not a whole number$/],
  ['up', '--secure-port=0', /--secure-port: must be within 1 and 65535$/],
  ['scheduler', '--secure-port=-1', /--secure-port: must be within 0 and 65535$/],
  ['up', '--apiserver-count 0', /--apiserver-count: must be within 1 and/],
  ['up', '--min-request-timeout -1', /must be within 0 and \d+ seconds$/],
  ['up', '--request-timeout 30', /not a duration/],
  ['up', '--request-timeout 0', /must be within 1ms and 576h0m0s$/],
  ['up', '--event-ttl -1s', /must not be negative$/],
  ['up', '--goaway-chance 0.03', /must be within 0 and 0.02$/],
  ['up', '--goaway-chance NaN', /not a number$/],
  ['up', '--bind-address localhost', /not an IPv4 or IPv6 address$/],
  ['up', '--tls-min-version TLS12', /"TLS12" is not one of VersionTLS10, VersionTLS11/],
  ['up', '--ingress none', /"none" is not one of auto, uws, node$/],
  ['up', '--authorization-mode allow', /"allow" is not one of AlwaysAllow, AlwaysDeny, ABAC/],
  ['up', '--authorization-mode AlwaysDeny,,', /an element of the list is empty$/],
  ['up', '--data-dir=', /invalid value "" for --data-dir: "" is not of the form \/path\/of\/a\/folder$/],
  ['up', '--authorization-mode=', /--authorization-mode names no mode$/],
  ['up', '--oidc-username-claim=', /"" is not of the form the name of a claim$/],
  ['scheduler', '--scheduler-name=', /"" is not of the form a name of one word$/],
  ['scheduler', '--leader-elect-resource-name=', /"" is not of the form the name of an object or namespace$/],
  ['scheduler', '--leader-elect-resource-namespace=', /"" is not of the form the name of an object or namespace$/],
  ['scheduler', '--lock-object-name=', /"" is not of the form the name of an object or namespace$/],
  ['scheduler', '--lock-object-namespace=', /"" is not of the form the name of an object or namespace$/],
  [
    'scheduler',
    '--authorization-always-allow-paths /healthz,/a/*/b',
    /"\/a\/\*\/b" is not of the form \/path or \/path\* \(only trailing \* allowed\)$/,
  ],
  [
    'up',
    '--controllers *,-deployments',
    /--controllers: "-deployments" is none of clusterrole-aggregation, .*tokencleaner$/,
  ],
  ['apiserver', '--controllers foo', /--controllers: "foo" is none of /],
  ['up', '--authorization-mode AlwaysDeny,AlwaysDeny', /names AlwaysDeny twice$/],
  ['up', '--enable-admission-plugins Priorty', /"Priorty" is not one of/],
  [
    'up',
    '--enable-admission-plugins NamespaceLifecycle --disable-admission-plugins NamespaceLifecycle',
    /both name NamespaceLifecycle$/,
  ],
  ['up', '--enable-admission-plugins AlwaysDeny,AlwaysDeny', /--enable-admission-plugins names AlwaysDeny twice$/],
  [
    'up',
    '--disable-admission-plugins LimitRanger --disable-admission-plugins LimitRanger',
    /--disable-admission-plugins names LimitRanger twice$/,
  ],
  ['up', '--service-node-port-range 2000-1000', /not a range of ports/],
  ['up', '--service-node-port-range 0-10', /not a range of ports/],
  ['up', '--service-node-port-range 65535+1', /not a range of ports/],
  ['up', '--orch-service-node-port 80', /80 is outside --service-node-port-range 30000-32767$/],
  [
    'up',
    '--service-cluster-ip-range 10.0.0.0/16,fd00::/112 --feature-gates IPv6DualStack=false',
    /: the second range needs the feature gate IPv6DualStack$/,
  ],
  ['up', '--service-cluster-ip-range 10.0.0.0', /"10.0.0.0" is not a CIDR/],
  ['up', '--service-cluster-ip-range=', /names no range$/],
  ['up', '--service-cluster-ip-range 10.0.0.0/11', /10.0.0.0\/11 has more than 2\^20 addresses$/],
  ['up', '--service-cluster-ip-range 10.0.0.0/30', /10.0.0.0\/30: the service cluster IP range must be at least 8 IP /],
  ['up', '--service-cluster-ip-range 10.0.0.0/24,fd00::/126', /fd00::\/126: the service cluster IP range must be at /],
  ['up', '--service-cluster-ip-range 10.0.0.0/16,10.0.9.0/24', /10.0.0.0\/16 and 10.0.9.0\/24 overlap$/],
  ['up', '--service-cluster-ip-range 10.0.0.0/24,10.1.0.0/24', /different IP families$/],
  ['up', '--service-cluster-ip-range 10.0.0.0/24,fd00::/112,fd01::/112', /at most two ranges, not 3$/],
  ['up', '--runtime-config batch', /"batch" is not of the form v1, group\/version/],
  ['up', '--runtime-config __proto__/v1', /is not of the form/],
  ['up', '--runtime-config v1=maybe', /v1 must be true or false$/],
  ['up', '--runtime-config =true', /has no key$/],
  ['up', '--feature-gates Nope=true', /--feature-gates: no feature gate is called "Nope"$/],
  ['up', '--feature-gates NodeLease=false', /cannot be set to false: it is locked to true$/],
  ['up', '--watch-cache-sizes pods', /"pods" is not of the form resource\[\.group\]#size$/],
  ['up', '--tls-cert-file a', /^--tls-cert-file needs --tls-private-key-file beside it$/],
  ['up', '--tls-private-key-file a', /^--tls-private-key-file needs --tls-cert-file beside it$/],
  ['up', '--service-account-signing-key-file a', /needs --service-account-key-file beside it$/],
  [
    'apiserver',
    '--service-account-jwks-uri http://x/keys',
    /^--service-account-jwks-uri http:\/\/x\/keys is not an https address$/,
  ],
  ['apiserver', '--service-account-jwks-uri keys', /^--service-account-jwks-uri keys is not an https address$/],
  ['up', '--token-auth-file a\0b', /the path holds a zero byte$/],
  ['scheduler', '--leader-elect-renew-deadline 16s', /renew-deadline 16s exceeds --leader-elect-lease-duration 15s$/],
  [
    'scheduler',
    '--leader-elect-retry-period 9s',
    /leaves no time for a second try after --leader-elect-retry-period 9s$/,
  ],
  ['scheduler', '--hard-pod-affinity-symmetric-weight 101', /must be within 0 and 100$/],
  ['apiserver', '--authorization-mode ABAC', /ABAC needs --authorization-policy-file$/],
  ['apiserver', '--authorization-mode Webhook', /Webhook needs --authorization-webhook-config-file$/],
  ['apiserver', '--requestheader-client-ca-file p', /needs --requestheader-username-headers$/],
  ['apiserver', '--audit-policy-file p', /needs --audit-log-path or --audit-webhook-config-file beside it$/],
  ['apiserver', '--audit-log-path -', /^--audit-log-path needs --audit-policy-file beside it$/],
  ['up', '--audit-webhook-config-file w', /^--audit-webhook-config-file needs --audit-policy-file beside it$/],
  ...['buffer-size', 'max-size', 'throttle-qps', 'throttle-burst'].map(
    (name) =>
      [
        'apiserver',
        `--audit-policy-file p --audit-webhook-config-file w --audit-webhook-batch-${name} 0`,
        new RegExp(`^--audit-webhook-batch-${name} must not be 0 with --audit-webhook-mode batch$`),
      ] as const,
  ),
  [
    'up',
    '--audit-policy-file p --audit-log-path - --audit-log-mode batch --audit-log-batch-throttle-enable',
    /^--audit-log-batch-throttle-qps must not be 0 with --audit-log-mode batch$/,
  ],
  [
    'apiserver',
    '--audit-policy-file p --audit-log-path - --audit-log-truncate-max-batch-size 102399',
    /^--audit-log-truncate-max-batch-size 102399 is less than --audit-log-truncate-max-event-size 102400$/,
  ],
  [
    'up',
    '--audit-policy-file p --audit-webhook-config-file w --audit-webhook-truncate-max-event-size 0',
    /^--audit-webhook-truncate-max-event-size must not be 0$/,
  ],
  ['apiserver', '--authorization-policy-file p', /needs --authorization-mode ABAC$/],
  ['apiserver', '--authorization-webhook-config-file p', /needs --authorization-mode Webhook$/],
  [
    'apiserver',
    '--store-servers http://127.0.0.1:2379 --store-engine memory',
    /^--store-servers and --store-engine memory name two stores; remove one of them$/,
  ],
  ['apiserver', '--store-cafile c', /^--store-cafile and --store-certfile are of no use without --store-servers$/],
  ['scheduler', '--store-cafile c', /^--store-cafile and --store-certfile are of no use to a scheduler$/],
  ['up', '--orch-service-node-port 32768', /32768 is outside --service-node-port-range 30000-32767$/],
  ['up', '--service-account-issuer http://[', /^--service-account-issuer http:\/\/\[ is not an address$/],
  ['up', '--service-account-max-token-expiration 59m', /59m0s is not between 1h0m0s and 2\^32 seconds$/],
  ['up', '--service-account-max-token-expiration 1193047h', /is not between 1h0m0s and 2\^32 seconds$/],
  ['up', '--show-hidden-metrics-for-version 1.19', /1\.19 is not 1\.20, the release before the one that is served$/],
  ['scheduler', '--show-hidden-metrics-for-version 1.21', /1\.21 is not 1\.20, the release before /],
  ['up', '--store-prefix a\0b', /holds a zero byte$/],
  ['up', '--scheduler-name off --config c', /^--config is for a scheduler, and --scheduler-name off starts none$/],
  ['up', '--scheduling-record r --scheduler-name off', /^--scheduling-record is for a scheduler, and .* starts none$/],
  ['scheduler', '--token-auth-file a', /^unknown flag: --token-auth-file/],
];

for (const [program, argv, message] of refused) {
  test(`${program} ${JSON.stringify(argv)} is refused in one line`, (t) => {
    const error = t.throws(() => parseArguments(program, argv.split(' ')), { instanceOf: UsageError, message });
    t.notRegex(error.message, /\n/);
  });
}

const PASSWORD = 'typed-by-an-operator';

for (const argv of [
  [`--store-servers=root:${PASSWORD}@etcd:2379`],
  ['--store-servers', `https://root:a#${PASSWORD}@etcd:2379`],
  // A comma parts addresses, and so the password.
  [`--store-servers=https://root:a,${PASSWORD}@etcd:2379`],
  [`--store-servers=https://root:${PASSWORD}@etcd:2379,`],
  [`--store-servers-overrides=https://root:${PASSWORD}@etcd:2379`],
  [`-store-servers=https://root:${PASSWORD}@etcd:2379`],
  ['--store-servers', 'https://etcd-0:2379', `https://root:${PASSWORD}@etcd-1:2379`],
]) {
  test(`what refuses ${argv.join(' ')} names the option and has no password in it`, (t) => {
    const { message } = t.throws(() => parseArguments('up', argv), { instanceOf: UsageError });
    t.regex(message, /-store-servers/);
    t.notRegex(message, new RegExp(PASSWORD));
  });
}

const refusedUntilBuilt: readonly string[] = [
  '--cloud-provider=aws',
  '--store-servers-overrides=/events#https://10.0.0.1:2379',
];

for (const argument of refusedUntilBuilt) {
  test(`apiserver ${argument} does not start, since going on without it would do less than asked`, (t) => {
    t.throws(() => parseArguments('apiserver', [argument]), { message: /is not available in this release/ });
  });
}

test('an option that changes nothing is accepted with a line that names it and says why', (t) => {
  t.deepEqual(run('up', ['--lease-reuse-duration-seconds=9']).warnings, [
    '--lease-reuse-duration-seconds is not in force: events expire by their own age; there are no store leases in --store-layout own',
  ]);
});

test('the layout of a kube-apiserver is for its dialect, in an etcd', (t) => {
  const etcd = ['--store-layout=kubernetes', '--store-servers=http://10.0.0.1:2379'];
  const needs = /--store-layout kubernetes needs --store-servers and --api-dialect kubernetes/;
  t.throws(() => parseArguments('up', etcd), { message: needs });
  t.throws(() => parseArguments('up', [etcd[0]!, '--api-dialect=kubernetes']), { message: needs });
  const { options, warnings } = run('up', [...etcd, '--api-dialect=kubernetes', '--lease-reuse-duration-seconds=9']);
  t.is(options.storeLayout, 'kubernetes');
  t.deepEqual(warnings, []);
  t.is(run('up', []).options.storeLayout, 'own');
});

test('a value that says what happens anyway is no reason for a line', (t) => {
  const argv = ['--cloud-provider=external'];
  t.deepEqual(run('up', argv).warnings, []);
});

/** Every flag of a kube-apiserver and kube-scheduler of 1.20, those that their help hides included. */
test('a command line of an API server or scheduler of Kubernetes is understood: no flag of theirs is unknown', (t) => {
  for (const [program, flags] of Object.entries(ORIGINAL_FLAGS)) {
    const known = programOptions(program as Program).flatMap(({ name, aliases = [], formerNames = [] }) => [
      name,
      ...aliases,
      ...formerNames,
    ]);
    t.deepEqual(
      flags.filter((flag) => !known.includes(flag)),
      [],
    );
  }
});

test('what does nothing any more is accepted with a line that says so', (t) => {
  const argv = ['--target-ram-mb=2048', '--kubelet-https=true', '--kubelet-read-only-port=0', '--kubelet-port=10250'];
  t.deepEqual(run('apiserver', [...argv, '--authorization-mode=RBAC']).warnings, [
    '--kubelet-port is deprecated: use --orchlet-port',
    '--target-ram-mb is deprecated: leave it out',
    '--target-ram-mb is not in force: caches go by --store-history-bytes and --encoding-cache-bytes',
    '--kubelet-https is deprecated: leave it out',
    '--kubelet-read-only-port is deprecated: leave it out',
    '--kubelet-read-only-port is not in force: nothing is asked there',
  ]);
});

test('--admission-control names the only plugins that run', (t) => {
  const { options, warnings } = run('up', ['--admission-control=NamespaceLifecycle,Priority']);
  t.deepEqual(options.enableAdmissionPlugins, ['NamespaceLifecycle', 'Priority']);
  t.true(options.disableAdmissionPlugins.includes('ResourceQuota'));
  t.false(options.disableAdmissionPlugins.includes('Priority'));
  t.deepEqual(warnings, [
    '--admission-control is deprecated: use --enable-admission-plugins or --disable-admission-plugins',
  ]);
});

test('an insecure value is accepted with a line that says so', (t) => {
  const argv = [
    '--tls-min-version=VersionTLS10',
    '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA,TLS_AES_128_GCM_SHA256',
  ];
  t.deepEqual(run('up', argv).warnings, [
    '--tls-min-version VersionTLS10 is insecure',
    '--tls-cipher-suites TLS_RSA_WITH_RC4_128_SHA is insecure',
  ]);
});

test('what is on by default and does nothing is named at every start in one line, unless it is switched off', (t) => {
  const standing = (...argv: string[]): string => {
    const parsed = run('up', argv);
    return parsed.standing ?? '';
  };
  const all = standing();
  t.notRegex(all, /\n/);
  for (const { name, isDefault, built } of ADMISSION_PLUGINS as readonly AdmissionPluginRow[]) {
    const isNamed = new RegExp(`\\b${name}\\b`);
    t.is(isNamed.test(all), isDefault && built !== 'whole', name);
    t.false(isNamed.test(standing(`--disable-admission-plugins=${name}`)), name);
  }
  t.is(standing(`--disable-admission-plugins=${DEFAULT_ADMISSION_PLUGINS}`), '');
});

test('a plugin can be enabled when it exists in code, and is refused else', (t) => {
  for (const { name, built } of ADMISSION_PLUGINS as readonly AdmissionPluginRow[]) {
    const argv = [`--enable-admission-plugins=${name}`];
    if (built === 'no') t.throws(() => run('up', argv), { message: /is not available in this release/ }, name);
    else t.deepEqual(run('up', argv).warnings, [], name);
  }
});

test('a deprecated option, key or gate warns and says what to do instead', (t) => {
  t.deepEqual(run('scheduler', ['--address=127.0.0.1']).warnings[0], '--address is deprecated: use --bind-address');
  t.deepEqual(
    run('scheduler', ['--kubeconfig=x']).warnings[0],
    '--kubeconfig is deprecated: set it in the file of --config',
  );
  t.deepEqual(run('up', ['--runtime-config=api/legacy']).warnings, ['--runtime-config api/legacy is deprecated']);
  t.regex(run('up', ['--feature-gates=DryRun=true']).warnings[0]!, /^feature gate DryRun=true will be refused/);
});

test('an option in force warns of nothing', (t) => {
  t.deepEqual(
    run('up', ['--secure-port=1234', '--event-ttl=2h', '-v=2', '--feature-gates=SuspendJob=true']).warnings,
    [],
  );
});

test('the programs differ in their defaults', (t) => {
  const up = run('up', []).options;
  const apiserver = run('apiserver', []).options;
  const scheduler = run('scheduler', []).options;
  t.is(up.bindAddress, '127.0.0.1');
  t.is(apiserver.bindAddress, '0.0.0.0');
  t.is(apiserver.securePort, 6443);
  t.is(scheduler.securePort, 10259);
  t.is(apiserver.authenticationTokenWebhookCacheTtlMs, 120_000);
  t.is(scheduler.authenticationTokenWebhookCacheTtlMs, 10_000);
  t.deepEqual(scheduler.requestheaderUsernameHeaders, ['x-remote-user']);
  t.deepEqual(apiserver.requestheaderUsernameHeaders, []);
});

test('defaults are spelled by the dialect that argv asks for, wherever it stands', (t) => {
  t.is(run('scheduler', []).options.lockObjectName, 'orch-scheduler');
  const other = run('scheduler', ['-v=1', '--api-dialect=kubernetes']).options;
  t.is(other.apiDialect, 'kubernetes');
  t.regex(other.lockObjectName, /^kube.scheduler$/);
  t.throws(() => parseArguments('up', ['--storage-media-type', other.orchApiContentType]), {
    message: /is not one of application/,
  });
  t.notThrows(() =>
    parseArguments('up', ['--storage-media-type', other.orchApiContentType, '--api-dialect=kubernetes']),
  );
});

test('anonymous requests never meet AlwaysAllow, even where the operator asks for both', (t) => {
  for (const argv of [
    [],
    ['--anonymous-auth'],
    ['--anonymous-auth=true', '--authorization-mode=AlwaysDeny,AlwaysAllow'],
  ]) {
    const { options, warnings } = run('apiserver', argv);
    t.false(options.anonymousAuth, argv.join(' '));
    t.deepEqual(warnings, [
      '--anonymous-auth is not allowed with the authorizer AlwaysAllow and is reset to false; use a different authorizer',
    ]);
  }
  for (const argv of [['--anonymous-auth=false'], ['--authorization-mode=AlwaysDeny', '--anonymous-auth']]) {
    const { options, warnings } = run('apiserver', argv);
    t.is(options.anonymousAuth, argv.length === 2);
    t.deepEqual(warnings, []);
  }
});

test('up goes by the roles of the cluster, and says so when it is opened', (t) => {
  const { options, warnings } = run('up', []);
  t.deepEqual(options.authorizationMode, ['Node', 'RBAC']);
  t.deepEqual(warnings, []);
  t.deepEqual(run('apiserver', []).options.authorizationMode, ['AlwaysAllow']);
  t.regex(run('up', ['--authorization-mode=AlwaysAllow']).warnings[1]!, /service accounts included, do everything$/);
});

test('leader election deadlines matter only when there is an election', (t) => {
  t.notThrows(() => parseArguments('scheduler', ['--leader-elect=false', '--leader-elect-renew-deadline=1h']));
  t.notThrows(() => parseArguments('scheduler', ['--leader-elect-renew-deadline=15s']));
});

for (const argv of [['--help'], ['-h'], ['--version=true'], ['--v=1', '--help', '--no-such-flag', 'x']]) {
  test(`apiserver ${argv.join(' ')} asks for a text, not for a start`, (t) => {
    t.is(parseArguments('apiserver', argv).action, argv[0] === '--version=true' ? 'version' : 'help');
  });
}

test('help that is switched off is no call for help', (t) => {
  t.is(parseArguments('apiserver', ['--help=false']).action, 'run');
});

test('what argv set is told apart from defaults, by the option’s own name', (t) => {
  t.deepEqual(
    [...run('scheduler', ['--authentication-kubeconfig=x', '-v=0']).given],
    ['authentication-orchconfig', 'v'],
  );
});

test('a very long argument makes a short error', (t) => {
  const long = 'x'.repeat(1_000_000);
  for (const argv of [
    [`--${long}`],
    [long],
    [`--secure-port=${long}`],
    [`--feature-gates=${long}=true`],
    [`-${long}`],
  ]) {
    const error = t.throws(() => parseArguments('up', argv), { instanceOf: UsageError });
    t.true(error.message.length < 500);
  }
});

test('options are plain data that can be handed to another thread', (t) => {
  const { options } = run('up', ['--runtime-config=v1=true']);
  t.deepEqual(structuredClone(options), options);
  t.true(Object.isFrozen(options));
});

test('everything that is wrong is told at once, a line each, and what follows an unknown flag is taken for its value', (t) => {
  const argv = '--zzzzzzzzzzz value --secure-port=x --yyyyyyyyyyy --v=1 --tls-cert-file=c'.split(' ');
  const error = t.throws(() => parseArguments('up', argv), { instanceOf: UsageError });
  t.deepEqual(
    [error.message, ...error.others],
    [
      'unknown flag: --zzzzzzzzzzz',
      'unknown flag: --yyyyyyyyyyy',
      'invalid value "x" for --secure-port: not a whole number',
      '--tls-cert-file needs --tls-private-key-file beside it',
    ],
  );
});

test('where the reading of options cannot go on, that is told behind what was wrong before', (t) => {
  for (const [argv, ...expected] of [
    ['--zzzzzzzzzzz=x extra --yyyyyyyyyyy', 'unknown flag: --zzzzzzzzzzz', 'unexpected argument "extra"'],
    ['--zzzzzzzzzzz --secure-port', 'unknown flag: --zzzzzzzzzzz', 'flag needs a value: --secure-port'],
    ['--v=1 -- extra', 'unexpected argument "extra"'],
  ] as const) {
    const error = t.throws(() => parseArguments('up', argv.split(' ')), { instanceOf: UsageError });
    t.deepEqual([error.message, ...error.others], expected);
  }
});

test('a dialect that there is none of is told once, and the rest is looked at all the same', (t) => {
  const error = t.throws(() => parseArguments('up', ['--api-dialect=nope', '--secure-port=x']), {
    instanceOf: UsageError,
  });
  t.deepEqual(
    [error.message, ...error.others],
    [
      'invalid value "nope" for --api-dialect: "nope" is not one of orch, kubernetes',
      'invalid value "x" for --secure-port: not a whole number',
    ],
  );
});

const WITHIN: readonly (readonly [program: Program, argv: string])[] = [
  ['up', '--service-account-max-token-expiration=1h'],
  ['up', '--service-account-max-token-expiration=4294967296s'],
  ['up', '--orch-service-node-port=30000 --service-node-port-range=30000-30100'],
  ['up', '--orch-service-node-port=30100 --service-node-port-range=30000-30100'],
  // Batches of nothing are nothing to whom no events go, or one by one.
  ['up', '--audit-log-mode=batch --audit-log-batch-max-size=0'],
  ['up', '--audit-webhook-batch-max-size=0'],
  ['up', '--audit-policy-file=p --audit-log-path=l --audit-log-mode=blocking --audit-log-batch-max-size=0'],
  [
    'up',
    '--audit-policy-file=p --audit-webhook-config-file=w --audit-webhook-batch-throttle-enable=false --audit-webhook-batch-throttle-qps=0',
  ],
  ['up', '--scheduler-name=off'],
  ['up', '--config=c'],
  ['scheduler', '--leader-elect=false --leader-elect-retry-period=1h'],
];

for (const [program, argv] of WITHIN) {
  test(`${program} ${argv} is within what its rules allow`, (t) => {
    t.notThrows(() => parseArguments(program, argv.split(' ')));
  });
}

test('a renewal that comes as late as it may is to leave time for another', (t) => {
  const argv = ['--leader-elect-renew-deadline=12s', '--leader-elect-retry-period=10s'];
  t.throws(() => parseArguments('scheduler', argv), { message: /leaves no time for a second try/ });
});

test('what looks like an option and is none may be the value of one', (t) => {
  const parsed = parseArguments('up', ['--tls-cert-file', '--odd', '--tls-private-key-file', 'k']);
  t.is(parsed.action === 'run' && parsed.options.tlsCertFile, '--odd');
});
