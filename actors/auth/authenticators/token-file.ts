// Static tokens (SPEC.md "Static token file"): the lines of a CSV file, read at the start. Tokens are compared by their
// SHA-256 digests, so that the time a look-up takes tells nothing about them; the table has no token itself.
import { hash } from 'node:crypto';
import type { User } from '../../../api/authorization/attributes.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';

/** A bearer token's digest and whom it stands for. */
export interface TokenEntry {
  /** SHA-256 of the token, lower-case hexadecimal. */
  readonly digest: string;
  readonly user: User;
}

/** The digest under which a token is looked up. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The digest under which a name and password are looked up. */
export function passwordDigest(name: string, password: string): string {
  return tokenDigest(JSON.stringify([name, password]));
}

/** Knows the tokens of a table; of two entries for one token the last counts. */
export class StaticTokens implements TokenAuthenticator {
  readonly name = 'static tokens';
  readonly #owners: ReadonlyMap<string, TokenOwner>;

  constructor(entries: readonly TokenEntry[]) {
    this.#owners = new Map(
      entries.map(({ digest, user }) => [digest, { user: withAuthenticatedGroup(user), audiences: undefined }]),
    );
  }

  owner(_token: string, digest: string): TokenOwner | undefined {
    return this.#owners.get(digest);
  }
}

/** The entries of a file of passwords: as parseTokenFile, with a password where that has a token. */
export function parsePasswordFile(text: string, fileName: string): TokenEntry[] {
  return entriesOf(text, fileName, (password, name) => passwordDigest(name, password));
}

/**
 * The entries of a static token file (SPEC.md "Static token file"): CSV lines of token, user name, uid and optionally
 * groups. Throws OrchError BadConfiguration naming the line.
 */
export function parseTokenFile(text: string, fileName: string): TokenEntry[] {
  return entriesOf(text, fileName, tokenDigest);
}

function entriesOf(text: string, fileName: string, digestOf: (secret: string, name: string) => string): TokenEntry[] {
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
    entries.push({ digest: digestOf(token, name), user: { name, uid, groups: groupList, extra: {} } });
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
