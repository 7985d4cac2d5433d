// Who is asking, and may they. Driver: owns the token table and the keys of service-account tokens. Tokens are compared by
// their SHA-256 digests, so that the time a look-up takes tells nothing about them; a token itself is kept nowhere.

import { createHash } from 'node:crypto';
import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorKind, MessageOf, Reply, ReplyTo } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { AuthorizerChain } from './authorizers/authorizer.ts';
import { type AuthorizationMode, authorizerChain } from './authorizers/modes.ts';
import { identityReader } from './identities.ts';
import type { AccessAttributes, AuthProtocol, User } from './protocol.ts';
import { type ServiceAccountIssuer, ServiceAccountTokens } from './service-account-tokens.ts';

/** A bearer token's digest and whom it stands for. */
export interface TokenEntry {
  /** SHA-256 of the token, lower-case hexadecimal. */
  readonly digest: string;
  readonly user: User;
}

export interface AuthOptions {
  readonly tokens: readonly TokenEntry[];
  /** Requests without credentials go on as `system:anonymous`. */
  readonly anonymous: boolean;
  /** Asked in order, after the superusers. */
  readonly modes: readonly AuthorizationMode[];
  readonly dialect: Dialect;
  /** Absent: no token of a service account is known or issued. */
  readonly serviceAccounts: ServiceAccountIssuer | undefined;
}

const AUTHENTICATED = 'system:authenticated';
const ANONYMOUS: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };
const BEARER = /^bearer +(\S.*)$/i;

/** The digest under which a token is looked up. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export class Auth implements Actor<AuthProtocol> {
  readonly #users: ReadonlyMap<string, User>;
  readonly #options: Omit<AuthOptions, 'serviceAccounts' | 'dialect'>;
  readonly #serviceAccounts: ServiceAccountTokens | undefined;
  readonly #authorizers: AuthorizerChain;

  /** `serviceAccounts`: absent where their tokens are not known. */
  constructor(options: Omit<AuthOptions, 'serviceAccounts' | 'dialect'>, serviceAccounts?: ServiceAccountTokens) {
    this.#options = options;
    this.#serviceAccounts = serviceAccounts;
    this.#authorizers = authorizerChain(options.modes);
    this.#users = new Map(options.tokens.map(({ digest, user }) => [digest, withAuthenticatedGroup(user)]));
  }

  onMessage(message: MessageOf<AuthProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'authenticate':
        this.#authenticate(message.authorization, reply);
        return;
      case 'authorize':
        reply.send(this.#authorize(message.user, message.access));
        return;
      case 'rules':
        reply.send(this.#rules(message.user, message.namespace));
        return;
      case 'reviewToken':
        this.#review(message.token, message.audiences).then(
          (answer) => reply.send(answer),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'issueToken':
        reply.send(this.#serviceAccounts?.issue(message) ?? { refused: 'noKey' });
        return;
      case 'issuer':
        reply.send(this.#serviceAccounts?.documents() ?? { configuration: null, keySet: null });
        return;
      default:
        unreachable(message);
    }
  }

  #authenticate(authorization: string, reply: Reply): void {
    const token = authorization === '' ? undefined : BEARER.exec(authorization)?.[1];
    // Credentials of another scheme: nobody looked at them, so the request counts as one without.
    if (token === undefined) {
      reply.send({ user: this.#options.anonymous ? ANONYMOUS : null });
      return;
    }
    const digest = tokenDigest(token);
    const user = this.#users.get(digest);
    if (user !== undefined || this.#serviceAccounts === undefined) {
      reply.send({ user: user ?? null });
      return;
    }
    this.#serviceAccounts.owner(token, digest, []).then(
      (owner) => reply.send({ user: owner?.user ? withAuthenticatedGroup(owner.user) : null }),
      (error: unknown) => reply.fail(error),
    );
  }

  /** Tokens without audiences of their own are good for whichever of the server's are asked about. */
  async #review(token: string, audiences: readonly string[]): Promise<ReplyTo<AuthProtocol, 'reviewToken'>> {
    const digest = tokenDigest(token);
    const known = this.#users.get(digest);
    if (known !== undefined) {
      const own = this.#serviceAccounts?.audiences ?? [];
      const good = audiences.length === 0 ? own : audiences.filter((audience) => own.includes(audience));
      if (good.length > 0 || audiences.length === 0) return { user: known, audiences: good, error: '' };
      return { user: null, audiences: [], error: 'the token is for other audiences' };
    }
    const owner = await this.#serviceAccounts?.owner(token, digest, audiences);
    if (owner === undefined) return { user: null, audiences: [], error: 'nobody is known by this token' };
    if (owner.user === null) return { user: null, audiences: [], error: owner.error };
    return { user: withAuthenticatedGroup(owner.user), audiences: owner.audiences, error: '' };
  }

  #rules(user: User, namespace: string): ReplyTo<AuthProtocol, 'rules'> {
    return { ...this.#authorizers.rules(user, namespace), incomplete: false, evaluationError: '' };
  }

  #authorize(user: User, access: AccessAttributes): ReplyTo<AuthProtocol, 'authorize'> {
    const { decision, reason } = this.#authorizers.decide(user, access);
    return { allowed: decision === 'allow', reason };
  }
}

function withAuthenticatedGroup(user: User): User {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/**
 * The entries of a static token file (SPEC.md "Static token file"): CSV lines of token, user name, uid and optionally
 * groups. Throws OrchError BadConfiguration naming the line.
 */
export function parseTokenFile(text: string, fileName: string): TokenEntry[] {
  const entries: TokenEntry[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const fields = csvFields(line.trim());
    if (fields === undefined) throw badLine(fileName, index, 'a double quote is out of place');
    const [token = '', name = '', uid = '', groups = ''] = fields;
    if (fields.length < 3 || token === '' || name === '') {
      throw badLine(fileName, index, 'a line needs a token, a user name and a uid');
    }
    const groupList = groups
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '');
    entries.push({ digest: tokenDigest(token), user: { name, uid, groups: groupList, extra: {} } });
  });
  return entries;
}

function badLine(fileName: string, index: number, problem: string): OrchError {
  return new OrchError('BadConfiguration', `${fileName}:${index + 1}: ${problem}`);
}

/** One field and what ends it. */
const CSV_FIELD = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|([^",]*))(?:,|$)/y;

/**
 * The fields of one CSV line (RFC 4180): commas separate, double quotes hold commas, two quotes are one. Blanks around a
 * field are not part of it. Undefined where a quote stands inside a field or is not closed.
 */
function csvFields(line: string): string[] | undefined {
  const fields: string[] = [];
  CSV_FIELD.lastIndex = 0;
  while (CSV_FIELD.lastIndex < line.length) {
    const match = CSV_FIELD.exec(line);
    if (match === null) return undefined;
    fields.push(match[1] === undefined ? match[2]!.trim() : match[1].replaceAll('""', '"'));
  }
  if (line.endsWith(',')) fields.push('');
  return fields;
}

/** Authentication and authorization as a placeable actor. */
export const authKind: ActorKind<AuthOptions> = {
  kind: 'auth',
  nature: 'driver',
  owns: 'the token table and the keys of service-account tokens',
  mailboxMax: 20_000,
  stopOrder: 70,
  create: (context, options) => {
    const { dialect, serviceAccounts } = options;
    return new Auth(
      options,
      serviceAccounts && new ServiceAccountTokens(context.clock, dialect, serviceAccounts, identityReader(context)),
    );
  },
};
