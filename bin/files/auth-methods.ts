// The files that the methods of authentication and authorization are made of, read and checked before anything starts: a
// start with one that cannot be used ends with a line that names it.
import { dirname, resolve } from 'node:path';
import { parsePasswordFile } from '../../actors/auth/authenticators/token-file.ts';
import type { AuthMethods } from '../../actors/auth/methods.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ServerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import {
  ConnectionFileError,
  type CredentialsByService,
  type NamedFiles,
  parseConnectionFile,
  parseCredentialsFile,
  type ServiceConnection,
} from '../../transport/outgoing/connection-file.ts';
import { bundleOf } from '../../transport/tls/material-files.ts';
import { operatorText } from './operator-file.ts';
import { policyText } from './policy-file.ts';

/** Reads the files of one method; empty where the options do not ask for it. Throws OrchError BadConfiguration. */
type Part = (options: ServerOptions) => AuthMethods;

/** One a method, so that each can be looked at by itself. */
export const AUTH_METHOD_PARTS: readonly Part[] = [
  ({ authorizationPolicyFile, apiDialect }) => {
    const abacPolicy = policyText(authorizationPolicyFile, DIALECTS[apiDialect]);
    return abacPolicy === '' ? {} : { abacPolicy };
  },
  ({ clientCaFile }) => (clientCaFile === '' ? {} : { clientCaPem: authorities(clientCaFile) }),
  ({ requestheaderClientCaFile: file, requestheaderAllowedNames: names }) =>
    file === '' ? {} : { proxy: { caPem: authorities(file), names } },
  ({ basicAuthFile }) =>
    basicAuthFile === '' ? {} : { passwords: parsePasswordFile(operatorText(basicAuthFile), basicAuthFile) },
  ({ enableBootstrapTokenAuth }) => (enableBootstrapTokenAuth ? { bootstrapTokens: true } : {}),
  connectMethod,
  tokenWebhook,
  accessWebhook,
];

/** What the options ask for. Throws OrchError BadConfiguration. */
export function authMethods(options: ServerOptions): AuthMethods {
  return Object.assign({}, ...AUTH_METHOD_PARTS.map((part) => part(options)));
}

/** Where client certificates let in at all, those that the cluster signs do. */
export function withAuthority(methods: AuthMethods, { certPem }: { readonly certPem: string }): AuthMethods {
  const { clientCaPem } = methods;
  if (clientCaPem === undefined || clientCaPem.includes(certPem.trim())) return methods;
  return { ...methods, clientCaPem: clientCaPem + certPem };
}

function connectMethod(options: ServerOptions): AuthMethods {
  if (options.oidcIssuerUrl === '') return {};
  return {
    connect: {
      caPem: options.oidcCaFile === '' ? '' : authorities(options.oidcCaFile),
      caFile: options.oidcCaFile === '' ? '' : resolve(options.oidcCaFile),
      settings: {
        issuerUrl: options.oidcIssuerUrl,
        clientId: options.oidcClientId,
        usernameClaim: options.oidcUsernameClaim,
        usernamePrefix: options.oidcUsernamePrefix,
        groupsClaim: options.oidcGroupsClaim,
        groupsPrefix: options.oidcGroupsPrefix,
        requiredClaims: Object.fromEntries(options.oidcRequiredClaim),
        algorithms: options.oidcSigningAlgs,
      },
    },
  };
}

function tokenWebhook(options: ServerOptions): AuthMethods {
  const { authenticationTokenWebhookConfigFile: file } = options;
  if (file === '') return {};
  return {
    tokenWebhook: {
      connection: connectionOf(file),
      version: options.authenticationTokenWebhookVersion,
      cacheMs: options.authenticationTokenWebhookCacheTtlMs,
    },
  };
}

function accessWebhook(options: ServerOptions): AuthMethods {
  const { authorizationWebhookConfigFile: file } = options;
  if (file === '') return {};
  return {
    accessWebhook: {
      connection: connectionOf(file),
      version: options.authorizationWebhookVersion,
      allowedMs: options.authorizationWebhookCacheAuthorizedTtlMs,
      refusedMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
    },
  };
}

function authorities(file: string): string {
  return bundleOf(file, operatorText(file));
}

/** How the service is reached that a file of kind Config names, at another `address` if one is given. Throws OrchError BadConfiguration. */
export function connectionOf(file: string, address = ''): ServiceConnection {
  return parsedBy((text, named) => parseConnectionFile(text, named, address), file);
}

/** Whom services are shown that the users of a file of kind Config are named after. Throws OrchError BadConfiguration. */
export function credentialsOf(file: string): CredentialsByService {
  return parsedBy(parseCredentialsFile, file);
}

/** What a file names is found beside it. */
function parsedBy<T>(parse: (text: string, named: NamedFiles) => T, file: string): T {
  try {
    return parse(operatorText(file), { resolve: (path) => resolve(dirname(file), path), read: operatorText });
  } catch (error) {
    if (error instanceof ConnectionFileError) throw new OrchError('BadConfiguration', `${file}: ${error.message}`);
    throw error;
  }
}
