// Who may ask a scheduler what: certificates and proxies by the authorities of the options, or of the cluster where they are
// left out, tokens and access by reviews of the API server (SPEC.md "Authorization" 6).
import { AuthenticationMetrics } from '../../actors/auth/authentication-metrics.ts';
import { AuthenticatorChain } from '../../actors/auth/authenticators/authenticator.ts';
import { AuthenticatingProxy, ClientCertificates } from '../../actors/auth/authenticators/certificates.ts';
import { tokenDigest } from '../../actors/auth/authenticators/token-file.ts';
import { TokenWebhook } from '../../actors/auth/authenticators/token-webhook.ts';
import { WebhookAuthorizer } from '../../actors/auth/authorizers/webhook.ts';
import { FilterFailed } from '../../actors/ingress/exchange/filter-failed.ts';
import { proxiedIdentityOf } from '../../actors/ingress/pipeline/proxied-identity.ts';
import { pathAccess, SUPERUSERS, type User } from '../../api/authorization/attributes.ts';
import { aggregate } from '../../api/authorization/rbac-policy.ts';
import { forbiddenPath, unauthorized } from '../../api/status/failures.ts';
import type { Status } from '../../api/status/status.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import type { Metrics } from '../../runtime/metrics/metrics.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { HttpRequest } from '../../transport/http.ts';
import type { OnCall } from '../../transport/outgoing/connection-secrets.ts';
import { delegatedCalls, restClientCalls } from '../../transport/outgoing/rest-client-metrics.ts';
import { ServiceClient } from '../../transport/outgoing/service-client.ts';
import { warn } from '../command-line/print-lines.ts';
import { connectionOf } from '../files/auth-methods.ts';

/** PEM texts of authorities, empty for none, and whom a proxy may speak for. */
export interface ClientAuthorities {
  readonly clientCaPem: string;
  readonly proxyCaPem: string;
  readonly proxyNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** The authorities whose certificates clients are asked for; empty for none. */
export function pemOf({ clientCaPem, proxyCaPem }: ClientAuthorities): string {
  return `${clientCaPem}${proxyCaPem}`;
}

export class SchedulerAccess {
  readonly #options: SchedulerOptions;
  readonly #authorities: ClientAuthorities;
  readonly #chain: AuthenticatorChain;
  readonly #authorizer: WebhookAuthorizer | undefined;
  /** Whom reviews are asked of. */
  readonly #reviewers: ServiceClient[] = [];

  /** Throws OrchError BadConfiguration for connection files of no use. */
  constructor(options: SchedulerOptions, authorities: ClientAuthorities, metrics: Metrics) {
    this.#options = options;
    this.#authorities = authorities;
    const { clock } = realEnvironment;
    const { clientCaPem, proxyCaPem, proxyNames } = authorities;
    const measures = new AuthenticationMetrics(metrics, clock, DIALECTS[options.apiDialect].systemNamespace);
    this.#chain = new AuthenticatorChain({
      requests: [
        ...(proxyCaPem === '' ? [] : [new AuthenticatingProxy(proxyCaPem, proxyNames, clock)]),
        ...(clientCaPem === '' ? [] : [new ClientCertificates(clientCaPem, clock, measures.certificateSeen)]),
      ],
      tokens: this.#tokenReviews(metrics),
      anonymous: true,
      digestOf: tokenDigest,
      metrics: measures,
    });
    this.#authorizer = this.#accessReviews(metrics);
  }

  /** Undefined: go on. */
  async refusal(request: HttpRequest): Promise<Status | FilterFailed | undefined> {
    const user = await this.#userOf(request);
    if (user === null) return unauthorized();
    const access = pathAccess(request.method.toLowerCase(), decoded(request.path));
    if (this.#isAlwaysAllowed(access.path) || user.groups.includes(SUPERUSERS)) return undefined;
    const verdict = await this.#authorizer?.decide(user, access);
    if (verdict?.decision === 'allow') return undefined;
    if (verdict?.errors !== undefined) return new FilterFailed(aggregate(verdict.errors));
    const because = verdict === undefined || verdict.reason === '' ? '' : `: ${verdict.reason}`;
    return forbiddenPath(`User "${user.name}" cannot ${access.verb} path "${access.path}"${because}`);
  }

  #userOf(request: HttpRequest): User | null | Promise<User | null> {
    const { peerCertificate } = request;
    const { usernameHeaders: names, groupHeaders: groups, extraPrefixes } = this.#authorities;
    const proxied = proxiedIdentityOf(request, { names, groups, extraPrefixes });
    return this.#chain.user({
      // Nobody can be asked about tokens: who has one is nobody known.
      authorization: this.#options.authenticationOrchconfig === '' ? '' : request.header('authorization'),
      ...(peerCertificate === undefined ? {} : { peerCertificate }),
      ...(proxied === undefined ? {} : { proxied }),
    });
  }

  /** Keeps no connection any more; what is under way ends as it does. */
  retire(): void {
    for (const client of this.#reviewers) client.retire();
  }

  #tokenReviews(metrics: Metrics): readonly TokenWebhook[] {
    const { authenticationOrchconfig: file, apiDialect, authenticationTokenWebhookCacheTtlMs } = this.#options;
    if (file === '') return [];
    const apiVersion = DIALECTS[apiDialect].spell('authentication.@group/v1');
    const client = reviewClient(file, `${apiVersion}/tokenreviews`, metrics, delegatedCalls(metrics, 'authn'));
    this.#reviewers.push(client);
    const cacheMs = authenticationTokenWebhookCacheTtlMs;
    return [new TokenWebhook({ client, environment: realEnvironment, apiVersion, cacheMs, audiences: [] })];
  }

  #accessReviews(metrics: Metrics): WebhookAuthorizer | undefined {
    const { authorizationOrchconfig: file, apiDialect } = this.#options;
    if (file === '') return undefined;
    const apiVersion = DIALECTS[apiDialect].spell('authorization.@group/v1');
    const client = reviewClient(file, `${apiVersion}/subjectaccessreviews`, metrics, delegatedCalls(metrics, 'authz'));
    this.#reviewers.push(client);
    return new WebhookAuthorizer({
      client,
      environment: realEnvironment,
      apiVersion,
      allowedMs: this.#options.authorizationWebhookCacheAuthorizedTtlMs,
      refusedMs: this.#options.authorizationWebhookCacheUnauthorizedTtlMs,
    });
  }

  /** A path, or with a star at its end all that begin so. */
  #isAlwaysAllowed(path: string): boolean {
    return this.#options.authorizationAlwaysAllowPaths.some((allowed) => {
      const plain = allowed.replace(/^\/*/, '/');
      return plain.endsWith('*') ? path.startsWith(plain.slice(0, -1)) : path === plain;
    });
  }
}

function reviewClient(file: string, path: string, metrics: Metrics, onReview: OnCall): ServiceClient {
  const connection = connectionOf(file);
  const onAnyCall = restClientCalls(metrics, connection.url);
  const { disk, clock } = realEnvironment;
  return new ServiceClient({
    connection: { ...connection, url: `${connection.url}/apis/${path}` },
    readFile: (name) => disk.readFile(name),
    nowMs: () => clock.monotonicMs(),
    onRefused: warn,
    onCall: (...call) => {
      onAnyCall(...call);
      onReview(...call);
    },
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
