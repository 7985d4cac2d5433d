// Who is asking, and may they. Driver: owns the token table. Tokens are compared by their SHA-256 digests, so that the time
// a look-up takes tells nothing about them; a token itself is kept nowhere.
import { createHash } from 'node:crypto';
import type { Actor, ActorKind, MessageOf, Reply } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { type AccessAttributes, type AuthProtocol, SUPERUSERS, type User } from './protocol.ts';

/** A bearer token's digest and whom it stands for. */
export interface TokenEntry {
  /** SHA-256 of the token, lower-case hexadecimal. */
  readonly digest: string;
  readonly user: User;
}

/** The authorization modes in force. */
export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny';

export interface AuthOptions {
  readonly tokens: readonly TokenEntry[];
  /** Requests without credentials go on as `system:anonymous`. */
  readonly anonymous: boolean;
  /** Asked in order; the first that has an opinion decides. */
  readonly modes: readonly AuthorizationMode[];
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
  readonly #options: AuthOptions;

  constructor(options: AuthOptions) {
    this.#options = options;
    this.#users = new Map(options.tokens.map(({ digest, user }) => [digest, withAuthenticatedGroup(user)]));
  }

  onMessage(message: MessageOf<AuthProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'authenticate':
        reply.send({ user: this.#authenticate(message.authorization) });
        return;
      case 'authorize':
        reply.send(this.#authorize(message.user, message.access));
        return;
    }
  }

  #authenticate(authorization: string): User | null {
    if (authorization === '') return this.#options.anonymous ? ANONYMOUS : null;
    const token = BEARER.exec(authorization)?.[1];
    // Credentials of another scheme: nobody looked at them, so the request counts as one without.
    if (token === undefined) return this.#options.anonymous ? ANONYMOUS : null;
    return this.#users.get(tokenDigest(token)) ?? null;
  }

  #authorize(user: User, _access: AccessAttributes): { allowed: boolean; reason: string } {
    if (user.groups.includes(SUPERUSERS)) return { allowed: true, reason: '' };
    for (const mode of this.#options.modes) {
      if (mode === 'AlwaysAllow') return { allowed: true, reason: '' };
      if (mode === 'AlwaysDeny') return { allowed: false, reason: 'Everything is forbidden.' };
    }
    return { allowed: false, reason: '' };
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
  owns: 'the token table',
  mailboxMax: 20_000,
  stopOrder: 70,
  create: (_context, options) => new Auth(options),
};
