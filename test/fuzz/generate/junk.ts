// What breaks programs: scalars at the edges of their types, names of prototypes, texts that mean something to one of the
// readers. The dictionary of all generators.
import type { Dice } from './dice.ts';

/** Names that mean something to the language, to JSON patches, or to the API. */
export const ODD_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toJSON',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'length',
  '0',
  '-1',
  '-',
  '',
  ' ',
  '.',
  '..',
  'a/b',
  'a~1b',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'f:a',
  'k:{"name":"a"}',
  'é',
  '\u0000',
  '\ud800',
  'metadata',
  'kind',
  'apiVersion',
  'name',
];

export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  'a',
  'A',
  '-',
  '.',
  '/',
  '..',
  '*',
  'null',
  'true',
  '0',
  '-1',
  '1',
  '1e9',
  '65536',
  '9007199254740993',
  '99999999999999999999999999999999',
  '0.1',
  '100m',
  '1Gi',
  '1Ei',
  '-5Ki',
  '1e-300',
  '80%',
  '-1%',
  '999999999999%',
  '10.0.0.1',
  '10.0.0.0/24',
  '::1',
  '::ffff:1.2.3.4',
  'fe80::1%eth0',
  '2021-04-08T12:00:00Z',
  '9999-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00Z',
  '1h2m3s',
  '-1ns',
  '*/5 * * * *',
  'http',
  'TCP',
  'https://[::1]:443/x?y#z',
  'a.b/c',
  'web=yes,!b',
  'aGk=',
  '====',
  '\u0000',
  '\ud800',
  '\udc00x',
  '\u2028',
  'é'.repeat(40),
  '\ufeff',
  'x'.repeat(64),
  'x'.repeat(254),
  `${'a.'.repeat(126)}b`,
  '%00',
  '%zz',
  '$(A)',
  '(a+)+$',
  ...ODD_NAMES,
];

export const ODD_NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  2,
  0.5,
  -0.1,
  100,
  255,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  2 ** 64,
  1e21,
  1e300,
  5e-324,
];

/** Any JSON value, seldom a plausible one. Shallow. */
export function junk(dice: Dice): unknown {
  switch (dice.below(10)) {
    case 0:
      return null;
    case 1:
      return dice.chance(0.5);
    case 2:
    case 3:
      return dice.pick(ODD_NUMBERS);
    case 4:
      return [];
    case 5:
      return {};
    case 6:
      return [junk(dice)];
    case 7:
      return withName({}, dice.pick(ODD_NAMES), dice.pick(ODD_TEXTS));
    default:
      return dice.pick(ODD_TEXTS);
  }
}

/** Sets a member, `__proto__` as well, as JSON.parse would. */
export function withName(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

/** A value that nests. */
export function deepJunk(dice: Dice, levels: number): unknown {
  let value: unknown = junk(dice);
  const name = dice.pick(ODD_NAMES);
  const kind = dice.below(3);
  for (let level = 0; level < levels; level++) {
    value = kind === 0 || (kind === 2 && level % 2 === 0) ? [value] : withName({}, name, value);
  }
  return value;
}
