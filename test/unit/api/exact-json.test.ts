// Integers that doubles do not hold: read exactly, written exactly, and nothing else changed.
import test from 'ava';
import { parseSchema } from '../../../api/custom/definitions/schema-text.ts';
import { exactInteger, parseExact } from '../../../api/json/exact-json.ts';
import { writeExactIntegers } from '../../../runtime/exact-integers.ts';
import { decodeBody } from '../../../transport/body.ts';
import { parseYaml } from '../../../transport/yaml/read.ts';
import { yamlText } from '../../../transport/yaml/write.ts';

writeExactIntegers();

test('integers of int64 keep every digit, from a text to a text', (t) => {
  for (const text of [
    '9007199254740993',
    '-9007199254740993',
    '1152921504606846976',
    '9223372036854775807',
    '-9223372036854775808',
    '{"a":[1,9007199254740993,{"b":-1152921504606846977}],"c":"9007199254740993","d":1.5}',
    '{"\\"9007199254740993\\\\":[9007199254740993,"\\\\",9007199254740995]}',
  ]) {
    t.is(JSON.stringify(parseExact(text)), text);
  }
  t.is(parseExact('9007199254740993'), 9007199254740993n);
  t.is(JSON.stringify(parseExact(' [ 9007199254740993 , 2 ] ')), '[9007199254740993,2]');
});

test('they are written into any text, indented or not, and nothing else is taken for one', (t) => {
  const value = { before: '\u4e2d', n: 9007199254740993n, after: ['\u{1f600}', -9223372036854775808n, 'é'], 'k"': 1 };
  const text = '{"before":"中","n":9007199254740993,"after":["😀",-9223372036854775808,"é"],"k\\"":1}';
  t.is(JSON.stringify(value), text);
  t.is(JSON.stringify(value, null, 1).replaceAll(/\n */g, '').replaceAll('": ', '":'), text);
  t.is(JSON.stringify(5n), '5');
  t.is(JSON.stringify({ toJSON: () => JSON.parse(JSON.stringify([7n])) as unknown }), '[7]');
  t.is(JSON.stringify(['5', '-7', 'x5']), '["5","-7","x5"]');
  t.is(JSON.stringify(undefined) as unknown, undefined);
  t.is(JSON.stringify({ a: 1, b: 2n }, ['b']), '{"b":2}');
});

test('numbers that are none of int64, or lose nothing as doubles, stay doubles', (t) => {
  for (const text of [
    '9007199254740991',
    '9223372036854775808',
    '-9223372036854775809',
    '12345678901234567890123',
    '1234567890123456.5',
    '0.12345678901234567',
    '9007199254740993e0',
    '9007199254740993.0',
    '1e300',
    '0',
    '-0',
    '{"uid":"1234567890123456789","n":1}',
  ]) {
    t.deepEqual(parseExact(text), JSON.parse(text), text);
  }
  t.is(exactInteger('0x20000000000001'), undefined);
});

test('what is no JSON throws, long numbers or not', (t) => {
  for (const text of [
    '{"a":9007199254740993',
    '[9007199254740993,]',
    '09007199254740993',
    '"9007199254740993',
    '--9007199254740993',
  ])
    t.throws(() => parseExact(text), { instanceOf: SyntaxError }, text);
});

test('of two members of one name the last one holds, as with every number', (t) => {
  t.deepEqual(parseExact('{"a":9007199254740993,"a":"9007199254740995"}'), { a: '9007199254740995' });
  t.deepEqual(parseExact('{"a":"9007199254740993","a":9007199254740995}'), { a: 9007199254740995n });
  t.deepEqual(parseExact('{"a":{"b":9007199254740993},"a":1}'), { a: 1 });
  t.deepEqual(parseExact('{"a":9007199254740993,"a":1}'), { a: 1 });
  t.deepEqual(parseExact('{"a":1,"a":9007199254740993}'), { a: 9007199254740993n });
  // All of these are nearest to the same double.
  t.deepEqual(parseExact('{"a":9007199254740993,"a":9007199254740992}'), { a: 9007199254740992n });
  t.deepEqual(parseExact('{"a":10000000000000001,"a":1e16}'), { a: 1e16 });
  t.deepEqual(parseExact('{"a":9007199254740993,"a":9007199254740992.0}'), { a: 2 ** 53 });
  t.deepEqual(parseExact('{"a":[{"b":9007199254740993,"b":9007199254740992}]}'), { a: [{ b: 9007199254740992n }] });
});

