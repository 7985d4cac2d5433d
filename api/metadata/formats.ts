// The text formats that names, labels and other fields must have, compiled once, and what to say of a value that has
// not. Only single values are looked at here: which field needs which format is for the validators to know.

/** What is said of a value that is as it should be: nothing. Shared. */
const NO_PROBLEMS: readonly string[] = Object.freeze([]);

/** One format. A value may be too long, and not match, and break further rules. */
interface Format {
  readonly pattern: RegExp;
  readonly lengthMax: number;
  /** Said of a value that does not match: what one would be, by the name users know it by. Examples and pattern follow. */
  readonly rule: string;
  /** Rules that a pattern does not say: the complaints. */
  readonly further?: (value: string) => readonly string[];
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

/** Patterns must not backtrack far: no text may match one in two ways. Those without a length limit are character runs. */
function format(
  source: string,
  lengthMax: number,
  rule: string,
  examples: readonly string[],
  further?: Format['further'],
): Format {
  const like = examples.length === 0 ? '' : `e.g. ${examples.map((example) => `'${example}'`).join(', or ')}, `;
  const said = `${rule} (${like}regex used for validation is '${source}')`;
  const pattern = new RegExp(`^(?:${source})$`);
  return { pattern, lengthMax, rule: said, ...(further === undefined ? undefined : { further }) };
}

function notDots(value: string): readonly string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : NO_PROBLEMS;
}

const PORT_NAME_RULES: readonly (readonly [broken: RegExp, complaint: string])[] = [
  [/^[^a-z]*$/, 'must have at least one letter (a-z)'],
  [/--/, "must not have two '-' in a row"],
  [/^-|-$/, "must not begin or end with '-'"],
];

const FORMATS = {
  dns1123Label: format(
    LABEL,
    63,
    "a lowercase RFC 1123 label has only lower-case letters, digits and '-', and a letter or digit at both ends",
    ['my-name', '123-abc'],
  ),
  dns1123Subdomain: format(
    SUBDOMAIN,
    253,
    "a lowercase RFC 1123 subdomain has only lower-case letters, digits, '-' and '.', and a letter or digit around each '.'",
    ['example.com'],
  ),
  dns1035Label: format(
    '[a-z]([-a-z0-9]*[a-z0-9])?',
    63,
    "a DNS-1035 label has only lower-case letters, digits and '-', first a letter and last a letter or digit",
    ['my-name', 'abc-123'],
  ),
  wildcardSubdomain: format(
    `\\*\\.${SUBDOMAIN}`,
    253,
    "a wildcard RFC 1123 subdomain is '*.' and then a lowercase RFC 1123 subdomain",
    ['*.example.com'],
  ),
  labelValue: format(
    `(${NAME_PART})?`,
    63,
    "a valid label is empty, or has only letters, digits, '-', '_' and '.', and a letter or digit at both ends",
    ['MyValue', 'my_value', '12345'],
  ),
  configMapKey: format(
    '[-._a-zA-Z0-9]+',
    253,
    "a valid config key has only letters, digits, '-', '_' and '.'",
    ['key.name', 'KEY_NAME', 'key-name'],
    notDots,
  ),
  envVarName: format(
    '[-._a-zA-Z][-._a-zA-Z0-9]*',
    Number.MAX_SAFE_INTEGER,
    "a valid environment variable name has only letters, digits, '-', '_' and '.', not a digit first",
    ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
    notDots,
  ),
  portName: format('[-a-z0-9]+', 15, "a port name has only lower-case letters, digits and '-'", [], (value) => {
    const broken = PORT_NAME_RULES.filter(([pattern]) => pattern.test(value));
    return broken.length === 0 ? NO_PROBLEMS : broken.map(([, complaint]) => complaint);
  }),
  percent: format('[0-9]+%', 64, "a valid percentage is digits and then '%'", ['1%', '93%']),
  httpHeaderName: format(
    '[-A-Za-z0-9]+',
    Number.MAX_SAFE_INTEGER,
    "a valid HTTP header has only letters, digits and '-'",
    ['X-Header-Name'],
  ),
  conditionReason: format(
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
    1024,
    "a condition reason has only letters, digits, '_', ',' and ':', first a letter and last none of ',' and ':'",
    ['my_name', 'MY_NAME', 'ReasonA:ReasonB'],
  ),
} as const satisfies Readonly<Record<string, Format>>;

