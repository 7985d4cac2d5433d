import test from 'ava';
import { parseYaml } from '../../../../transport/yaml/read.ts';
import { yamlText } from '../../../../transport/yaml/write.ts';

const DEPTH_MAX = 300;

const VALUES: readonly (readonly [title: string, text: string, value: unknown])[] = [
  ['an empty text is null', '', null],
  ['a comment alone is null', '# nothing\n', null],
  ['the end of a document alone is null', '# nothing\n...\n', null],
  ['a directive, and a document of nothing', '%YAML 1.1\n---\n', null],
  ['a mapping', 'a: 1\nb:\n  c: x y\n', { a: 1, b: { c: 'x y' } }],
  ['a sequence as deep as its key', 'a:\n- b\n- c: d\n  e: f\ng: h\n', { a: ['b', { c: 'd', e: 'f' }], g: 'h' }],
  ['a sequence deeper than its key', 'a:\n  - b\n  - - c\n    - d\n', { a: ['b', ['c', 'd']] }],
  ['an entry on its own line', '-\n  a: b\n-\n', [{ a: 'b' }, null]],
  ['flow collections', 'a: {b: [1, "x", {c: }], d, e: f g}\n', { a: { b: [1, 'x', { c: null }], d: null, e: 'f g' } }],
  ['flow collections over lines', 'a: [\n  1, # one\n  2,\n]\nb: {\n}\n', { a: [1, 2], b: {} }],
  ['comments need a blank before them', 'a: b#c # d\n', { a: 'b#c' }],
  [
    'colons inside a text',
    'url: http://h:80/p\nimage: r/i:1@sha256:f\n',
    { url: 'http://h:80/p', image: 'r/i:1@sha256:f' },
  ],
  ['a plain text over lines', 'a: x\n  y\n\n  z\nb: 1\n', { a: 'x y\nz', b: 1 }],
  ['a quoted text over lines', 'a: "x\n  y\n\n  z\\\n  !"\n', { a: 'x y\nz!' }],
  ['escapes', "a: \"\\t\\x41\\u00e9\\U0001F600\\\\\\\"\"\nb: 'it''s'\n", { a: '\tAé😀\\"', b: "it's" }],
  ['a literal text', 'a: |\n  x\n   y\n\n  z\n\nb: |-\n  w\nc: |+\n  v\n\n', { a: 'x\n y\n\nz\n', b: 'w', c: 'v\n\n' }],
  ['a folded text', 'a: >\n  x\n  y\n\n  z\n   deep\n  w\n', { a: 'x y\nz\n deep\nw\n' }],
  ['a literal text that ends with the body', 'a: |\n  x\n  y', { a: 'x\ny' }],
  ['one of which all line ends are kept', 'a: |+\n  x', { a: 'x' }],
  ['a folded text that ends with the body', 'a: >\n  x\n  y', { a: 'x y' }],
  ['a literal text before a blank line without an end', 'a: |\n  x\n  ', { a: 'x\n' }],
  ['a literal text with its indentation given', 'a: |2\n    x\n   y\n', { a: '  x\n y\n' }],
  ['words for true and false', 'a: [yes, No, on, OFF, true, y]\n', { a: [true, false, true, false, true, true] }],
  ['quoted words are texts', 'a: ["yes", \'null\', "1"]\n', { a: ['yes', 'null', '1'] }],
  ['null', 'a: [~, null, Null]\nb:\n', { a: [null, null, null], b: null }],
  [
    'numbers',
    'a: [0644, 0o17, 0x1F, 0b11, -1, +2, 1_000, 1.5, 1e3, .5, 08]\n',
    {
      a: [420, 15, 31, 3, -1, 2, 1000, 1.5, 1000, 0.5, 8],
    },
  ],
  [
    'what only looks like a number',
    'a: [12:30:45, 2021-01-02, 1.2.3, 100m, -x, 0x, 1e]\n',
    {
      a: ['12:30:45', '2021-01-02', '1.2.3', '100m', '-x', '0x', '1e'],
    },
  ],
  ['keys become texts', '1: a\ntrue: b\n1.50: c\n"x y": d\n', { '1': 'a', true: 'b', '1.5': 'c', 'x y': 'd' }],
  ['the last of two equal keys holds', 'a: 1\na: 2\n', { a: 2 }],
  ['anchors and aliases', 'a: &x [1, {b: c}]\nd: *x\n', { a: [1, { b: 'c' }], d: [1, { b: 'c' }] }],
  [
    'merges give way to own entries',
    'a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n',
    { a: { k: 1, l: 2 }, b: { k: 3, l: 2 } },
  ],
  [
    'keys behind question marks, as libraries write long ones, with any value',
    'a:\n  ? k # long\n  : v\n  ? "q: r"\n  : x: v2\n    z: w\n  l: m\n  ? s\n  :\n  ? t\n  : - 1\n    - 2\n  ? u\n  : |\n    n\n',
    { a: { k: 'v', 'q: r': { x: 'v2', z: 'w' }, l: 'm', s: null, t: [1, 2], u: 'n\n' } },
  ],
  ['long ones over lines', '? x\n  y\n: 1\n? "z\n  w"\n: 2\n', { 'x y': 1, 'z w': 2 }],
  ['one in a flow mapping', 'a: {? k : v, ? "l" : 1, m: o}\n', { a: { k: 'v', l: 1, m: 'o' } }],
  ['one in an entry', '- b: 2\n  ? k\n  : 1\n- ? k\n  : 3\n', [{ b: 2, k: 1 }, { k: 3 }]],
  ['what only begins with a question mark', '?a: b\nc: ?d\n', { '?a': 'b', c: '?d' }],
  ['binary', 'a: !!binary aGVsbG8=\nb: !!binary |\n  aGVs\n  bG8=\n', { a: 'hello', b: 'hello' }],
  ['standard tags', 'a: !!str 1\nb: !!int "2"\nc: !!map {}\nd: !!str\n', { a: '1', b: 2, c: {}, d: '' }],
  ['document marks and directives', '%YAML 1.1\n---\na: b\n...\n', { a: 'b' }],
  ['line ends of other systems', 'a: b\r\nc:\r\n  - d\r\n', { a: 'b', c: ['d'] }],
  ['constructor is a key like any other', 'constructor: a\ntoString: b\n', { constructor: 'a', toString: 'b' }],
];

