// The secure listener: address, port, certificates and what TLS may speak. One port is the API server's, one the
// scheduler's own.
import { ALL_PROGRAMS, INT32_MAX, optionGroup, SCHEDULER, SERVER } from './option.ts';

const CIPHER_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
] as const;

/** Known to be weak. Accepted, since the contract lists them. */
const INSECURE_CIPHER_SUITES = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_RC4_128_SHA',
] as const;

export const serverPortOptions = optionGroup('Secure serving', SERVER, [
  {
    name: 'secure-port',
    type: 'int',
    default: '6443',
    bounds: [1, 65535],
    description: 'Port of HTTPS; it cannot be switched off with 0.',
    effect: ['in force', 'the port that is listened on'],
  },
]);

export const schedulerPortOptions = optionGroup('Secure serving', SCHEDULER, [
  {
    name: 'secure-port',
    type: 'int',
    default: '10259',
    bounds: [0, 65535],
    description: 'Port of HTTPS with authentication and authorization; 0 switches it off.',
    effect: ['in force', 'the port that is listened on'],
  },
]);

export const secureServingOptions = optionGroup('Secure serving', ALL_PROGRAMS, [
  {
    name: 'bind-address',
    type: 'ip',
    default: '0.0.0.0',
    defaultFor: { up: '127.0.0.1' },
    description: 'Address to listen on; blank or an unspecified address means all interfaces.',
    effect: ['in force', 'the address that is listened on'],
  },
  {
    name: 'cert-dir',
    type: 'path',
    default: '/var/run/orch',
    defaultFor: { up: '', scheduler: '' },
    description: 'Folder of generated certificates, unused when files are given; blank for up means in --data-dir.',
    effect: ['in force', 'where the generated pair is'],
  },
  {
    name: 'tls-cert-file',
    type: 'path',
    description: 'Server certificate, PEM, with those of its authorities after it; made when no pair is given.',
    effect: ['in force', 'the certificate that clients see'],
  },
  {
    name: 'tls-private-key-file',
    type: 'path',
    description: 'Private key of --tls-cert-file, PEM.',
    effect: ['in force', 'the certificate that clients see'],
  },
  {
    name: 'tls-sni-cert-key',
    type: 'sequence',
    form: {
      pattern: /^[^,:]+,[^,:]+(?::[^,]+(?:,[^,]+)*)?$/,
      says: 'certificate,key or certificate,key:domain,domain',
    },
    description: 'A further certificate and key for certain domains, chosen by the name a client asks for.',
    effect: ['in force', 'the certificate that clients of those names see'],
  },
  {
    name: 'tls-min-version',
    type: 'string',
    default: 'VersionTLS12',
    values: ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'],
    insecureValues: ['VersionTLS10', 'VersionTLS11'],
    description: 'Oldest version of TLS accepted.',
    effect: ['in force', 'which versions of TLS clients can speak'],
  },
  {
    name: 'tls-cipher-suites',
    type: 'list',
    values: [...CIPHER_SUITES, ...INSECURE_CIPHER_SUITES],
    insecureValues: INSECURE_CIPHER_SUITES,
    description: 'Cipher suites offered; blank for those of the runtime. The last six are insecure.',
    effect: ['in force', 'the suites that clients can agree on; all of TLS 1.3 where none of those is named'],
  },
  {
    name: 'http2-max-streams-per-connection',
    type: 'int',
    unit: 'streams',
    default: '0',
    bounds: [0, INT32_MAX],
    description: "Streams a client may open on one HTTP/2 connection; 0 for the runtime's own limit.",
    effect: ['in force', 'the limit that HTTP/2 clients are told'],
  },
  {
    name: 'strict-transport-security-directives',
    type: 'list',
    form: {
      pattern: /^(?:max-age=\d{1,10}|includeSubDomains|preload)$/,
      says: 'max-age=SECONDS, includeSubDomains or preload',
    },
    description: 'Directives of the Strict-Transport-Security header; blank sends none.',
    effect: ['in force', 'the header of every answer'],
  },
  {
    name: 'cors-allowed-origins',
    type: 'list',
    description: 'Origins, as regular expressions to be found in them, that scripts in browsers may call from.',
    effect: ['in force', 'the headers that let scripts of these origins read answers'],
  },
  {
    name: 'permit-address-sharing',
    type: 'bool',
    default: 'false',
    description: 'Listen although the address is still in use by a socket that is closing.',
    effect: ['in force', 'the address is taken over from closing sockets; so it is without'],
  },
  {
    name: 'permit-port-sharing',
    type: 'bool',
    default: 'false',
    description: 'Let several processes listen on the port.',
    effect: ['in force', 'several processes can listen on the port'],
  },
]);
