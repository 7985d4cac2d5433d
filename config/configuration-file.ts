// Reading what an operator's file says: a plain value, from YAML or JSON, taken apart member by member. What is wrong is told with its
// path, in one line. Opens no file.

export type Members = Readonly<Record<string, unknown>>;

/** What is wrong with a file, as `resources[0].providers[1].aescbc.keys[0].secret: …`. */
export class ConfigurationError extends Error {
  /** Empty: the file itself. */
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.name = 'ConfigurationError';
    this.path = path;
    this.problem = problem;
  }
}

/** The path of a member, or of what is there, of what is at `path`. */
export function memberPath(path: string, name: string): string {
  return path === '' || name === '' ? path + name : `${path}.${name}`;
}

/** An object with no other members than those named. `what` the whole file must hold, for where it does not. */
export function membersOf(value: unknown, path: string, known: readonly string[], what = 'an object'): Members {
  const members = objectOf(value, path, what);
  const unknown = Object.keys(members).find((name) => !known.includes(name));
  if (unknown === undefined) return members;
  throw new ConfigurationError(memberPath(path, shownName(unknown)), 'is an unknown field');
}

const NAME = /^[\w.-]{1,40}/;

/** What may be the name of a field. Where no blank is behind the colon (`secret:…`), YAML takes the value for a part of the name. */
function shownName(name: string): string {
  const [beginning = ''] = NAME.exec(name) ?? [];
  return beginning === name ? name : `${beginning}…`;
}

/** An object whose members may have any name. */
export function objectOf(value: unknown, path: string, what = 'an object'): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ConfigurationError(path, path === '' ? `the file must hold ${what}` : 'must be an object');
}

/** A list; that it is left out, or null, says that it is empty. */
export function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ConfigurationError(path, 'must be a list');
  return value;
}

/** A list that must be there, and not be empty. */
export function filledListOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) throw new ConfigurationError(path, 'is required');
  const list = listOf(value, path);
  if (list.length === 0) throw new ConfigurationError(path, 'must not be empty');
  return list;
}

/** A text; empty where it is left out. */
export function textOf(value: unknown, path: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new ConfigurationError(path, 'must be a text');
}

/** Throws unless a member is exactly this text. */
export function requireText(members: Members, name: string, ...texts: readonly string[]): void {
  const value = members[name];
  if (texts.some((text) => value === text)) return;
  throw new ConfigurationError(
    name,
    `must be ${texts.join(' or ')}${value === undefined ? '' : `, not ${quoted(value)}`}`,
  );
}

function quoted(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? typeof value;
}
