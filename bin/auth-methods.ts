// The files that the methods of authentication and authorization are made of, read and checked before anything starts: a
// start with one that cannot be used ends with a line that names it.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { certificatesOf } from '../actors/auth/authenticators/certificates.ts';
import { parsePasswordFile } from '../actors/auth/authenticators/token-file.ts';
import type { AuthMethods } from '../actors/auth/methods.ts';
import { DIALECTS } from '../config/dialect.ts';
import type { ServerOptions } from '../config/options.ts';
import { OrchError } from '../runtime/errors.ts';
import {
  ConnectionFileError,
  parseConnectionFile,
  type ServiceConnection,
} from '../transport/outgoing/connection-file.ts';
import { policyText } from './policy-file.ts';

/** What the options ask for. Throws OrchError BadConfiguration. */
export function authMethods(options: ServerOptions): AuthMethods {
  const abacPolicy = policyText(options.authorizationPolicyFile, DIALECTS[options.apiDialect]);
  return {
    ...(abacPolicy === '' ? {} : { abacPolicy }),
    ...(options.clientCaFile === '' ? {} : { clientCaPem: authorities(options.clientCaFile) }),
    ...(options.requestheaderClientCaFile === ''
      ? {}
      : {
          proxy: {
            caPem: authorities(options.requestheaderClientCaFile),
            names: options.requestheaderAllowedNames,
          },
        }),
    ...(options.basicAuthFile === ''
      ? {}
      : { passwords: parsePasswordFile(textOf(options.basicAuthFile), options.basicAuthFile) }),
    ...(options.enableBootstrapTokenAuth ? { bootstrapTokens: true as const } : {}),
    ...connectMethod(options),
    ...webhookMethods(options),
  };
}

/** Where client certificates let in at all, those that the cluster signs do. */
export function withAuthority(methods: AuthMethods, { certPem }: { readonly certPem: string }): AuthMethods {
  const { clientCaPem } = methods;
  if (clientCaPem === undefined || clientCaPem.includes(certPem.trim())) return methods;
  return { ...methods, clientCaPem: clientCaPem + certPem };
}

/** The authorities that the listener asks client certificates of; empty where it asks for none. */
export function clientAuthorities({ clientCaPem = '', proxy }: AuthMethods): string {
  return clientCaPem + (proxy?.caPem ?? '');
}

function connectMethod(options: ServerOptions): Pick<AuthMethods, 'connect'> {
  if (options.oidcIssuerUrl === '') return {};
  return {
    connect: {
      caPem: options.oidcCaFile === '' ? '' : authorities(options.oidcCaFile),
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

function webhookMethods(options: ServerOptions): Pick<AuthMethods, 'tokenWebhook' | 'accessWebhook'> {
  const { authenticationTokenWebhookConfigFile: tokens, authorizationWebhookConfigFile: access } = options;
  return {
    ...(tokens === ''
      ? {}
      : {
          tokenWebhook: {
            connection: connectionOf(tokens),
            version: options.authenticationTokenWebhookVersion,
            cacheMs: options.authenticationTokenWebhookCacheTtlMs,
          },
        }),
    ...(access === ''
      ? {}
      : {
          accessWebhook: {
            connection: connectionOf(access),
            version: options.authorizationWebhookVersion,
            allowedMs: options.authorizationWebhookCacheAuthorizedTtlMs,
            refusedMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
          },
        }),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OrchError('BadConfiguration', `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function authorities(file: string): string {
  const pem = textOf(file);
  try {
    if (certificatesOf(pem).length > 0) return `${pem.trimEnd()}\n`;
  } catch {
    throw new OrchError('BadConfiguration', `${file} holds a certificate that cannot be read`);
  }
  throw new OrchError('BadConfiguration', `${file} holds no certificates`);
}

function connectionOf(file: string): ServiceConnection {
  try {
    const beside = (path: string): string => resolve(dirname(file), path);
    const connection = parseConnectionFile(textOf(file), (path) => textOf(beside(path)));
    const { credentials } = connection;
    if (credentials.kind !== 'tokenFile') return connection;
    return { ...connection, credentials: { kind: 'tokenFile', path: beside(credentials.path) } };
  } catch (error) {
    if (error instanceof ConnectionFileError) throw new OrchError('BadConfiguration', `${file}: ${error.message}`);
    throw error;
  }
}
