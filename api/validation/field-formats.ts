// The formats that a row of a rule table can name, as functions from a value to what is wrong with it. Those of plain
// text are in formats.ts; here are the ones built on numbers, addresses, paths and several texts.
import { parseIp, type SpecialUse, specialUse } from '../../values/ip.ts';
import { pathSegmentProblems, qualifiedNameProblems, type TextFormat, textProblems } from '../metadata/formats.ts';

const NO_PROBLEMS: readonly string[] = Object.freeze([]);
const ID_MAX = 2_147_483_647;
const FILE_MODE_MAX = 0o777;

/** What is wrong with a value; the shared empty list when nothing is. */
type Problems<T> = (value: T) => readonly string[];

function between(min: number, max: number, detail = `must be between ${min} and ${max}, inclusive`): Problems<number> {
  const problem = [detail];
  return (value) => (value >= min && value <= max ? NO_PROBLEMS : problem);
}

export const portNumberProblems = between(1, 65_535);

/** What is wrong with a text as an address. */
export function ipProblems(value: string): readonly string[] {
  return parseIp(value) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : NO_PROBLEMS;
}

/** What is said of an address that nobody else can be reached at. */
const SPECIAL: Readonly<Record<SpecialUse, readonly string[]>> = {
  unspecified: ['may not be unspecified (0.0.0.0 or ::)'],
  loopback: ['may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  linkLocal: ['may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  linkLocalMulticast: ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/16)'],
  interfaceLocalMulticast: NO_PROBLEMS,
};

const NO_ADDRESS = ['must be a valid IP address'];

/** What is wrong with an address that others are to reach. */
export function nonSpecialIpProblems(value: string): readonly string[] {
  const ip = parseIp(value);
  if (ip === undefined) return NO_ADDRESS;
  const use = specialUse(ip);
  return use === undefined ? NO_PROBLEMS : SPECIAL[use];
}

function portNumberOrNameProblems(value: string | number): readonly string[] {
  return typeof value === 'number' ? portNumberProblems(value) : textProblems('portName', value);
}

function intOrPercentProblems(value: string | number): readonly string[] {
  if (typeof value === 'string') {
    return textProblems('percent', value).length === 0
      ? NO_PROBLEMS
      : ["a valid percent string is digits and a '%' (e.g. '1%', or '93%', regex used for validation is '[0-9]+%')"];
  }
  return value >= 0 ? NO_PROBLEMS : ['must be greater than or equal to 0'];
}

/** A path below something: it does not begin at the root and does not climb. */
export function relativePathProblems(value: string): readonly string[] {
  const climbing = climbingPathProblems(value);
  return value.startsWith('/') ? ['must be a relative path', ...climbing] : climbing;
}

/** A path that stays below where it begins. */
export function climbingPathProblems(value: string): readonly string[] {
  return value.split('/').includes('..') ? ["must not contain '..'"] : NO_PROBLEMS;
}

/** A path below something whose first segment is not one of the reserved names that begin with two dots. */
function projectedPathProblems(value: string): readonly string[] {
  const problems = relativePathProblems(value);
  // Of what climbs it has been said.
  return value.startsWith('..') && !value.startsWith('../') ? [...problems, "must not start with '..'"] : problems;
}

/** A DNS name of at least `labelsMin` labels. */
function qualifiedDomainProblems(value: string, labelsMin: number): readonly string[] {
  const problems = textProblems('dns1123Subdomain', value);
  if (problems.length > 0) return problems;
  return value.split('.').length < labelsMin
    ? [`must be a domain name of at least ${labelsMin} parts, separated by dots`]
    : NO_PROBLEMS;
}

/** A DNS name of at least two labels; one dot may follow. */
export function fqdnProblems(value: string): readonly string[] {
  const name = value.endsWith('.') ? value.slice(0, -1) : value;
  const problems = qualifiedDomainProblems(name, 2);
  if (problems.length > 0) return problems;
  for (const label of name.split('.')) {
    const labelProblems = textProblems('dns1123Label', label);
    if (labelProblems.length > 0) return labelProblems;
  }
  return NO_PROBLEMS;
}