for (const [title, text, value] of VALUES) {
  test(`read: ${title}`, (t) => t.deepEqual(parseYaml(text, DEPTH_MAX), value));
}

const REFUSED: readonly (readonly [title: string, text: string, message: RegExp])[] = [
  ['a directive without a document', '%YAML 1.1\na: b\n', /line 2: a directive needs ---/],
  ['a directive at the end', '%TAG ! tag:example.com:\n', /a directive needs ---/],
  ['a block of text with two signs of one kind', 'a: |--\n  b\n', /cannot stand behind/],
  ['a block of text with two indentations', 'a: |22\n    b\n', /cannot stand behind/],
  ['an unknown directive', '%FOO bar\n---\na: b\n', /line 1: a directive is/],
  ['two documents', 'a: 1\n---\nb: 2\n', /line 3: only one document/],
  ['a tab as indentation', 'a:\n\tb: 1\n', /line 2: a tab/],
  ['a mapping in a value', 'a: b: c\n', /line 1/],
  ['a sequence in a value', 'a: - b\n', /line 1/],
  ['an indentation that fits nowhere', 'a:\n    b: 1\n  c: 2\n', /line 3/],
  ['a sequence after a mapping', 'a: b\n- c\n', /line 2/],
  ['an unclosed sequence', 'a: [1\n', /missing|closed/],
  ['an unclosed quote', 'a: "x\n', /does not end/],
  ['text behind a quote', 'a: "x" y\n', /line 1/],
  ['an unknown escape', 'a: "\\q"\n', /no escape/],
  ['an unknown anchor', 'a: *x\n', /not known/],
  ['an anchor inside itself', 'a: &x [*x]\n', /not known/],
  ['binary that is no base64', 'a: !!binary "a b"\n', /no base64/],
  ['a mapping that is said to be binary', 'a: !!binary {}\n', /no binary/],
  ["an application's tag", 'a: !thing b\n', /not supported/],
  ['a tag that does not fit', 'a: !!int x\n', /no int/],
  ['an infinite number', 'a: .inf\n', /JSON/],
  ['a key that is a collection', '[a]: b\n', /key/],
  ['an explicit key that is a collection', '? {a: b}\n: c\n', /question mark/],
  ['an explicit key that is a block collection', '? - a\n: c\n', /question mark/],
  ['an explicit key that is a mapping', '? a: b\n: c\n', /a key cannot stand here/],
  ['an explicit key without a value', '? a\nb: c\n', /question mark/],
  ['an explicit key whose colon stands elsewhere', 'x:\n  ? a\n : b\n', /question mark/],
  ['an explicit key behind a key', 'x: ? a\n', /unexpected/],
  ['an explicit key at the end', '? a', /question mark/],
  ['a null explicit key', '? ~\n: b\n', /null/],
  ['an explicit __proto__ key', '? __proto__\n: b\n', /__proto__/],
  ['deep nesting behind explicit keys', '? a\n: '.repeat(3) + '? '.repeat(100_000), /question mark/],
  ['a null key', '~: b\n', /null/],
  ['a __proto__ key', 'a: {"__proto__": {}}\n', /__proto__/],
  ['deep flow nesting', '['.repeat(100_000), /deeper/],
  ['deep block nesting', '- '.repeat(100_000), /deeper/],
  ['aliases that multiply', bomb(), /aliases add more/],
  ['aliases that nest', nest(), /deeper/],
];

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 10; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
  return lines.join('\n');
}

