// Where each option in force is seen to do what it says: a test file below `test/`, and a part of the title of one of its
// tests. Options that test/integration/option-effects.test.ts is about are named in its titles and need no row here.

type Proof = readonly [file: string, title: string];

const AUTHENTICATION = 'integration/authentication.test.ts';
const ISSUER: Proof = ['integration/reviews-and-tokens.test.ts', "the operator's key signs, under the operator's name"];
const PROXY: Proof = [AUTHENTICATION, 'a proxy with the right certificate speaks for others'];
const CONNECT = 'integration/connect-tokens.test.ts';
const PROVIDER: Proof = [CONNECT, 'the tokens of a real provider let in whom it has let log in'];
const ACCESS_WEBHOOK: Proof = ['integration/access-webhook.test.ts', 'a service is asked in'];
const ACCESS_KEPT: Proof = ['integration/access-webhook.test.ts', 'nothing is kept where that is not wanted'];
const WEBHOOK: Proof = [AUTHENTICATION, 'a token that a service outside knows is asked about once'];
const AGENT: Proof = ['integration/node-agents.test.ts', 'the agent is shown our certificate, and believed by its'];
const TOLERATIONS: Proof = [
  'unit/admission/plugins/default-toleration-seconds.test.ts',
  'the seconds are those of the options',
];
const HOOKS: Proof = [
  'integration/webhook-places.test.ts',
  'a webhook that is a service is called at an endpoint of it',
];
const EGRESS: Proof = [
  'integration/aggregation.test.ts',
  'members of the cluster are reached through the proxy of the egress file',
];
const TRANSPORT = 'integration/transport-options.test.ts';
const ALONE = 'integration/orch-scheduler.test.ts';
const BOUND_ALONE: Proof = [ALONE, 'pods are bound, told of and kept waiting over HTTPS'];
const LEADERS: Proof = [ALONE, 'of two schedulers one leads'];
const NAMED_LOCK: Proof = [ALONE, 'a leader that is not heard any more ends'];
const ELECTED: Proof = [
  'unit/scheduler/leader-election.test.ts',
  'one of two leads, and the other when that one is gone',
];
const KNOWERS: Proof = [ALONE, 'what a scheduler tells of itself is for who may know'];
const NO_REVIEWS: Proof = [ALONE, 'without files for reviews every token is anonymous'];
const POLICY: Proof = [ALONE, 'a policy comes from a config map'];
const FLAGS: Proof = ['unit/scheduler/configuration/configuration.test.ts', 'without a file the flags hold'];
const PACED: Proof = ['unit/scheduler/api-server.test.ts', 'requests go at their pace'];
const AUDIT = 'integration/audit.test.ts';
const AUDIT_RECORDED: Proof = [AUDIT, 'requests are recorded in the log as far'];
const AUDIT_FORMS: Proof = [AUDIT, 'the log is in an older version, or lines of text'];
const AUDIT_ROTATED: Proof = [AUDIT, 'a full log is put aside and compressed'];
const AUDIT_CUT: Proof = [AUDIT, 'large events lose their bodies'];
const AUDIT_STRICT: Proof = [AUDIT, 'a request whose event must be in the log fails'];
const AUDIT_DROPPED: Proof = [AUDIT, 'a log in batches drops what does not fit'];
const AUDIT_LATER: Proof = [AUDIT, 'a batch that is not full is written'];
const AUDIT_SENT: Proof = [AUDIT, 'a webhook is sent lists of events'];
const AUDIT_UNSENT: Proof = [AUDIT, 'a webhook that cannot be reached'];
const LOG_FILES = 'integration/log-files.test.ts';
const LOGGING = 'unit/runtime/logging/log.test.ts';
const IDENTITY: Proof = [
  'integration/windows-and-identities.test.ts',
  'a server under the gate keeps a lease of its identity',
];
const WINDOWS: Proof = [
  'integration/windows-and-identities.test.ts',
  '--watch-cache-sizes and --default-watch-cache-size say',
];
const HELP: Proof = ['integration/cli.test.ts', 'help and versions go to stdout'];