test('every text is read as JSON.parse reads it, but for long integers', (t) => {
  let state = 7;
  const below = (count: number): number => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * count);
  };
  const digits = (): string => String(1 + below(9)) + Array.from({ length: below(19) }, () => below(10)).join('');
  const value = (depth: number): string => {
    const kind = below(depth > 0 ? 8 : 6);
    if (kind === 0) return digits();
    if (kind === 1) return `-${digits()}`;
    if (kind === 2) return `${digits()}.${digits()}`;
    if (kind === 3) return `${digits()}e${below(5)}`;
    if (kind === 4) return JSON.stringify(`"${digits()}\\ :[{${digits()}`);
    if (kind === 5) return ['true', 'false', 'null'][below(3)]!;
    const items = Array.from({ length: below(5) }, () => value(depth - 1));
    return kind === 6 ? `[${items}]` : `{${items.map((one, index) => `${JSON.stringify(`${index}\\"`)}: ${one}`)}}`;
  };
  const rounded = (part: unknown): unknown => {
    if (typeof part === 'bigint') return Number(part);
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(rounded);
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, rounded(one)]));
  };
  let exact = 0;
  for (let round = 0; round < 3000; round++) {
    const text = value(4);
    const read = parseExact(text);
    t.deepEqual(rounded(read), JSON.parse(text), text);
    const written = JSON.stringify(read);
    // A double that is written as an integer is read as one.
    t.is(JSON.stringify(parseExact(written)), written, text);
    exact += [...written.matchAll(/(?<![\d.])\d{17,18}(?![\d.e"])/g)].length;
  }
  t.true(exact > 100);
});

test('bodies keep them in JSON and in YAML', (t) => {
  const body = (text: string, type: string): unknown => decodeBody(Buffer.from(text), type);
  t.deepEqual(body('{"a":9007199254740993}', 'application/json'), { a: 9007199254740993n });
  t.deepEqual(body('{"a":9007199254740993,"b":"\\ud800"}', 'application/json'), { a: 9007199254740993n, b: '\ufffd' });
  t.deepEqual(body('a: 9007199254740993\nb: -9223372036854775808\nc: +9007199254740995\n', 'application/yaml'), {
    a: 9007199254740993n,
    b: -9223372036854775808n,
    c: 9007199254740995n,
  });
  t.deepEqual(parseYaml('[0x20000000000001, -0o400000000000000001, 0b11, !!int 9007199254740993, 010]', 9), [
    9007199254740993n,
    -9007199254740993n,
    3,
    9007199254740993n,
    8,
  ]);
});

test('what is written as YAML keeps them', (t) => {
  t.is(yamlText({ a: 9007199254740993n, b: [1n] }), 'a: 9007199254740993\nb:\n- 1\n');
});

test('a schema goes by doubles, and says values of objects exactly', (t) => {
  const text =
    '{"type":"object","properties":{"default":{"type":"integer","maximum":9007199254740993,"default":9007199254740993,' +
    '"enum":[9007199254740993,1]}},"allOf":[{"minimum":-9007199254740993}]}';
  t.deepEqual(parseSchema(text) as unknown, {
    type: 'object',
    properties: {
      default: {
        type: 'integer',
        maximum: 9007199254740992,
        default: 9007199254740993n,
        enum: [9007199254740993n, 1],
      },
    },
    allOf: [{ minimum: -9007199254740992 }],
  });
});
