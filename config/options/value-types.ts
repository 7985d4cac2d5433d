// The types a value on the command line can have: how each is written, read and repeated. A new type of option is a new
// row here. Bounds, allowed values and defaults belong to the option's own row, not to its type.

import { formatDurationMs, parseDurationMs } from '../../values/duration.ts';
import { type IpRange, parseIp, parseIpRange } from '../../values/ip.ts';
import { UsageError } from '../usage-error.ts';

/** An inclusive range of ports. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** One type of value. */
export interface ValueType<Value> {
  /** What stands for the value in a help text. */
  readonly placeholder: string;
  /** What an option of this type is when its row names no default. */
  readonly blank: string;
  /** True: occurrences add up. False: the last occurrence wins. */
  readonly repeatable: boolean;
  /** The value of the texts given, in order and at least one. A text that cannot be one is a UsageError naming why. */
  parse(texts: readonly string[]): Value;
}

/** Go's spellings of a boolean. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** True or false in any of the spellings `true True TRUE t T 1` and their opposites; undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  return BOOLEANS.get(text);
}

function scalar<Value>(
  placeholder: string,
  blank: string,
  complaint: string,
  read: (text: string) => Value | undefined,
): ValueType<Value> {
  const parse = (texts: readonly string[]): Value => {
    const value = read(texts.at(-1)!);
    if (value === undefined) throw new UsageError(complaint);
    return value;
  };
  return { placeholder, blank, repeatable: false, parse };
}

/** The elements of comma-separated texts, in order. An empty text has none; an empty element is a mistake. */
function elements(texts: readonly string[]): readonly string[] {
  const all = texts.flatMap((text) => (text === '' ? [] : text.split(',').map((element) => element.trim())));
  if (all.includes('')) throw new UsageError('an element of the list is empty');
  return all;
}

function entries(texts: readonly string[]): readonly (readonly [key: string, value: string | undefined])[] {
  return elements(texts).map((element) => {
    const equalsAt = element.indexOf('=');
    const key = equalsAt < 0 ? element : element.slice(0, equalsAt).trim();
    if (key === '') throw new UsageError(`${JSON.stringify(element)} has no key`);
    return [key, equalsAt < 0 ? undefined : element.slice(equalsAt + 1).trim()];
  });
}

function parseTextMap(texts: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [key, value] of entries(texts)) {
    if (value === undefined) throw new UsageError(`${JSON.stringify(key)} has no value; write key=value`);
    map.set(key, value);
  }
  return map;
}

function parseSwitches(texts: readonly string[]): ReadonlyMap<string, boolean> {
  const map = new Map<string, boolean>();
  for (const [key, value] of entries(texts)) {
    const enabled = value === undefined || value === '' ? true : parseBoolean(value);
    if (enabled === undefined) throw new UsageError(`${key} must be true or false`);
    map.set(key, enabled);
  }
  return map;
}

function parseInteger(text: string): number | undefined {
  const value = /^[+-]?(?:0|[1-9]\d*)$/.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

function parseIpRanges(texts: readonly string[]): readonly IpRange[] {
  return elements(texts.slice(-1)).map((text) => {
    const range = parseIpRange(text);
    if (range === undefined) throw new UsageError(`${JSON.stringify(text)} is not a CIDR such as 10.0.0.0/24`);
    return range;
  });
}

/** `30000-32767`, `30000+2767` (first and how many more) or one port. */
function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const first = Number(match[1]);
  const second = Number(match[3] ?? match[1]);
  const last = match[2] === '+' ? first + second : second;
  return first >= 1 && last <= 65535 && first <= last ? { first, last } : undefined;
}

/** Every type of option value, by the name the option tables use. */
export const VALUE_TYPES = {
  string: scalar('text', '', '', (text) => text),
  path: scalar('path', '', 'the path holds a zero byte', (text) => (text.includes('\0') ? undefined : text)),
  ip: scalar('address', '', 'not an IPv4 or IPv6 address', (text) =>
    text === '' || parseIp(text) !== undefined ? text : undefined,
  ),
  int: scalar('int', '0', 'not a whole number', parseInteger),
  float: scalar('number', '0', 'not a number', (text) =>
    /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
      ? Number(text)
      : undefined,
  ),
  bool: scalar('', 'false', 'must be true or false', parseBoolean),
  duration: scalar('duration', formatDurationMs(0), 'not a duration such as 1m30s, 250ms or 0', parseDurationMs),
  list: { placeholder: 'a,b,...', blank: '', repeatable: true, parse: elements },
  /** One element an occurrence: for values that hold commas of their own. */
  sequence: {
    placeholder: 'text',
    blank: '',
    repeatable: true,
    parse: (texts) => texts.filter((text) => text !== ''),
  } satisfies ValueType<readonly string[]>,
  map: { placeholder: 'key=value,...', blank: '', repeatable: true, parse: parseTextMap },
  /** Keys switched on or off; a key alone means on. */
  switches: { placeholder: 'key[=bool],...', blank: '', repeatable: true, parse: parseSwitches },
  /** Several texts joined to one, left to the reader that knows the names: feature gates. */
  settings: { placeholder: 'Name=bool,...', blank: '', repeatable: true, parse: (texts) => elements(texts).join(',') },
  ipRanges: { placeholder: 'CIDR,...', blank: '', repeatable: false, parse: parseIpRanges },
  portRange: scalar('first-last', '', 'not a range of ports such as 30000-32767, within 1 and 65535', parsePortRange),
  /** Not a value: the program does this instead of starting. */
  action: scalar('', 'false', 'must be true or false', parseBoolean),
} as const satisfies Readonly<Record<string, ValueType<unknown>>>;

export type ValueTypeName = keyof typeof VALUE_TYPES;
