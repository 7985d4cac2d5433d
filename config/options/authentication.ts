// Who a request comes from: anonymous, static tokens, client certificates, service-account and bootstrap tokens, token
// webhooks, OpenID Connect, passwords and authenticating proxies.
import { ALL_PROGRAMS, optionGroup, SCHEDULER, SERVER } from './option.ts';

export const authenticationOptions = optionGroup('Authentication', SERVER, [
  {
    name: 'anonymous-auth',
    type: 'bool',
    default: 'true',
    description: 'Let requests without credentials through as system:anonymous; reset to false beside AlwaysAllow.',
    effect: ['in force', 'requests without credentials are system:anonymous, or get 401'],
  },
  {
    name: 'token-auth-file',
    type: 'path',
    description: 'CSV of static tokens: token, user name, user uid, and optionally "group,group".',
    effect: ['in force', 'who is let in'],
  },
  {
    name: 'basic-auth-file',
    type: 'path',
    description: 'CSV of passwords: password, user name, user uid, and optionally "group,group".',
    effect: ['in force', 'who is let in'],
  },
  {
    name: 'enable-bootstrap-token-auth',
    type: 'bool',
    default: 'false',
    description: 'Accept bootstrap tokens kept as secrets in the system namespace.',
    effect: ['in force', 'who is let in'],
  },
  {
    name: 'authentication-token-webhook-config-file',
    type: 'path',
    description: 'Connection file of the webhook that is asked about bearer tokens.',
    effect: ['in force', 'who is asked about tokens'],
  },
  {
    name: 'authentication-token-webhook-version',
    type: 'string',
    default: 'v1beta1',
    values: ['v1beta1', 'v1'],
    description: 'Version of the token reviews exchanged with the webhook.',
    effect: ['in force', 'the form of the questions'],
  },
  {
    name: 'proxy-client-cert-file',
    type: 'path',
    description: 'Client certificate shown to extension servers and admission webhooks.',
    effect: ['in force', 'what extension servers and webhooks are shown, unless a user is named after the webhook'],
  },
  {
    name: 'proxy-client-key-file',
    type: 'path',
    description: 'Private key of --proxy-client-cert-file.',
    effect: ['in force', 'read with the certificate'],
  },
]);

export const delegatedAuthenticationOptions = optionGroup('Authentication', ALL_PROGRAMS, [
  {
    name: 'client-ca-file',
    type: 'path',
    description: 'Authorities of client certificates: the common name is the user, each organization a group.',
    effect: ['in force', 'whose certificates let in'],
  },
  {
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    default: '2m0s',
    defaultFor: { scheduler: '10s' },
    description: 'Time an answer about a bearer token is remembered.',
    effect: ['in force', 'how long an answer about a token holds'],
  },
  {
    name: 'requestheader-client-ca-file',
    type: 'path',
    description: "Authorities of the authenticating proxy's certificate, checked before its headers are trusted.",
    effect: ['in force', 'which proxies are believed'],
  },
  {
    name: 'requestheader-allowed-names',
    type: 'list',
    description: "Common names the proxy's certificate may have; blank for any that is verified.",
    effect: ['in force', 'which proxies are believed'],
  },
  {
    name: 'requestheader-username-headers',
    type: 'list',
    defaultFor: { scheduler: 'x-remote-user' },
    description: 'Headers in which the proxy names the user.',
    effect: ['in force', 'whom a proxy speaks for'],
  },
  {
    name: 'requestheader-group-headers',
    type: 'list',
    defaultFor: { scheduler: 'x-remote-group' },
    description: 'Headers in which the proxy names the groups.',
    effect: ['in force', 'whom a proxy speaks for'],
  },
  {
    name: 'requestheader-extra-headers-prefix',
    type: 'list',
    defaultFor: { scheduler: 'x-remote-extra-' },
    description: 'Prefixes of the headers in which the proxy says more about the user.',
    effect: ['in force', 'whom a proxy speaks for'],
  },
]);

