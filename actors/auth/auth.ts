// Who is asking, and may they. Owns the authenticators and authorizers and their view of the cluster. What a
// method knows is in its own file under authenticators/ or authorizers/; here they are asked, in one message a request.
import type { AccessAttributes, User } from '../../api/authorization/attributes.ts';
import { type Grant, grantProblem } from '../../api/authorization/grant.ts';
import { impersonated, impersonationAccesses } from '../../api/authorization/impersonation.ts';
import { aggregate } from '../../api/authorization/rbac-policy.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply, ReplyTo } from '../../runtime/actor.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { HistogramSeries } from '../../runtime/metrics/metrics.ts';
import { whenThere } from '../../runtime/soon.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { filterSeconds } from '../filter-seconds.ts';
import { type AuthorityFiles, FollowedAuthorities } from '../followed-authorities.ts';
import { type FeedFactory, feedOfThread } from '../following/feed-of-thread.ts';
import { AuthenticationMetrics } from './authentication-metrics.ts';
import { AuthenticatorChain, bearerTokenOf, UNKNOWN } from './authenticators/authenticator.ts';
import { Identities, identityReader } from './authenticators/identities.ts';
import { type ServiceAccountIssuer, ServiceAccountTokens } from './authenticators/service-account-tokens.ts';
import { TokenDigests } from './authenticators/token-digests.ts';
import type { TokenEntry } from './authenticators/token-file.ts';
import { tokenUses } from './authenticators/token-uses.ts';
import type { AuthorizerChain, Verdict } from './authorizers/authorizer.ts';
import { type AuthorizationMode, authorizerChain } from './authorizers/modes.ts';
import { RbacAuthorizer } from './authorizers/rbac.ts';
import { ClusterFeed, isClusterReader } from './cluster-feed.ts';
import { AUTH_FACTS } from './facts.ts';
import { type AuthMethods, accessWebhookOf, replaceAuthorities, requestMethods, tokenMethods } from './methods.ts';
import type { Admitted, AuthProtocol } from './protocol.ts';

export interface AuthOptions {
  readonly tokens: readonly TokenEntry[];
  /** Requests without credentials go on as `system:anonymous`. */
  readonly anonymous: boolean;
  /** Asked in order, after the superusers. */
  readonly modes: readonly AuthorizationMode[];
  readonly dialect: Dialect;
  readonly methods: AuthMethods;
  /** Where the authorities of the methods are from; absent: they never change. */
  readonly authorityFiles?: AuthorityFiles;
  /** Absent: no token of a service account is known or issued. */
  readonly serviceAccounts: ServiceAccountIssuer | undefined;
}

const NOBODY: Admitted = { user: null };

export class Auth implements Actor<AuthProtocol> {
  readonly #authenticators: AuthenticatorChain;
  readonly #authorizers: AuthorizerChain;
  /** Who knows what roles give, whether the mode RBAC is on or not; undefined where everybody may give everything. */
  readonly #roles: RbacAuthorizer | undefined;
  readonly #serviceAccounts: ServiceAccountTokens | undefined;
  readonly #feed: ClusterFeed;
  readonly #authorities: FollowedAuthorities;
  readonly #authenticationGroup: string;
  readonly #rbacGroup: string;
  readonly #clock: Clock;
  readonly #attempts: AuthenticationMetrics;
  readonly #impersonationSeconds: HistogramSeries;
  readonly #authorizationSeconds: HistogramSeries;

