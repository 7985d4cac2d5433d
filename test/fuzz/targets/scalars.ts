// Texts of one value: quantities in both readings, durations, timestamps, schedules, addresses, names, pointers. What is
// taken has one canonical text, which is taken as well and stays as it is.

import { canonicalMicroTime, canonicalTime } from '../../../api/codec/timestamp.ts';
import { asTimeMs } from '../../../api/json/object-fields.ts';
import { nameProblems, qualifiedNameProblems, textProblems } from '../../../api/metadata/formats.ts';
import { parsePointer } from '../../../api/patch/json-pointer.ts';
import { scheduleProblem } from '../../../api/validation/cron-schedule.ts';
import { formatDuration, parseDuration } from '../../../values/duration.ts';
import { formatIp, formatIpRange, parseIp, parseIpRange } from '../../../values/ip.ts';
import { canonicalQuantity, compareQuantities, countOf, nanoOf } from '../../../values/quantity.ts';
import type { Dice } from '../generate/dice.ts';
import { ODD_TEXTS } from '../generate/junk.ts';
import { mutatedText, repetition } from '../generate/mutate-text.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { requireSame, type Target, Violation } from '../target.ts';

const SEEDS: readonly string[] = [
  '1.5Gi',
  '-100m',
  '.5',
  '5.',
  '+1e-3',
  '12E',
  '1E3',
  '9223372036854775807',
  '9223372036854775807Ei',
  '0.0000000001',
  '1h2m3.5s',
  '-1.5µs',
  '2562047h47m16.854775807s',
  '.1ns',
  '2021-04-08T12:00:00Z',
  '2021-04-08T12:00:00.123456Z',
  '2024-02-29T23:59:59+23:59',
  '0001-01-01T00:00:00Z',
  '*/5 0-23 1,15 jan-dec mon',
  '@every 1h',
  'TZ=UTC * * * * *',
  '10.0.0.1',
  '10.0.0.0/8',
  '2001:db8::1:0:0:1',
  '::ffff:10.0.0.1',
  'fe80::/10',
  '/a/~0~1/0/-',
  'a.b.c/d-e_f',
  'my-name',
];
const PIECES: readonly string[] = [
  ...'0123456789.+-eEKMGTPimunskh:TZ/*,~ ',
  '00',
  'Ki',
  '::',
  '*/',
  '-9',
  'µ',
  'ns',
  '@',
];
const LONG: readonly string[] = [
  '0',
  '1',
  '.',
  '1h',
  '1.',
  ':',
  '0:',
  '1,',
  '*/1,',
  '~1/',
  'a.',
  '-',
  '_',
  ' ',
  'a',
  '9e',
  '(a)',
];

function generate(dice: Dice): Input {
  if (dice.oneIn(3000)) return { text: { value: repetition(dice, LONG, 60_000) }, body: NO_BYTES };
  const seed = dice.pick(dice.oneIn(4) ? ODD_TEXTS : SEEDS);
  return { text: { value: dice.oneIn(6) ? seed : mutatedText(seed, dice, PIECES) }, body: NO_BYTES };
}

/** What a reader makes of its own canonical text. */
function requireStable<T>(value: string, canonical: (text: string) => T, what: string): void {
  const once = canonical(value);
  if (typeof once === 'string') requireSame(String(canonical(once)), once, `${what} of ${JSON.stringify(once)}`);
}

function durationText(text: string): string | undefined {
  const nanos = parseDuration(text);
  return nanos === undefined ? undefined : formatDuration(nanos);
}

function addressText(text: string): string | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
}

function rangeText(text: string): string | undefined {
  const range = parseIpRange(text);
  return range === undefined ? undefined : formatIpRange(range);
}

function run({ text: { value = '' } }: Input): void {
  requireStable(value, canonicalQuantity, 'the quantity');
  requireStable(value, durationText, 'the duration');
  requireStable(value, canonicalTime, 'the time');
  requireStable(value, canonicalMicroTime, 'the moment');
  requireStable(value, addressText, 'the address');
  requireStable(value, rangeText, 'the range');
  const stored = canonicalQuantity(value);
  if (stored !== undefined) {
    // What the codec stores is the same amount to everyone who reads it.
    requireSame(String(nanoOf(stored)), String(nanoOf(value)), `the amount of ${JSON.stringify(value)}`);
    if (compareQuantities(stored, value) !== 0) throw new Violation(`${stored} is not the amount of ${value}`);
    if (countOf(stored, 1) === undefined || countOf(stored, 1000) === undefined) {
      throw new Violation(`${stored} is stored but cannot be counted`);
    }
  }
  scheduleProblem(value);
  asTimeMs(value);
  parsePointer(value);
  qualifiedNameProblems(value);
  for (const format of ['dns1123Subdomain', 'dns1123Label', 'dns1035Label', 'pathSegment'] as const) {
    nameProblems(format, value);
    nameProblems(format, value, true);
  }
  textProblems('dns1123Label', value);
}

export const scalars: Target = { name: 'scalars', weight: 20, generate, run };