function nest(): string {
  const lines = [`a0: &a0 ${'['.repeat(200)}${']'.repeat(200)}`];
  for (let i = 1; i < 10; i++) lines.push(`a${i}: &a${i} ${'['.repeat(150)}*a${i - 1}${']'.repeat(150)}`);
  return lines.join('\n');
}

for (const [title, text, message] of REFUSED) {
  test(`read: ${title} is refused with its line`, (t) => {
    t.throws(() => parseYaml(text, DEPTH_MAX), { message: /^line \d+: / });
    t.throws(() => parseYaml(text, DEPTH_MAX), { message });
  });
}

test('read: an alias is a copy', (t) => {
  const value = parseYaml('a: &x {k: 1}\nb: *x\n', DEPTH_MAX) as { a: { k: number }; b: { k: number } };
  value.a.k = 2;
  t.is(value.b.k, 1);
});

test('write: keys are sorted and sequences as deep as their key', (t) => {
  const value = { kind: 'Pod', apiVersion: 'v1', spec: { items: [{ name: 'a', args: ['x', []] }, 'b'], empty: {} } };
  t.is(
    yamlText(value),
    [
      'apiVersion: v1',
      'kind: Pod',
      'spec:',
      '  empty: {}',
      '  items:',
      '  - args:',
      '    - x',
      '    - []',
      '    name: a',
      '  - b',
      '',
    ].join('\n'),
  );
});

const TEXTS: readonly string[] = [
  '',
  'a',
  'yes',
  'n',
  'null',
  '~',
  '1',
  '1.5',
  '0x10',
  '0644',
  '1e3',
  '12:30',
  '2001-01-01',
  '- x',
  'a: b',
  'a #b',
  '#x',
  'two\nlines',
  'two\nlines\n',
  'a\n\n\n',
  '\nlead',
  '  lead',
  'trail ',
  'tab\there',
  'é',
  '😀',
  '\u0001',
  '"q"',
  "it's",
  'x\n  y\n',
  'x \ny',
  '=',
  '<<',
  '.5',
  '-',
  '?',
  ':',
  '[x]',
  '{y}',
  '!t',
  '&a',
  '*b',
  '|',
  '>',
  '%x',
  '@y',
  '`z',
  'foo:',
  '---',
  '...',
  '\u2028',
  'x\r\ny',
  ' ',
  '\n',
  '$(x)',
  '.inf',
  '1_000',
  'x\ty\nz',
];

test('write: every text is read back as itself, as a value and as a key', (t) => {
  for (const text of TEXTS) {
    const value = { [text]: text, list: [text, [text, { [text]: [text] }]], nested: { deep: { [text]: text } } };
    t.deepEqual(parseYaml(yamlText(value), DEPTH_MAX), value, JSON.stringify(text));
    t.is(parseYaml(yamlText(text), DEPTH_MAX), text);
  }
});

test('write: characters that YAML does not allow, or reads as something else, are escaped', (t) => {
  const odd = [0x7f, 0x80, 0x85, 0x9f, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff].map((code) => String.fromCharCode(code));
  for (const character of odd)
    for (const text of [character, `a${character}b`, `a\nb${character}`, `"${character}`]) {
      const written = yamlText({ [text]: text });
      t.false(written.includes(character), JSON.stringify(written));
      t.deepEqual(parseYaml(written, DEPTH_MAX), { [text]: text });
    }
});

test('write: a text with a million empty lines in it is read back as itself', (t) => {
  // Ran for minutes when each of its line ends was tried as the first of those at the end.
  const text = `a${'\n'.repeat(1_000_000)}b\n\n`;
  t.is((parseYaml(yamlText({ text }), DEPTH_MAX) as { text: string }).text, text);
});
