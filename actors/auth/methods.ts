// The methods of authentication and authorization that a server's settings ask for, made in the order they are tried.
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import type { ConnectionSecretsParts } from '../../transport/outgoing/connection-secrets.ts';
import { webhookCalls } from '../../transport/outgoing/rest-client-metrics.ts';
import { ServiceClient } from '../../transport/outgoing/service-client.ts';
import type { AuthorityBundles } from '../followed-authorities.ts';
import { tellingTime } from '../outside/webhook-call.ts';
import type { RequestAuthenticator, TokenAuthenticator } from './authenticators/authenticator.ts';
import { BasicPasswords } from './authenticators/basic.ts';
import { BootstrapTokens } from './authenticators/bootstrap-tokens.ts';
import { AuthenticatingProxy, ClientCertificates } from './authenticators/certificates.ts';
import { type ConnectSettings, ConnectTokens } from './authenticators/connect-tokens.ts';
import type { ServiceAccountTokens } from './authenticators/service-account-tokens.ts';
import { StaticTokens, type TokenEntry } from './authenticators/token-file.ts';
import { TokenWebhook } from './authenticators/token-webhook.ts';
import type { WebhookAuthorizerSettings } from './authorizers/webhook.ts';
import type { ClusterKnowledge } from './cluster-feed.ts';

/** What the methods need besides the cluster; an absent part switches its method off. Plain data: it crosses threads. */
export interface AuthMethods {
  /** The text of `--authorization-policy-file`. */
  readonly abacPolicy?: string;
  readonly clientCaPem?: string;
  readonly proxy?: { readonly caPem: string; readonly names: readonly string[] };
  readonly passwords?: readonly TokenEntry[];
  readonly bootstrapTokens?: true;
  readonly connect?: { readonly settings: ConnectSettings; readonly caPem: string; readonly caFile: string };
  readonly tokenWebhook?: {
    readonly connection: ServiceConnection;
    readonly version: string;
    readonly cacheMs: number;
  };
  readonly accessWebhook?: {
    readonly connection: ServiceConnection;
    readonly version: string;
    readonly allowedMs: number;
    readonly refusedMs: number;
  };
}

/** The methods that look at more than a token. `onCertificate`: see ClientCertificates. */
export function requestMethods(
  context: ActorContext,
  methods: AuthMethods,
  onCertificate: (leftMs: number) => void,
): readonly RequestAuthenticator[] {
  const { proxy, clientCaPem, passwords } = methods;
  return [
    ...(proxy === undefined ? [] : [new AuthenticatingProxy(proxy.caPem, proxy.names, context.clock)]),
    ...(clientCaPem === undefined ? [] : [new ClientCertificates(clientCaPem, context.clock, onCertificate)]),
    ...(passwords === undefined ? [] : [new BasicPasswords(passwords)]),
  ];
}

/** Goes by other authorities from now on; those that are absent stay. */
export function replaceAuthorities(
  methods: readonly RequestAuthenticator[],
  { client, proxy }: Partial<AuthorityBundles>,
): void {
  for (const method of methods) {
    if (method instanceof ClientCertificates && client !== undefined) method.replaceAuthorities(client);
    else if (method instanceof AuthenticatingProxy && proxy !== undefined) method.replaceAuthorities(proxy);
  }
}

/** The methods that know tokens: those that answer at once before those that ask outside. */
export function tokenMethods(
  context: ActorContext,
  dialect: Dialect,
  tokens: readonly TokenEntry[],
  serviceAccounts: ServiceAccountTokens | undefined,
  cluster: ClusterKnowledge,
  methods: AuthMethods,
): readonly TokenAuthenticator[] {
  const { bootstrapTokens, connect, tokenWebhook } = methods;
  const audiences = serviceAccounts?.audiences ?? [];
  return [
    new StaticTokens(tokens),
    ...(serviceAccounts === undefined ? [] : [serviceAccounts]),
    ...(bootstrapTokens === undefined ? [] : [new BootstrapTokens(dialect, context.clock, cluster)]),
    ...(connect === undefined
      ? []
      : [
          new ConnectTokens({
            settings: connect.settings,
            client: new ServiceClient(callParts(context, issuerConnection(connect))),
            clock: context.clock,
          }),
        ]),
    ...(tokenWebhook === undefined
      ? []
      : [
          new TokenWebhook({
            client: clientOf(context, tellingTime(tokenWebhook.connection)),
            environment: context,
            apiVersion: `${dialect.spell('authentication.@group')}/${tokenWebhook.version}`,
            cacheMs: tokenWebhook.cacheMs,
            audiences,
          }),
        ]),
  ];
}

/** The mode Webhook's part; undefined where there is no webhook. */
export function accessWebhookOf(
  context: ActorContext,
  dialect: Dialect,
  { accessWebhook }: AuthMethods,
): WebhookAuthorizerSettings | undefined {
  if (accessWebhook === undefined) return undefined;
  const { connection, version, allowedMs, refusedMs } = accessWebhook;
  return {
    client: clientOf(context, tellingTime(connection)),
    environment: context,
    apiVersion: `${dialect.spell('authorization.@group')}/${version}`,
    allowedMs,
    refusedMs,
  };
}

/** A client of a webhook. */
function clientOf(context: ActorContext, connection: ServiceConnection): ServiceClient {
  return new ServiceClient({
    ...callParts(context, connection),
    ...webhookCalls(context.metrics, connection.url),
  });
}

function callParts({ clock, disk, log }: ActorContext, connection: ServiceConnection): ConnectionSecretsParts {
  return {
    connection,
    readFile: (path) => disk.readFile(path),
    nowMs: () => clock.monotonicMs(),
    onRefused: (problem) => log.warn(`what was replaced is not used for calls outside: ${problem}`),
  };
}

/** Token issuers are only read from, at the addresses they name. */
function issuerConnection({ caPem, caFile }: { readonly caPem: string; readonly caFile: string }): ServiceConnection {
  return {
    url: 'https://',
    caPem,
    insecure: false,
    serverName: '',
    certPem: '',
    keyPem: '',
    files: { ca: caFile, cert: '', key: '' },
    credentials: { kind: 'none' },
  };
}
