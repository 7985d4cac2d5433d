// The flags of the original programs, those that their help does not show included: kube-apiserver and kube-scheduler of 1.20.2, which 1.21 takes
// too.

export const ORIGINAL_FLAGS: Readonly<Record<'apiserver' | 'scheduler', readonly string[]>> = {
  apiserver: `
    add-dir-header address admission-control admission-control-config-file advertise-address allow-privileged
    alsologtostderr anonymous-auth api-audiences apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size
    audit-log-batch-max-wait audit-log-batch-throttle-burst audit-log-batch-throttle-enable
    audit-log-batch-throttle-qps audit-log-compress audit-log-format audit-log-maxage audit-log-maxbackup
    audit-log-maxsize audit-log-mode audit-log-path audit-log-truncate-enabled audit-log-truncate-max-batch-size
    audit-log-truncate-max-event-size audit-log-version audit-policy-file audit-webhook-batch-buffer-size
    audit-webhook-batch-initial-backoff audit-webhook-batch-max-size audit-webhook-batch-max-wait
    audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps
    audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-enabled
    audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size audit-webhook-version
    authentication-token-webhook-cache-ttl authentication-token-webhook-config-file
    authentication-token-webhook-version authorization-mode authorization-policy-file
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    authorization-webhook-config-file authorization-webhook-version bind-address cert-dir client-ca-file cloud-config
    cloud-provider cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs contention-profiling
    cors-allowed-origins default-not-ready-toleration-seconds default-unreachable-toleration-seconds
    default-watch-cache-size delete-collection-workers deserialization-cache-size disable-admission-plugins
    egress-selector-config-file enable-admission-plugins enable-aggregator-routing enable-bootstrap-token-auth
    enable-garbage-collector enable-logs-handler enable-priority-and-fairness enable-swagger-ui
    encryption-provider-config endpoint-reconciler-type etcd-cafile etcd-certfile etcd-compaction-interval
    etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix
    etcd-servers etcd-servers-overrides event-ttl experimental-encryption-provider-config
    experimental-logging-sanitization external-hostname feature-gates goaway-chance help
    http2-max-streams-per-connection identity-lease-duration-seconds identity-lease-renew-interval-seconds
    insecure-bind-address insecure-port kubelet-certificate-authority kubelet-client-certificate kubelet-client-key
    kubelet-https kubelet-port kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout
    kubernetes-service-node-port livez-grace-period log-backtrace-at log-dir log-file log-file-max-size
    log-flush-frequency logging-format logtostderr master-service-namespace max-connection-bytes-per-sec
    max-mutating-requests-inflight max-requests-inflight min-request-timeout oidc-ca-file oidc-client-id
    oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim
    oidc-username-prefix one-output permit-port-sharing port profiling proxy-client-cert-file proxy-client-key-file
    request-timeout requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
    requestheader-group-headers requestheader-username-headers runtime-config secure-port
    service-account-api-audiences service-account-extend-token-expiration service-account-issuer
    service-account-jwks-uri service-account-key-file service-account-lookup service-account-max-token-expiration
    service-account-signing-key-file service-cluster-ip-range service-node-port-range show-hidden-metrics-for-version
    shutdown-delay-duration skip-headers skip-log-headers ssh-keyfile ssh-user stderrthreshold storage-backend
    storage-media-type target-ram-mb tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
    tls-sni-cert-key token-auth-file v version vmodule watch-cache watch-cache-sizes
  `
    .trim()
    .split(/\s+/),
  scheduler: `
    add-dir-header address algorithm-provider alsologtostderr authentication-kubeconfig authentication-skip-lookup
    authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure authorization-always-allow-paths
    authorization-kubeconfig authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    bind-address cert-dir client-ca-file config contention-profiling experimental-logging-sanitization feature-gates
    hard-pod-affinity-symmetric-weight help http2-max-streams-per-connection kube-api-burst kube-api-content-type
    kube-api-qps kubeconfig leader-elect leader-elect-lease-duration leader-elect-renew-deadline
    leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period
    lock-object-name lock-object-namespace log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency
    logging-format logtostderr master one-output permit-port-sharing policy-config-file policy-configmap
    policy-configmap-namespace port profiling requestheader-allowed-names requestheader-client-ca-file
    requestheader-extra-headers-prefix requestheader-group-headers requestheader-username-headers scheduler-name
    secure-port show-hidden-metrics-for-version skip-headers skip-log-headers stderrthreshold tls-cert-file
    tls-cipher-suites tls-min-version tls-private-key-file tls-sni-cert-key use-legacy-policy-config v version vmodule
    write-config-to
  `
    .trim()
    .split(/\s+/),
};
