// YAML bodies; and what is written as YAML means the same when it is read.
import { decodeBody } from '../../../transport/body.ts';
import { parseYaml } from '../../../transport/yaml/read.ts';
import { yamlText } from '../../../transport/yaml/write.ts';
import type { Dice } from '../generate/dice.ts';
import { DOCUMENTS, KINDS } from '../generate/documents.ts';
import { junk, ODD_TEXTS } from '../generate/junk.ts';
import { mutatedBytes, repetition } from '../generate/mutate-text.ts';
import type { Input } from '../input.ts';
import { accepted, requireSame, type Target, Violation } from '../target.ts';

const PIECES: readonly string[] = [
  ...[
    '- ',
    ': ',
    '? ',
    '&a ',
    '*a',
    '*a ',
    '<<: *a\n',
    '!!str ',
    '!!map ',
    '!x ',
    '!<tag:x> ',
    '| ',
    '|2-\n',
    '>+\n',
    '#',
  ],
  ...[
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '\\x41',
    '\\U0010ffff',
    '\t',
    '  ',
    '\n',
    '\r\n',
  ],
  ...[
    '- - ',
    'a: ',
    '[[',
    '{a: ',
    '&b [*a,*a]',
    '__proto__: 1\n',
    'constructor: ',
    '.inf',
    '0o17',
    '1_000',
    '12:30:45',
  ],
  ...['\u2028', '\ufeff', '\u0085', 'yes', '~', 'null', '=', '@', '`', '%', '""', "''", '|\n\n', '\n\n'],
];

const SEEDS: readonly string[] = [
  'a: &x [1, 2]\nb: *x\n<<: {c: 3}\n',
  'a: |\n  text\n   more\n\nb: >-\n  folded\n  lines\n',
  '- "q\\u00e9\\\n  x"\n- \'it\'\'s\'\n- {a: [b, c], "d": !!int 5}\n',
  '%YAML 1.1\n---\na:\n- b:\n    c: d # comment\n...\n',
  'base: &b {x: 1}\nl:\n  <<: [*b, *b]\n  y: 2\n',
];

function generate(dice: Dice): Input {
  if (dice.oneIn(3000)) {
    const charactersMax = dice.oneIn(4) ? 300_000 : 30_000;
    return { text: {}, body: Buffer.from(repetition(dice, PIECES, charactersMax)) };
  }
  let text = dice.pick(SEEDS);
  if (dice.oneIn(2)) {
    const valid = DOCUMENTS.valid(dice.pick(KINDS), dice);
    text = yamlText(valid === undefined ? [junk(dice), { a: dice.pick(ODD_TEXTS) }] : JSON.parse(valid));
  }
  const bytes = Buffer.from(text);
  return { text: {}, body: dice.oneIn(8) ? bytes : mutatedBytes(bytes, dice, PIECES) };
}

function run({ body }: Input): void {
  const value = accepted(() => decodeBody(body, 'application/yaml'));
  if (value === undefined) return;
  const text = JSON.stringify(value);
  if (text.length > 4 * body.length + 2_000_000) throw new Violation(`${body.length} bytes became ${text.length}`);
  if (text.includes('"__proto__":') && Object.hasOwn(Object(value), '__proto__')) throw new Violation('__proto__');
  requireSame(
    JSON.stringify(sorted(parseYaml(yamlText(value), 2000))),
    JSON.stringify(sorted(value)),
    'written and read',
  );
}

/** Written in the order of names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]);
}

export const yaml: Target = { name: 'yaml', weight: 6, generate, run };
