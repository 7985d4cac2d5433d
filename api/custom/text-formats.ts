// The formats of texts that schemas may ask for. A format that is not in the table is let through, as Kubernetes does.
import { parseIp } from '../../values/ip.ts';

type Test = (text: string) => boolean;

const matching =
  (pattern: RegExp): Test =>
  (text) =>
    pattern.test(text);

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const HOSTNAME_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const HOSTNAME_LENGTH_MAX = 255;
const DURATION = /^(?:\d+(?:\.\d+)?\s*[a-zµ]+\s*)+$/i;

const isIPv4: Test = (text) => parseIp(text)?.family === 4;
const isIPv6: Test = (text) => parseIp(text)?.family === 6;

function isHostname(text: string): boolean {
  const labels = text.split('.');
  return text.length <= HOSTNAME_LENGTH_MAX && labels.every((label) => HOSTNAME_LABEL.test(label));
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && !/\s/.test(text) && isHostname(text.slice(at + 1));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

const FORMATS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['byte', isBase64],
  ['cidr', isCidr],
  ['date', matching(DATE)],
  ['date-time', matching(DATE_TIME)],
  ['datetime', matching(DATE_TIME)],
  ['duration', matching(DURATION)],
  ['email', isEmail],
  ['hexcolor', matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['mac', matching(/^(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/)],
  ['uri', (text) => URL.canParse(text)],
  ['uuid', matching(UUID)],
  ['uuid3', matching(UUID)],
  ['uuid4', matching(UUID)],
  ['uuid5', matching(UUID)],
]);

/** The test of a format; undefined for one that is not looked at. */
export function formatTest(format: string): Test | undefined {
  return FORMATS.get(format);
}