export const PROOFS: Readonly<Record<string, Proof>> = {
  'audit-policy-file': AUDIT_RECORDED,
  'audit-log-path': AUDIT_RECORDED,
  'audit-log-format': AUDIT_FORMS,
  'audit-log-version': AUDIT_FORMS,
  'audit-log-maxsize': AUDIT_ROTATED,
  'audit-log-maxbackup': AUDIT_ROTATED,
  'audit-log-compress': AUDIT_ROTATED,
  'audit-log-truncate-enabled': AUDIT_CUT,
  'audit-log-truncate-max-event-size': AUDIT_CUT,
  'audit-log-truncate-max-batch-size': AUDIT_CUT,
  'audit-log-mode': AUDIT_STRICT,
  'audit-log-batch-max-size': AUDIT_DROPPED,
  'audit-log-batch-buffer-size': AUDIT_DROPPED,
  'audit-log-batch-throttle-enable': AUDIT_DROPPED,
  'audit-log-batch-throttle-qps': AUDIT_DROPPED,
  'audit-log-batch-throttle-burst': AUDIT_DROPPED,
  'audit-log-batch-max-wait': AUDIT_LATER,
  'audit-webhook-config-file': AUDIT_SENT,
  'audit-webhook-version': AUDIT_SENT,
  'audit-webhook-initial-backoff': AUDIT_SENT,
  'audit-webhook-batch-max-size': AUDIT_SENT,
  'audit-webhook-batch-max-wait': AUDIT_SENT,
  'audit-webhook-truncate-enabled': AUDIT_SENT,
  'audit-webhook-truncate-max-event-size': AUDIT_SENT,
  'audit-webhook-truncate-max-batch-size': AUDIT_SENT,
  'audit-webhook-mode': AUDIT_UNSENT,
  'audit-webhook-batch-buffer-size': AUDIT_UNSENT,
  'audit-webhook-batch-throttle-enable': AUDIT_UNSENT,
  'audit-webhook-batch-throttle-qps': AUDIT_UNSENT,
  'audit-webhook-batch-throttle-burst': AUDIT_UNSENT,
  'audit-log-maxage': ['unit/storage/rotating-file.test.ts', 'old files are deleted by their age'],
  'proxy-client-cert-file': HOOKS,
  'proxy-client-key-file': HOOKS,
  'enable-aggregator-routing': HOOKS,
  'egress-selector-config-file': EGRESS,
  'data-dir': ['integration/cli.test.ts', 'a directory that was open to others, and all that is made in it'],
  placement: ['integration/cli.test.ts', 'says where the server is, and SIGTERM ends it'],
  controllers: [
    'integration/controllers-switched.test.ts',
    'a controller that is switched off leaves its work to others',
  ],
  ingress: ['integration/http-transfer.test.ts', 'an HTTP/2 client is told how many streams'],
  'livez-grace-period': ['unit/ingress/paths/health.test.ts', 'hooks that are not through are forgiven for a while'],
  'shutdown-delay-duration': ['integration/cli.test.ts', 'a server that is to stop later is not ready from then on'],
  'enable-garbage-collector': ['integration/deletion.test.ts', 'without a garbage collector no finalizer is added'],
  'delete-collection-workers': ['integration/deletion.test.ts', 'several workers delete a collection whole'],
  'secure-port': ['integration/cli.test.ts', 'says where the server is, and SIGTERM ends it'],
  'token-auth-file': ['integration/cli.test.ts', 'apiserver lets every known user in by default'],
  'basic-auth-file': [AUTHENTICATION, 'a name and its password let in'],
  'enable-bootstrap-token-auth': [AUTHENTICATION, 'a bootstrap token lets in while its secret says so'],
  'authentication-token-webhook-config-file': WEBHOOK,
  'authentication-token-webhook-version': WEBHOOK,
  'authentication-token-webhook-cache-ttl': [AUTHENTICATION, 'a service that is to be asked each time is'],
  'authorization-webhook-config-file': ACCESS_WEBHOOK,
  'authorization-webhook-version': ACCESS_WEBHOOK,
  'authorization-webhook-cache-authorized-ttl': ACCESS_KEPT,
  'authorization-webhook-cache-unauthorized-ttl': ACCESS_KEPT,
  'oidc-username-claim': [CONNECT, "a server reads its issuer's keys once"],
  'oidc-username-prefix': PROVIDER,
  'client-ca-file': [AUTHENTICATION, 'the client certificate'],
  'requestheader-client-ca-file': PROXY,
  'requestheader-allowed-names': PROXY,
  'requestheader-username-headers': PROXY,
  'requestheader-group-headers': PROXY,
  'requestheader-extra-headers-prefix': PROXY,
  'service-account-key-file': ISSUER,
  'service-account-signing-key-file': ISSUER,
  'service-account-lookup': [
    'integration/reviews-and-tokens.test.ts',
    'without lookups a token that was kept in a secret is good',
  ],
  'service-account-issuer': ISSUER,
  'service-account-jwks-uri': ISSUER,
  'service-account-max-token-expiration': ISSUER,
  'api-audiences': ISSUER,
  'oidc-issuer-url': PROVIDER,
  'oidc-client-id': PROVIDER,
  'oidc-groups-claim': PROVIDER,
  'oidc-groups-prefix': PROVIDER,
  'oidc-required-claim': PROVIDER,
  'oidc-ca-file': PROVIDER,
  'oidc-signing-algs': PROVIDER,
  'authorization-mode': ['integration/cli.test.ts', 'AlwaysDeny forbids'],
  'enable-admission-plugins': [
    'unit/admission/plugin-table.test.ts',
    'the default plugins run unless they are switched off',
  ],
  'disable-admission-plugins': [
    'unit/admission/plugin-table.test.ts',
    'the default plugins run unless they are switched off',
  ],
  'admission-control': ['unit/config/parse.test.ts', '--admission-control names the only plugins that run'],
  'default-not-ready-toleration-seconds': TOLERATIONS,
  'default-unreachable-toleration-seconds': TOLERATIONS,
  'admission-control-config-file': [
    'unit/bin/admission-file.test.ts',
    'the settings of plugins are read from the file itself and from files beside it',
  ],
  'store-engine': ['integration/stalled-watchers.test.ts', 'stalled watchers cost no memory'],
  'store-history-bytes': ['integration/stalled-watchers.test.ts', 'stalled watchers cost no memory'],
  'storage-versions': ['integration/storage-versions.test.ts', 'after the version they are stored in has changed'],
  'store-servers': ['integration/several-servers.test.ts', 'what one server acknowledged the other shows'],
  'store-layout': ['integration/original-layout.test.ts', 'what either writes the other finds under its path'],
  'lease-reuse-duration-seconds': ['unit/storage/original/lease-grants.test.ts', 'a lease is shared as long as'],
  'store-cafile': ['integration/several-servers.test.ts', 'a store that wants certificates is shown them'],
  'store-certfile': ['integration/several-servers.test.ts', 'a store that wants certificates is shown them'],
  'store-keyfile': ['integration/several-servers.test.ts', 'a store that wants certificates is shown them'],
  'store-prefix': ['integration/cli.test.ts', 'a directory of the other dialect, or under another prefix, is refused'],
  'store-compaction-interval': ['integration/http-errors.test.ts', 'a change older than the history kept is Expired'],
  'store-count-metric-poll-period': ['integration/store-tools.test.ts', 'metrics say how many objects there are'],
  'encryption-provider-config': ['integration/encryption.test.ts', 'nothing of a secret is on the disk in plain text'],
  'enable-priority-and-fairness': [
    'integration/fairness.test.ts',
    'requests wait where the seats of their level are taken',
  ],
  'max-mutating-requests-inflight': ['integration/http-errors.test.ts', 'writes beyond the limit are 429'],
  'max-connection-bytes-per-sec': ['integration/http-transfer.test.ts', 'a watch on a connection with an allowance'],
  'http2-max-streams-per-connection': [
    'integration/http-transfer.test.ts',
    'an HTTP/2 client is told how many streams',
  ],
  'service-cluster-ip-range': ['integration/service-addresses.test.ts', 'a range is given out to its last address'],
  'service-node-port-range': ['integration/service-addresses.test.ts', 'addresses and ports are chosen, kept, refused'],
  'apiserver-count': ['unit/controllers/bootstrap.test.ts', 'the master-count reconciler adds its address'],
  'orchlet-timeout': ['integration/node-agents.test.ts', 'an agent that does not answer the handshake is given up'],
  'orchlet-certificate-authority': AGENT,
  'orchlet-client-certificate': AGENT,
  'orchlet-client-key': AGENT,
  'orchlet-permit-loopback': ['integration/node-agents.test.ts', 'an agent on this machine is not asked for anything'],
  'runtime-config': ['integration/http-paths.test.ts', 'without the checks of what is not served'],
  'emulated-release': ['integration/storage-versions.test.ts', 'a later release serves and warns of what is left'],
  profiling: ['integration/profiles.test.ts', 'without profiling there are no profiles'],
  'contention-profiling': [
    'integration/profiles.test.ts',
    'with contention profiling, waits in mailboxes are measured',
  ],
  'bind-address': ['integration/cli.test.ts', 'apiserver listens on every address by default'],
  'cert-dir': ['integration/cli.test.ts', 'apiserver lets every known user in by default'],
  'tls-sni-cert-key': [TRANSPORT, 'is the certificate of its names, and is read again'],
  'tls-cipher-suites': [TRANSPORT, 'are those that can be agreed on'],
  'strict-transport-security-directives': [TRANSPORT, 'are in every answer'],
  'cors-allowed-origins': [TRANSPORT, 'may call from scripts, and no others'],
  'permit-address-sharing': [TRANSPORT, 'an address is taken over from connections that are closing'],
  'api-dialect': ['integration/cli.test.ts', 'a directory of the other dialect, or under another prefix, is refused'],
  'feature-gates': ['integration/http-transfer.test.ts', 'nothing is compressed where the gate is off'],
  'log-file': [LOG_FILES, 'the log is in log-file, from its head on'],
  'log-file-max-size': [
    'unit/runtime/logging/log-files.test.ts',
    'a file that would grow beyond its limit is begun anew',
  ],
  logtostderr: [LOG_FILES, 'without logtostderr the log is in log-file'],
  'log-dir': [LOG_FILES, 'log-dir has a file for each severity and a link to it'],
  alsologtostderr: [LOG_FILES, 'with lines on standard error too where alsologtostderr says so'],
  stderrthreshold: [LOG_FILES, 'without logtostderr the log is in log-file'],
  'one-output': ['unit/runtime/logging/log-files.test.ts', 'unless each is to have its own only'],
  'skip-log-headers': [LOG_FILES, 'log-dir has a file for each severity'],
  'add-dir-header': [LOGGING, 'with folders the place has its own'],
  'skip-headers': [LOGGING, 'without headers there is the message'],
  vmodule: [LOGGING, 'a module may be more silent than the rest'],
  'log-backtrace-at': [LOGGING, 'a line of the place that is asked for shows how it was reached'],
  'log-flush-frequency': [
    'unit/runtime/logging/log-files.test.ts',
    'what was written is brought to the disk once for all lines until then',
  ],
  'experimental-logging-sanitization': [LOGGING, 'with sanitization a line that holds something sensitive'],
  'watch-cache': ['unit/hub/windows.test.ts', 'a silent watch is told how far it has come'],
  'watch-cache-sizes': WINDOWS,
  'default-watch-cache-size': WINDOWS,
  'identity-lease-duration-seconds': IDENTITY,
  'identity-lease-renew-interval-seconds': IDENTITY,
  v: ['integration/option-effects.test.ts', 'and -v says how many there are'],
  help: HELP,
  version: HELP,
  'scheduling-record': ['integration/scheduling-record.test.ts', 'records is decided the same again'],
  'scheduling-record-bytes': ['integration/scheduling-record.test.ts', 'a record ends where it is full'],
  config: ['integration/scheduler-choice.test.ts', 'up schedules as the profiles of its configuration file say'],
  'hard-pod-affinity-symmetric-weight': FLAGS,
  'write-config-to': POLICY,
  master: [ALONE, 'the address of the server goes before that of the file'],
  address: BOUND_ALONE,
  port: BOUND_ALONE,
  'algorithm-provider': FLAGS,
  'policy-config-file': POLICY,
  'policy-configmap': POLICY,
  'policy-configmap-namespace': POLICY,
  'use-legacy-policy-config': POLICY,
  orchconfig: BOUND_ALONE,
  'orch-api-qps': PACED,
  'orch-api-burst': PACED,
  'orch-api-content-type': BOUND_ALONE,
  'lock-object-name': [ALONE, 'the older names of the lock hold'],
  'lock-object-namespace': [ALONE, 'the older names of the lock hold'],
  'leader-elect': LEADERS,
  'leader-elect-lease-duration': LEADERS,
  'leader-elect-renew-deadline': NAMED_LOCK,
  'leader-elect-retry-period': LEADERS,
  'leader-elect-resource-lock': ELECTED,
  'leader-elect-resource-name': NAMED_LOCK,
  'leader-elect-resource-namespace': NAMED_LOCK,
  'authentication-orchconfig': KNOWERS,
  'authentication-skip-lookup': NO_REVIEWS,
  'authentication-tolerate-lookup-failure': [ALONE, 'a scheduler does not start where'],
  'authorization-orchconfig': KNOWERS,
  'authorization-always-allow-paths': NO_REVIEWS,
  'scheduler-name': ['integration/scheduler-choice.test.ts', 'up schedules the pods of the name it is given'],
};

/** In force, and no test has seen it yet. This list only shrinks. */
export const UNSEEN: readonly string[] = ['store-healthcheck-timeout'];
