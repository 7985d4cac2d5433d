// Columns of custom types: paths as definitions bring them, many or few, through objects of any shape and size.

import { isJsonObject } from '../../../api/json/json-value.ts';
import { customTable } from '../../../api/table/custom-table.ts';
import { decodeJson } from '../../../transport/body.ts';
import type { Dice } from '../generate/dice.ts';
import { deepJunk, junk, ODD_NAMES } from '../generate/junk.ts';
import { mutatedText } from '../generate/mutate-text.ts';
import { grownValue } from '../generate/mutate-value.ts';
import type { Input } from '../input.ts';
import { accepted, type Target, Violation } from '../target.ts';

const STEPS = [
  '.spec',
  '.a',
  '.*',
  '..',
  '[*]',
  '[0]',
  '[-1]',
  '[0,0,0]',
  '[:2]',
  '[1::3]',
  "['a','a']",
  '[?(@.a==1)]',
];
const TYPES = ['string', 'integer', 'number', 'boolean', 'date'];
const CELLS = new Set(['string', 'number', 'boolean', 'bigint']);

function generate(dice: Dice): Input {
  const steps = Array.from({ length: 1 + dice.small(8) }, () =>
    dice.oneIn(8) ? `.${dice.pick(ODD_NAMES)}` : dice.pick(STEPS),
  );
  const path = dice.oneIn(5) ? mutatedText(steps.join(''), dice, STEPS) : steps.join('');
  const spec = { a: [{ a: 1 }, junk(dice)], b: dice.oneIn(50) ? deepJunk(dice, dice.below(300)) : junk(dice) };
  const value = dice.oneIn(200) ? grownValue({ spec }, dice) : { spec };
  const count = dice.oneIn(200) ? 1 + dice.below(3000) : 1 + dice.below(4);
  return { text: { path, type: dice.pick(TYPES), count: String(count) }, body: Buffer.from(JSON.stringify(value)) };
}

function run({ text, body }: Input): void {
  const value = accepted(() => decodeJson(body));
  if (!isJsonObject(value)) return;
  const { path = '', type = '' } = text;
  const column = { name: 'C', type, format: '', description: '', priority: 0, jsonPath: path };
  const columns = Array.from({ length: Math.min(Number(text.count) || 1, 3000) }, () => column);
  for (const cell of customTable(columns).cells({ ...value, metadata: { name: 'a' } }, { nowMs: 0 }))
    if (cell !== null && !CELLS.has(typeof cell)) throw new Violation(`a cell is of type ${typeof cell}`);
}

export const columns: Target = { name: 'columns', weight: 1, generate, run };
