// What `--experimental-logging-sanitization` does to a line: one that holds a value of a sensitive kind, however deep, is replaced
// by a word about it, as the original does by the tags of its types. Here the names of members tell the kind.

/** The kinds, by the names of members that hold them: in lower case, without what parts their words. */
const KINDS: Readonly<Record<string, string>> = {
  token: 'token',
  accesstoken: 'token',
  bearertoken: 'token',
  idtoken: 'token',
  refreshtoken: 'token',
  authorization: 'token',
  cookie: 'token',
  password: 'password',
  secret: 'password',
  clientsecret: 'password',
  privatekey: 'security-key',
  keypem: 'security-key',
};
const DEPTH_MAX = 8;

/** Whether what has that name is of a sensitive kind. */
export function isSensitive(name: string): boolean {
  return kindOf(name) !== undefined;
}

function kindOf(name: string): string | undefined {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase();
  return Object.hasOwn(KINDS, plain) ? KINDS[plain] : undefined;
}

/** The arguments of a log call, or those of the line that stands for it. */
export function sanitized<Args extends readonly unknown[]>(args: Args): Args {
  const found = new Set<string>();
  for (const arg of args) collect(arg, 0, found);
  if (found.size === 0) return args;
  return [{ datapolicy: [...found] }, 'Log message has been redacted.'] as unknown as Args;
}

function collect(value: unknown, depth: number, into: Set<string>): void {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const kind = kindOf(name);
    if (kind !== undefined && member !== '' && member !== undefined && member !== null) into.add(kind);
    else collect(member, depth + 1, into);
  }
}