  constructor(context: ActorContext, options: AuthOptions, feedFactory: FeedFactory = feedOfThread) {
    const { anonymous, dialect, methods, serviceAccounts, tokens } = options;
    this.#authenticationGroup = dialect.spell('authentication.@group');
    this.#rbacGroup = dialect.spell('rbac.authorization.@group');
    this.#feed = new ClusterFeed(context, feedFactory);
    const identities = serviceAccounts && new Identities(identityReader(context), this.#feed);
    const uses = tokenUses(context.metrics);
    this.#serviceAccounts =
      identities && new ServiceAccountTokens(context.clock, dialect, serviceAccounts, identities, uses);
    const tokenReaders = tokenMethods(context, dialect, tokens, this.#serviceAccounts, this.#feed, methods);
    this.#clock = context.clock;
    this.#impersonationSeconds = filterSeconds(context.metrics, 'impersonation');
    this.#authorizationSeconds = filterSeconds(context.metrics, 'authorization');
    const authenticationSeconds = filterSeconds(context.metrics, 'authentication');
    const { systemNamespace } = dialect;
    const metrics = new AuthenticationMetrics(context.metrics, context.clock, systemNamespace, authenticationSeconds);
    this.#attempts = metrics;
    const requests = requestMethods(context, methods, metrics.certificateSeen);
    this.#authorities = new FollowedAuthorities(context, options.authorityFiles, (bundles) =>
      replaceAuthorities(requests, bundles),
    );
    const digests = new TokenDigests();
    this.#authenticators = new AuthenticatorChain({
      requests,
      tokens: tokenReaders,
      anonymous,
      digestOf: (token) => digests.of(token),
      metrics,
    });
    this.#authorizers = authorizerChain(options.modes, {
      dialect,
      abacPolicy: methods.abacPolicy ?? '',
      world: context,
      webhook: accessWebhookOf(context, dialect, methods),
    });
    const { members } = this.#authorizers;
    const byMode = members.find((one) => one instanceof RbacAuthorizer);
    this.#roles = byMode ?? (options.modes.includes('AlwaysAllow') ? undefined : new RbacAuthorizer(dialect));
    for (const one of [identities, ...tokenReaders, ...members, ...(byMode === undefined ? [this.#roles] : [])])
      if (one !== undefined && isClusterReader(one)) this.#feed.add(one);
  }

  async start(): Promise<void> {
    this.#feed.start();
    await this.#authorities.start();
  }

  async stop(): Promise<void> {
    this.#feed.stop();
    this.#authorities.stop();
  }

  /** A restarted store knows none of its subscribers. */
  peerRestarted(name: string): void {
    if (name === 'store') this.#feed.onLost();
  }

  onMessage(message: MessageOf<AuthProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'admit':
        answer(() => this.#admit(message), reply);
        return;
      case 'authorize':
        answer(() => whenThere(this.#decide(message.user, message.access), judgement), reply);
        return;
      case 'mayGrant':
        answer(() => this.#mayGrant(message.user, message.namespace, message.grant), reply);
        return;
      case 'rules':
        answer(() => this.#rules(message.user, message.namespace), reply);
        return;
      case 'reviewToken':
        answer(() => this.#review(message.token, message.audiences), reply);
        return;
      case 'issueToken':
        answer(async () => (await this.#serviceAccounts?.issue(message)) ?? { refused: 'noKey' }, reply);
        return;
      case 'issueKeptToken':
        answer(async () => {
          const token = await this.#serviceAccounts?.issueKept(message.subject);
          return token === undefined ? { refused: 'noKey' } : { token };
        }, reply);
        return;
      case 'issuer':
        answer(async () => (await this.#serviceAccounts?.documents()) ?? { configuration: null, keySet: null }, reply);
        return;
      case 'storeBatch':
        this.#feed.onBatch(message);
        return;
      case 'storeLost':
        this.#feed.onLost();
        return;
      default:
        unreachable(message);
    }
  }

  #admit(request: AuthProtocol['asks']['admit']['message']): Admitted | Promise<Admitted> {
    const found = this.#authenticators.user(request);
    // As a rule all of it is one turn, in which each step begins where the last one has ended.
    if (!(found instanceof Promise)) return this.#admitted(request, found, this.#attempts.endedMs);
    return found.then((user) => this.#admitted(request, user, this.#clock.monotonicMs()));
  }

  #admitted(
    { impersonate, access }: AuthProtocol['asks']['admit']['message'],
    user: User | null,
    begunMs: number,
  ): Admitted | Promise<Admitted> {
    if (user === null) return NOBODY;
    if (impersonate === null) return { user };
    if (impersonate !== undefined) return this.#impersonating(user, impersonate, access, begunMs);
    return this.#judged(user, access, begunMs);
  }

  /** A user, and why the access is refused where it is. */
  #judged(user: User, access: AccessAttributes, begunMs: number): Admitted | Promise<Admitted> {
    return whenThere(this.#decide(user, access), ({ decision, reason, errors }) => {
      if (decision !== 'allow') return { user, refusal: { user, access, reason, ...failureOf(errors) } };
      this.#authorizationSeconds.observe((this.#clock.monotonicMs() - begunMs) / 1000);
      return reason === '' ? { user } : { user, reason };
    });
  }

  async #impersonating(impersonator: User, asked: User, access: AccessAttributes, begunMs: number): Promise<Admitted> {
    for (const needed of impersonationAccesses(asked, this.#authenticationGroup)) {
      // What could not be decided is a refusal here, as in the original.
      const { decision, reason } = await this.#decide(impersonator, needed);
      if (decision !== 'allow') return { user: impersonator, refusal: { user: impersonator, access: needed, reason } };
    }
    const endedMs = this.#clock.monotonicMs();
    this.#impersonationSeconds.observe((endedMs - begunMs) / 1000);
    return { impersonator, ...(await this.#judged(impersonated(asked), access, endedMs)) };
  }

  /** Superusers and those who may escalate or bind grant anything; everybody else what they hold. */
  async #mayGrant(user: User, namespace: string, grant: Grant): Promise<ReplyTo<AuthProtocol, 'mayGrant'>> {
    const { verb, resource, name, roleRef } = grant;
    const where = grant.resource === 'clusterroles' && verb === 'escalate' ? '' : namespace;
    const access = roleAccess({ verb, group: this.#rbacGroup, resource, namespace: where, name });
    if ((await this.#decide(user, access)).decision === 'allow') return MAY_GRANT;
    const roles = this.#roles;
    if (roles === undefined) return MAY_GRANT;
    this.#feed.requireWhole();
    const granted = roleRef === undefined ? grant.rules : roles.rulesOfRef(roleRef, namespace);
    if (granted === undefined) return { isRoleMissing: true, problem: '' };
    return { isRoleMissing: false, problem: grantProblem(user, grant, roles.held(user, namespace), granted) };
  }

  #decide(user: User, access: AccessAttributes): Verdict | Promise<Verdict> {
    return this.#authorizers.decide(user, access, this.#feed);
  }

  async #review(token: string, audiences: readonly string[]): Promise<ReplyTo<AuthProtocol, 'reviewToken'>> {
    // It is read as if it came in a header: without the line's end behind it, for example.
    const presented = bearerTokenOf(`Bearer ${token}`);
    const owner = presented === undefined ? UNKNOWN : await this.#authenticators.token(presented, audiences);
    if (owner.user === null) return { user: null, audiences: [], error: owner.error };
    if (owner.audiences !== undefined) return { user: owner.user, audiences: owner.audiences, error: '' };
    const own = this.#serviceAccounts?.audiences ?? [];
    const good = audiences.length === 0 ? own : audiences.filter((audience) => own.includes(audience));
    if (good.length > 0 || audiences.length === 0) return { user: owner.user, audiences: good, error: '' };
    return { ...UNKNOWN, audiences: [] };
  }

  #rules(user: User, namespace: string): ReplyTo<AuthProtocol, 'rules'> {
    const { resourceRules, nonResourceRules, isIncomplete, errors } = this.#authorizers.rules(
      user,
      namespace,
      this.#feed,
    );
    return { resourceRules, nonResourceRules, incomplete: isIncomplete, evaluationError: aggregate(errors) };
  }
}

const MAY_GRANT = { isRoleMissing: false, problem: '' };

function roleAccess(
  changes: Pick<AccessAttributes, 'verb' | 'group' | 'resource' | 'namespace' | 'name'>,
): AccessAttributes {
  return { isResource: true, version: 'v1', subresource: '', path: '', ...changes };
}

/** Sends what `work` comes to, now or later. What it throws fails the question, and nothing else. */
function answer<T>(work: () => T | Promise<T>, reply: Reply): void {
  try {
    const value = work();
    if (!(value instanceof Promise)) reply.send(value);
    else
      value.then(
        (settled) => reply.send(settled),
        (error: unknown) => reply.fail(error),
      );
  } catch (error) {
    reply.fail(error);
  }
}

function judgement({ decision, reason, errors }: Verdict): ReplyTo<AuthProtocol, 'authorize'> {
  const allowed = decision === 'allow';
  return { allowed, denied: decision === 'deny', reason, ...(allowed ? undefined : failureOf(errors)) };
}

function failureOf(errors: readonly string[] | undefined): { readonly error: string } | undefined {
  return errors && { error: aggregate(errors) };
}

/** Authentication and authorization as a placeable actor. */
export const authActor: ActorDefinition<AuthOptions> = {
  ...AUTH_FACTS,
  owns: 'the authenticators and authorizers, their keys, and its subscription to the store',
  create: (context, options) => new Auth(context, options),
};
