// JSON bodies: what JSON.parse takes is taken, unless it is too deep or names the prototype; nothing else is. Integers that doubles
// round are another test's (unit/api/exact-json.test.ts).

import { parseExact } from '../../../api/json/exact-json.ts';
import { prettyJson } from '../../../rendering/pretty-json.ts';
import { decodeBody } from '../../../transport/body.ts';
import type { Dice } from '../generate/dice.ts';
import { DOCUMENTS, KINDS } from '../generate/documents.ts';
import { deepJunk, junk, ODD_NAMES } from '../generate/junk.ts';
import { mutatedBytes, repetition } from '../generate/mutate-text.ts';
import type { Input } from '../input.ts';
import { accepted, requireSame, type Target, Violation } from '../target.ts';

const PIECES: readonly string[] = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '\\ud800', '\\u0000', '0', '-', '1e', '.', ' ', '\n', '\t'],
  ...[
    '{"a":',
    '[[',
    '"a":1,',
    '"__proto__":',
    '"\\u005f_proto__":{',
    'null',
    'true',
    'NaN',
    'Infinity',
    '//',
    '\ufeff',
  ],
  ...['1e999', '123456789012345678901234567890', '0'.repeat(40)],
];

function generate(dice: Dice): Input {
  if (dice.oneIn(4000)) {
    const charactersMax = dice.oneIn(4) ? 1_000_000 : 40_000;
    return { text: {}, body: Buffer.from(repetition(dice, PIECES, charactersMax)) };
  }
  let text: string;
  if (dice.oneIn(3)) text = DOCUMENTS.valid(dice.pick(KINDS), dice) ?? JSON.stringify(junk(dice));
  else text = JSON.stringify(dice.oneIn(20) ? deepJunk(dice, dice.below(1500)) : [junk(dice), junk(dice)]);
  if (dice.oneIn(10)) text = text.replace('"', `"${dice.pick(ODD_NAMES)}":1,"`);
  const bytes = Buffer.from(text);
  return { text: {}, body: dice.oneIn(4) ? bytes : mutatedBytes(bytes, dice, PIECES) };
}

function run({ body }: Input): void {
  const value = accepted(() => decodeBody(body, 'application/json'));
  if (value === undefined) return;
  const text = JSON.stringify(value);
  const doubles = JSON.stringify(wellFormed(JSON.parse(Buffer.from(body).toString('utf8'))));
  requireSame(JSON.stringify(wellFormed(value)), doubles, 'the value');
  if (hasProto(value)) throw new Violation('a member named __proto__ got through');
  const pretty = Buffer.from(prettyJson(Buffer.from(text))).toString('utf8');
  requireSame(JSON.stringify(parseExact(pretty)), text, 'the indented text');
}

/** With the replacement character for halves of characters, as UTF-8 has it, and integers as doubles. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.from(value).toString();
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [wellFormed(name), wellFormed(member)]));
}

function hasProto(value: unknown): boolean {
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    for (const member of Object.values(next)) waiting.push(member);
  }
  return false;
}

export const json: Target = { name: 'json', weight: 9, generate, run };
