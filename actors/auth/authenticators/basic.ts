// HTTP basic authentication (RFC 7617) by a file of names and passwords (SPEC.md "Principals and attributes" 5). Passwords
// are compared by digests of name and password together, so that the time a look-up takes tells nothing about them.
import type { User } from '../../../api/authorization/attributes.ts';
import type { Credentials } from '../protocol.ts';
import { type RefusedCredentials, type RequestAuthenticator, withAuthenticatedGroup } from './authenticator.ts';
import { passwordDigest, type TokenEntry } from './token-file.ts';

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Knows the lines of `--basic-auth-file`. */
export class BasicPasswords implements RequestAuthenticator {
  readonly #users: ReadonlyMap<string, User>;

  /** `entries`: as of a token file, with digests by `passwordDigest`. */
  constructor(entries: readonly TokenEntry[]) {
    this.#users = new Map(entries.map(({ digest, user }) => [digest, withAuthenticatedGroup(user)]));
  }

  user({ authorization }: Credentials): User | RefusedCredentials | undefined {
    const encoded = BASIC.exec(authorization)?.[1];
    if (encoded === undefined) return undefined;
    const text = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const user = colon < 0 ? undefined : this.#users.get(passwordDigest(text.slice(0, colon), text.slice(colon + 1)));
    return user ?? { error: 'the name or the password is wrong' };
  }
}