const QUALIFIED_NAME_PART = format(
  NAME_PART,
  63,
  "has only letters, digits, '-', '_' and '.', and a letter or digit at both ends",
  ['MyName', 'my.name', '123-abc'],
);
/** Nearly every key that arrives is right and short, and one test says so. */
const PLAIN_QUALIFIED_NAME = new RegExp(
  `^(?:(?=[^/]{1,253}/)${SUBDOMAIN}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`,
);

const NOT_QUALIFIED =
  "a qualified name is a name, or a DNS subdomain, one '/' and a name (e.g. 'MyName', or 'example.com/MyName')";

/** A format that the table above describes. */
export type TextFormat = keyof typeof FORMATS;

/** The formats that object names come in (ResourceType.traits.nameFormat). */
export type NameFormat = 'dns1123Subdomain' | 'dns1123Label' | 'dns1035Label' | 'pathSegment';

/** What is wrong with `value` as `name`; empty when nothing is. */
export function textProblems(name: TextFormat, value: string): readonly string[] {
  return problemsOf(FORMATS[name], value);
}

/** Texts longer than this are not looked through: that they are too long is enough. */
const LOOKED_THROUGH_MAX = 4096;

function problemsOf({ pattern, lengthMax, rule, further }: Format, value: string): readonly string[] {
  if (value.length <= lengthMax && further === undefined && pattern.test(value)) return NO_PROBLEMS;
  const problems: string[] = [];
  if (value.length > lengthMax) problems.push(`must have at most ${lengthMax} characters`);
  if (value.length > lengthMax && value.length > LOOKED_THROUGH_MAX) return problems;
  if (!pattern.test(value)) problems.push(rule);
  problems.push(...(further?.(value) ?? NO_PROBLEMS));
  return problems.length === 0 ? NO_PROBLEMS : problems;
}

/**
 * What is wrong with `value` as a qualified name: `name` or `prefix/name`, the prefix a DNS subdomain. Label and
 * annotation keys, finalizers, taint keys and condition types are such names.
 */
export function qualifiedNameProblems(value: string): readonly string[] {
  if (PLAIN_QUALIFIED_NAME.test(value)) return NO_PROBLEMS;
  const parts = value.split('/', 3);
  if (parts.length > 2) return [NOT_QUALIFIED];
  const name = parts.at(-1)!;
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') problems.push('prefix part must not be empty');
    else problems.push(...textProblems('dns1123Subdomain', prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must not be empty');
  problems.push(...problemsOf(QUALIFIED_NAME_PART, name).map((problem) => `name part ${problem}`));
  return problems.length === 0 ? NO_PROBLEMS : problems;
}

/** What is wrong with `value` as one segment of a path; as the beginning of one where `isPrefix`. */
export function pathSegmentProblems(value: string, isPrefix = false): readonly string[] {
  if (!isPrefix && (value === '.' || value === '..')) return [`may not be '${value}'`];
  if (value.includes('/')) return ["may not contain '/'"];
  return value.includes('%') ? ["may not contain '%'"] : NO_PROBLEMS;
}

/**
 * What is wrong with `value` as an object's name. With `isPrefix` it is a generateName: what follows is letters and
 * digits, so a "-" may stand at its end.
 */
export function nameProblems(name: NameFormat, value: string, isPrefix = false): readonly string[] {
  if (name === 'pathSegment') return pathSegmentProblems(value, isPrefix);
  const masked = isPrefix && value.length > 1 && value.endsWith('-') ? `${value.slice(0, -1)}a` : value;
  return textProblems(name, masked);
}
