import test from 'ava';
import { BodyError, DEPTH_MAX, decodeBody, decodeJson, decodeYaml } from '../../../transport/body.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a body is decoded by its content type, and is JSON without one', (t) => {
  for (const contentType of ['', 'application/json', 'Application/JSON; charset=utf-8']) {
    t.deepEqual(decodeBody(bytes('{"a":[1,null,"ü"]}'), contentType), { a: [1, null, 'ü'] });
  }
  t.deepEqual(decodeBody(bytes('a: yes\n'), 'application/yaml'), { a: true });
});

test('another content type is 415 and names the ones that are known', (t) => {
  for (const contentType of ['text/plain', 'constructor', 'application/merge-patch+json', 'nonsense']) {
    const error = t.throws(() => decodeBody(bytes('{}'), contentType), { instanceOf: BodyError });
    t.is(error?.code, 415);
    t.regex(error?.message ?? '', /: application\/json, application\/yaml$/);
  }
  const { message } = t.throws(() => decodeBody(bytes('{}'), 'text/plain', ['application/x']), {
    instanceOf: BodyError,
  })!;
  t.regex(message, /: application\/json, application\/yaml, application\/x$/);
});

const BAD_JSON: readonly (readonly [title: string, body: Uint8Array, message: RegExp])[] = [
  ['an empty body', bytes(''), /not valid JSON/],
  ['a cut body', bytes('{"a":'), /not valid JSON/],
  ['two values', bytes('{} {}'), /not valid JSON/],
  ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), /not valid UTF-8/],
  ['a byte order mark', bytes('\ufeff{}'), /not valid JSON/],
  ['a field named __proto__', bytes('{"a":[{"__proto__":{"x":1}}]}'), /__proto__/],
  ['a field named __proto__ by an escape', bytes('{"\\u005f_proto__":1}'), /__proto__/],
  ['too many levels of arrays', bytes('['.repeat(200_000) + ']'.repeat(200_000)), /deeper than/],
  ['too many levels of objects', bytes(`${'{"a":'.repeat(DEPTH_MAX + 1)}1${'}'.repeat(DEPTH_MAX + 1)}`), /deeper than/],
];

for (const [title, body, message] of BAD_JSON) {
  test(`JSON: ${title} is refused`, (t) => {
    const error = t.throws(() => decodeJson(body), { instanceOf: BodyError, message });
    t.is(error?.code, 400);
  });
}

test('JSON: brackets in texts are not nesting, and __proto__ in a value is a value', (t) => {
  const value = { script: `${'['.repeat(5000)}"\\`, doc: 'set __proto__', constructor: 'x' };
  t.deepEqual(decodeJson(bytes(JSON.stringify(value))), value);
});

test('JSON: an escaped quote does not end the text that it stands in', (t) => {
  for (const value of [{ script: `"${'['.repeat(5000)}` }, { script: `\\"${'{'.repeat(5000)}"` }])
    t.deepEqual(decodeJson(bytes(JSON.stringify(value))), value);
  // Behind an escaped backslash it does.
  t.throws(() => decodeJson(bytes(`["\\\\",${'['.repeat(2000)}${']'.repeat(2000)}]`)), { message: /deeper than/ });
});

test('JSON: escaped halves of characters become the replacement character, in names as well', (t) => {
  const text = '{"a":"\\udc00x\\uD83d","\\ud800":1,"pair":"\\ud83d\\ude00","kept":"\\\\udc00 \\\\\\udc00"}';
  t.deepEqual(decodeJson(bytes(text)), {
    a: '\ufffdx\ufffd',
    '\ufffd': 1,
    pair: '\u{1f600}',
    kept: '\\udc00 \\\ufffd',
  });
});

test('JSON: a long list beside an escape is looked through without a deep stack', (t) => {
  const list = new Array<number>(1_000_000).fill(0);
  const value = decodeJson(bytes(`{"a\\u0062":${JSON.stringify(list)}}`)) as { ab: number[] };
  t.is(value.ab.length, list.length);
  t.throws(() => decodeJson(bytes(`{"\\u005f_proto__":1,"a":${JSON.stringify(list)}}`)), { message: /__proto__/ });
});

test('YAML: half a character is no escape', (t) => {
  t.throws(() => decodeYaml(bytes('a: "\\ud800"')), { instanceOf: BodyError, message: /ud800 is no character/ });
  t.throws(() => decodeYaml(bytes('a: "\\U0000dfff"')), { instanceOf: BodyError });
});

test('JSON: nesting is counted wherever in memory a text begins, and whatever its brackets stand beside', (t) => {
  for (const [open, close, levelsBeside] of [
    ['[', ']', 0],
    ['{"a":', '}', 0],
    ['[1,[],', ']', 1],
    ['{"[{":[],"b":{},"a":', '}', 1],
  ] as const) {
    for (let offset = 0; offset < 8; offset++) {
      const nested = (levels: number) =>
        bytes(`${' '.repeat(offset)}${open.repeat(levels)}1${close.repeat(levels)}`).subarray(offset);
      t.notThrows(() => decodeJson(nested(DEPTH_MAX - levelsBeside)));
      t.throws(() => decodeJson(nested(DEPTH_MAX - levelsBeside + 1)), { message: /deeper than/ });
    }
  }
});

test('JSON: the deepest allowed nesting is read', (t) => {
  t.notThrows(() => decodeJson(bytes('['.repeat(DEPTH_MAX) + ']'.repeat(DEPTH_MAX))));
});

test('YAML: JSON is YAML', (t) => {
  t.deepEqual(decodeYaml(bytes('{"a": {"b": [1.50, "y", true]}}')), { a: { b: [1.5, 'y', true] } });
});

test('YAML: errors are 400 and name the line', (t) => {
  const error = t.throws(() => decodeYaml(bytes('a: 1\nb: [1')), { instanceOf: BodyError, message: /line 2/ });
  t.is(error?.code, 400);
  t.throws(() => decodeYaml(new Uint8Array([0xc3, 0x28])), { instanceOf: BodyError, message: /UTF-8/ });
});
