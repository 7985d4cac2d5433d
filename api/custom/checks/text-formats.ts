// The formats of texts that schemas may ask for, as Kubernetes 1.21 knows them; dashes in their names make no difference. A format
// that is not in the table is let through, and so are the formats of numbers (`int32`, …), which 1.21 only publishes.
import { parseIp } from '../../../values/ip.ts';

type Test = (text: string) => boolean;

const matching =
  (pattern: RegExp): Test =>
  (text) =>
    pattern.test(text);

const DATE = /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/;
const HOSTNAME_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const LABEL_LENGTH_MAX = 63;
const LONE_LABEL = /^[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]*$/u;
const INNER_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]*[a-zA-Z0-9\p{S}\p{L}])?$/u;
const TOP_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u;
const HOSTNAME_LENGTH_MAX = 255;
const SSN_LENGTH = 11;

const isIPv4: Test = (text) => parseIp(text)?.family === 4;
const isIPv6: Test = (text) => parseIp(text)?.family === 6;

/** One name, with a dash behind its first character at most; or several, the last of letters alone. */
function isHostname(text: string): boolean {
  const labels = text.split('.');
  if (text.length > HOSTNAME_LENGTH_MAX || labels.some((label) => label.length > LABEL_LENGTH_MAX)) return false;
  const last = labels.pop()!;
  if (labels.length === 0) return LONE_LABEL.test(last);
  return TOP_LABEL.test(last) && labels.every((label) => INNER_LABEL.test(label));
}

function isMailHost(text: string): boolean {
  const labels = text.split('.');
  return text.length <= HOSTNAME_LENGTH_MAX && labels.every((label) => HOSTNAME_LABEL.test(label));
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}

const MAIL_ATOM = "[\\w!#$%&'*+\\-/=?^`{|}~\\u0080-\\uffff]+";
/** Words with a dot between two, or anything in quotes. */
const MAILBOX = new RegExp(`^(?:${MAIL_ATOM}(?:\\.${MAIL_ATOM})*|"(?:[^"\\\\]|\\\\.)+")$`);

/** An address, alone or in angle brackets behind whom it is of. */
function isEmail(text: string): boolean {
  const address = /^[^<>@]*<([^<>]*)>$/.exec(text)?.[1] ?? text;
  const at = address.lastIndexOf('@');
  return MAILBOX.test(address.slice(0, Math.max(at, 0))) && isMailHost(address.slice(at + 1));
}

/** A day that there is. */
function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [, year, month, day] = match;
  const time = new Date(`${year}-${month}-01T00:00:00Z`);
  time.setUTCDate(Number(day));
  return time.getUTCMonth() + 1 === Number(month);
}

function isDateTime(text: string): boolean {
  const [date = '', time, ...more] = text.toLowerCase().split('t');
  return time !== undefined && more.length === 0 && isDate(date) && TIME.test(time);
}

/** An absolute address, or an absolute path. */
function isUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what an address cannot have.
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith('/') || text === '*') return true;
  const [, rest] = /^[a-zA-Z][a-zA-Z0-9+.-]*:(.*)$/.exec(text) ?? [];
  if (rest === undefined) return false;
  return !rest.startsWith('//') || hasAuthority(rest);
}

function hasAuthority(rest: string): boolean {
  const [, authority = ''] = /^\/\/([^/?#]*)/.exec(rest) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return /^(?:\[[^\]\s]*\]|[^\s<>"[\]:]*)(?::\d*)?$/.test(host);
}

/** `1h30m`, or amounts with the names of units: `2 days`. */
const DURATION = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$|^[-+]?0$/;
/** From the last digit on: a number without a unit is passed over once. */
const AMOUNT = /\d\s*([A-Za-zµ]+)/g;
const UNITS = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const UNIT_BEGINNINGS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

function isDuration(text: string): boolean {
  if (DURATION.test(text)) return true;
  for (const [, unit = ''] of text.matchAll(AMOUNT)) {
    const lower = unit.toLowerCase();
    if (UNITS.has(lower) || UNIT_BEGINNINGS.some((beginning) => lower.startsWith(beginning))) return true;
  }
  return false;
}

const digits = (text: string): number[] => [...text].map((digit) => (digit === 'X' ? 10 : Number(digit)));
const withoutDashes = (text: string): string => text.replace(/[\s-]+/g, '');

function isIsbn10(text: string): boolean {
  const plain = withoutDashes(text);
  if (!/^\d{9}[\dX]$/.test(plain)) return false;
  return digits(plain).reduce((sum, digit, index) => sum + (index + 1) * digit, 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = withoutDashes(text);
  if (!/^\d{13}$/.test(plain)) return false;
  return digits(plain).reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * digit, 0) % 10 === 0;
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** A number of one of the issuers, with the right last digit. */
function isCreditCard(text: string): boolean {
  const plain = text.replace(/[^0-9]+/g, '');
  if (!CARD.test(plain)) return false;
  const sum = digits(plain)
    .reverse()
    .reduce((total, digit, index) => {
      const weighed = index % 2 === 0 ? digit : digit * 2;
      return total + (weighed > 9 ? weighed - 9 : weighed);
    }, 0);
  return sum % 10 === 0;
}

/** Six, eight or twenty octets, in pairs of digits, or in fours with dots. */
function isMac(text: string): boolean {
  const octets = text.replace(/[:.-]/g, '').length / 2;
  const isGrouped =
    /^[0-9a-f]{2}(?::[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{2}(?:-[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text);
  return isGrouped && (octets === 6 || octets === 8 || octets === 20);
}

/** @param third what the third group begins with. @param fourth the same of the fourth. */
const uuid = (third: string, fourth: string): Test =>
  matching(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}[0-9a-f]{3}-?${fourth}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'));

const COLOR = '\\s*(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\s*';

const FORMATS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['byte', matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['cidr', isCidr],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hexcolor', matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['mac', isMac],
  ['password', () => true],
  ['rgbcolor', matching(new RegExp(`^rgb\\(${COLOR},${COLOR},${COLOR}\\)$`))],
  ['ssn', (text) => text.length === SSN_LENGTH && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['uri', isUri],
  ['uuid', uuid('[0-9a-f]', '[0-9a-f]')],
  ['uuid3', uuid('3', '[0-9a-f]')],
  ['uuid4', uuid('4', '[89ab]')],
  ['uuid5', uuid('5', '[89ab]')],
]);

/** The test of a format; undefined for one that is not looked at. */
export function formatTest(format: string): Test | undefined {
  return FORMATS.get(format.replaceAll('-', ''));
}
