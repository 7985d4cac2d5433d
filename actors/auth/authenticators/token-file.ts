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

/** The entries of a file of passwords: as parseTokenFile, with a password where that has a token, which none may lack. */
export function parsePasswordFile(text: string, fileName: string): TokenEntry[] {
  return linesOf(text, fileName).map((line) => {
    if (line.secret === '') throw badLine(fileName, line.number, NEEDED);
    return { digest: passwordDigest(line.user.name, line.secret), user: line.user };
  });
}

/**
 * The entries of a static token file (SPEC.md "Static token file"): CSV lines of token, user name, uid and optionally
 * groups. A line without a token lets nobody in. Throws OrchError BadConfiguration naming the line.
 */
export function parseTokenFile(text: string, fileName: string): TokenEntry[] {
  return linesOf(text, fileName)
    .filter(({ secret }) => secret !== '')
    .map(({ secret, user }) => ({ digest: tokenDigest(secret), user }));
}

/** The numbers of its lines that let nobody in. Throws as parseTokenFile. */
export function linesWithoutToken(text: string, fileName: string): number[] {
  return linesOf(text, fileName).flatMap(({ secret, number }) => (secret === '' ? number : []));
}

interface Line {
  /** Where it begins, from 1 on: fields in quotes may go over several. */
  readonly number: number;
  /** A token or a password; empty: there is none. */
  readonly secret: string;
  readonly user: User;
}

const NEEDED = 'a line needs a token, a user name and a uid';

function linesOf(text: string, fileName: string): Line[] {
  return [...recordsOf(text)].map(({ number, fields }) => {
    if (fields === undefined) throw badLine(fileName, number, 'a double quote is out of place');
    const [secret = '', name = '', uid = '', groups = ''] = fields;
    if (fields.length < 3 || (secret !== '' && name === '')) throw badLine(fileName, number, NEEDED);
    const groupList = groups
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '');
    return { number, secret, user: { name, uid, groups: groupList, extra: {} } };
  });
}

function badLine(fileName: string, number: number, problem: string): OrchError {
  return new OrchError('BadConfiguration', `${fileName}:${number}: ${problem}`);
}

/** One field and what ends it. */
const CSV_FIELD = /[ \t]*(?:"([^"]*(?:""[^"]*)*)"[ \t\r]*|([^",\n]*))(,|\n|$)/y;

interface CsvRecord {
  /** Of the line it begins at. */
  readonly number: number;
  /** Undefined where a quote stands inside a field or is not closed: what follows cannot be read either. */
  readonly fields: readonly string[] | undefined;
}

/**
 * The records of a CSV file (RFC 4180) that are not blank: commas separate, double quotes hold commas and line breaks, two quotes are one.
 * Blanks around a field are not part of it.
 */
function* recordsOf(text: string): Iterable<CsvRecord> {
  let number = 1;
  for (let from = 0, to: number; from < text.length; from = to) {
    const fields: string[] = [];
    let end: string | undefined;
    CSV_FIELD.lastIndex = from;
    do {
      const match = CSV_FIELD.exec(text);
      if (match === null) {
        yield { number, fields: undefined };
        return;
      }
      const [, quoted, plain = ''] = match;
      fields.push(quoted?.replaceAll('""', '"').replaceAll('\r\n', '\n') ?? plain.trim());
      end = match[3];
    } while (end === ',');
    to = CSV_FIELD.lastIndex;
    const record = text.slice(from, to);
    if (record.trim() !== '') yield { number, fields };
    number += record.split('\n').length - 1;
  }
}