const DOMAIN_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function domainPrefixedPathProblems(value: string): readonly string[] {
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) return ['must be a domain, "/" and a path, (e.g. example.com/path)'];
  const problems = textProblems('dns1123Subdomain', value.slice(0, slash));
  if (problems.length > 0) return problems.map((problem) => `domain ${problem}`);
  return DOMAIN_PATH.test(value.slice(slash + 1)) ? NO_PROBLEMS : ['path may have no characters that URLs lack'];
}

export const CSI_DRIVER_LENGTH_MAX = 63;

/** What is wrong with the name of a CSI driver, but for its length. */
export function csiDriverProblems(value: string): readonly string[] {
  return textProblems('dns1123Subdomain', value.toLowerCase());
}

const SYSCTL_PART = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?';
const SYSCTL_NAME = new RegExp(`^${SYSCTL_PART}(?:\\.${SYSCTL_PART})*$`);
/** Characters of a sysctl's name. */
export const SYSCTL_LENGTH_MAX = 253;

/** What is wrong with the name of a sysctl. */
export function sysctlProblems(value: string): readonly string[] {
  if (value.length > SYSCTL_LENGTH_MAX) return [`must have at most ${SYSCTL_LENGTH_MAX} characters`];
  return SYSCTL_NAME.test(value) ? NO_PROBLEMS : ["must be lower-case names of letters, digits, '-' and '_' with dots"];
}

/** A DNS name that "*." may stand before, and that is no address. */
function hostPatternProblems(value: string): readonly string[] {
  if (value.includes('*')) return textProblems('wildcardSubdomain', value);
  return textProblems('dns1123Subdomain', value);
}

/** What is wrong with a DNS name after which one dot may follow. */
export function dottedSubdomainProblems(value: string): readonly string[] {
  return textProblems('dns1123Subdomain', value.endsWith('.') && value !== '.' ? value.slice(0, -1) : value);
}

function absolutePathProblems(value: string): readonly string[] {
  return value.startsWith('/') ? NO_PROBLEMS : ['must be an absolute path'];
}

function text(format: TextFormat): Problems<string> {
  return (value) => textProblems(format, value);
}

const FORMATS = {
  dns1123Label: text('dns1123Label'),
  dns1123Subdomain: text('dns1123Subdomain'),
  dns1035Label: text('dns1035Label'),
  labelValue: text('labelValue'),
  configMapKey: text('configMapKey'),
  envVarName: text('envVarName'),
  portName: text('portName'),
  conditionReason: text('conditionReason'),
  qualifiedName: qualifiedNameProblems,
  /** A qualified name but for the case of its letters. */
  qualifiedNameAnyCase: (value: string) => qualifiedNameProblems(value.toLowerCase()),
  dns1035LabelAnyCase: (value: string) => textProblems('dns1035Label', value.toLowerCase()),
  pathSegment: (value: string) => pathSegmentProblems(value),
  ip: ipProblems,
  nonSpecialIp: (value: string) => (parseIp(value) === undefined ? ipProblems(value) : nonSpecialIpProblems(value)),
  portNumber: portNumberProblems,
  portNumberOrName: portNumberOrNameProblems,
  intOrPercent: intOrPercentProblems,
  id: between(0, ID_MAX),
  fileMode: between(0, FILE_MODE_MAX, 'must be a number between 0 and 0777 (octal), both inclusive'),
  relativePath: relativePathProblems,
  projectedPath: projectedPathProblems,
  noClimbing: climbingPathProblems,
  absolutePath: absolutePathProblems,
  hostPattern: hostPatternProblems,
  dottedSubdomain: dottedSubdomainProblems,
  domainPrefixedPath: domainPrefixedPathProblems,
  csiDriverName: csiDriverProblems,
  sysctlName: sysctlProblems,
} as const;

/** A format that a row can name. */
export type FieldFormat = keyof typeof FORMATS;

export const FIELD_FORMATS = Object.keys(FORMATS) as readonly FieldFormat[];

/** What is wrong with a value as a format; the caller has a value of the type that the format is for. */
export function formatProblems(format: FieldFormat): (value: unknown) => readonly string[] {
  return FORMATS[format] as Problems<unknown>;
}