export const schedulerAuthenticationOptions = optionGroup('Authentication', SCHEDULER, [
  {
    name: 'authentication-orchconfig',
    aliases: ['authentication-kubeconfig'],
    type: 'path',
    description: 'Connection file of the server asked about tokens; blank makes every token anonymous.',
    effect: ['in force', 'who is asked about tokens'],
  },
  {
    name: 'authentication-skip-lookup',
    type: 'bool',
    default: 'false',
    description: 'Do not look up missing authentication settings in the cluster.',
    effect: ['in force', 'whether the authorities of the cluster are believed'],
  },
  {
    name: 'authentication-tolerate-lookup-failure',
    type: 'bool',
    default: 'true',
    description: 'Start although that lookup fails; requests may then count as anonymous.',
    effect: ['in force', 'whether a start without them is one'],
  },
]);

export const serviceAccountOptions = optionGroup('Service accounts', SERVER, [
  {
    name: 'service-account-key-file',
    type: 'sequence',
    description: 'PEM file of keys that verify service-account tokens; the TLS private key when none is given.',
    effect: ['in force', 'which tokens of service accounts are believed'],
  },
  {
    name: 'service-account-signing-key-file',
    type: 'path',
    description: "Private key that signs service-account tokens; one of the server's own when no key file is given.",
    effect: ['in force', 'the signature of issued tokens'],
  },
  {
    name: 'service-account-issuer',
    type: 'string',
    description:
      "The iss claim of service-account tokens, an https address; that of the server's own service when blank.",
    effect: ['in force', 'the iss claim of issued tokens, and discovery'],
  },
  {
    name: 'service-account-jwks-uri',
    type: 'string',
    description: "Address of the key set named in the issuer's discovery document, https.",
    effect: ['in force', "jwks_uri in the issuer's discovery document"],
  },
  {
    name: 'service-account-lookup',
    type: 'bool',
    default: 'true',
    description:
      'Accept a service-account token that is kept in a secret only while its account and the secret are there.',
    effect: ['in force', 'whether tokens kept in secrets are looked up; others always are'],
  },
  {
    name: 'service-account-max-token-expiration',
    type: 'duration',
    default: '0s',
    description: 'Longest validity of an issued token; 0 for no limit of its own.',
    effect: ['in force', 'the expiry of issued tokens'],
  },
  {
    name: 'service-account-extend-token-expiration',
    type: 'bool',
    default: 'true',
    description: 'Let tokens injected into pods live up to a year while clients learn to renew them.',
    effect: ['in force', 'the expiry of tokens for pods'],
  },
  {
    name: 'api-audiences',
    type: 'list',
    formerNames: ['service-account-api-audiences'],
    description: 'Names of which a token must carry one; the issuer when blank.',
    effect: ['in force', 'which tokens are believed, and the aud claim of issued ones'],
  },
]);

export const oidcOptions = optionGroup('OpenID Connect', SERVER, [
  {
    name: 'oidc-issuer-url',
    type: 'string',
    form: { pattern: /^(?:https:\/\/\S+)?$/, says: 'https://host/path' },
    description: "The provider's address, the level below .well-known/openid-configuration.",
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-client-id',
    type: 'string',
    description: 'Client that every token must have been issued for.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-username-claim',
    type: 'string',
    default: 'sub',
    // No token has a claim without a name: each would be 401.
    form: { pattern: /./, says: 'the name of a claim' },
    description: 'Claim that names the user; any but email is prefixed with the issuer unless a prefix is set.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-username-prefix',
    type: 'string',
    description: 'Put before user names; - for nothing, blank for the issuer and # unless the claim is email.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-groups-claim',
    type: 'string',
    description: 'Claim that names the groups, a list of texts or one text.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-groups-prefix',
    type: 'string',
    description: 'Put before group names.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-required-claim',
    type: 'map',
    description: 'Claim that a token must carry with exactly this value.',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-ca-file',
    type: 'path',
    description: "Authorities of the provider's certificate; those of the host when blank.",
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
  {
    name: 'oidc-signing-algs',
    type: 'list',
    default: 'RS256',
    values: ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
    description: 'Signature algorithms accepted (RFC 7518).',
    effect: ['in force', 'whose tokens let in, and as whom'],
  },
]);
