// JSON patches (RFC 6902) and merge patches (RFC 7386): what they make, what they refuse, and that the documents given
// are never changed.
import test from 'ava';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { type JsonObject, NESTING_MAX } from '../../../api/json/json-value.ts';
import { applyPatch, PATCH_MEDIA_TYPES } from '../../../api/patch/apply-patch.ts';
import { applyJsonPatch, PatchNotApplicable } from '../../../api/patch/json-patch.ts';
import { parsePointer } from '../../../api/patch/json-pointer.ts';
import { applyMergePatch } from '../../../api/patch/merge-patch.ts';
import { isStatusError } from '../../../api/status/status.ts';

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

function codeOf(action: () => unknown): number | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.status.code;
  }
}

interface Case {
  readonly does: string;
  readonly document: JsonObject;
  readonly patch: unknown;
  /** The result, or the code of the refusal. */
  readonly expected: JsonObject | number;
}

const JSON_PATCHES: readonly Case[] = [
  { does: 'adds a member', document: { a: 1 }, patch: [{ op: 'add', path: '/b', value: 2 }], expected: { a: 1, b: 2 } },
  {
    does: 'adds over a member',
    document: { a: 1 },
    patch: [{ op: 'add', path: '/a', value: null }],
    expected: { a: null },
  },
  {
    does: 'inserts into a list',
    document: { a: [1, 3] },
    patch: [{ op: 'add', path: '/a/1', value: 2 }],
    expected: { a: [1, 2, 3] },
  },
  {
    does: 'inserts at the end by index',
    document: { a: [1] },
    patch: [{ op: 'add', path: '/a/1', value: 2 }],
    expected: { a: [1, 2] },
  },
  {
    does: 'appends',
    document: { a: [1] },
    patch: [{ op: 'add', path: '/a/-', value: [2] }],
    expected: { a: [1, [2]] },
  },
  {
    does: 'refuses an insert beyond the end',
    document: { a: [1] },
    patch: [{ op: 'add', path: '/a/2', value: 2 }],
    expected: 422,
  },
  {
    does: 'reads an index with zeros or a plus in front',
    document: { a: [1, 2] },
    patch: [
      { op: 'replace', path: '/a/01', value: 3 },
      { op: 'replace', path: '/a/+0', value: 4 },
    ],
    expected: { a: [4, 3] },
  },
  {
    does: 'counts from the end behind a minus',
    document: { a: [1, { b: 2 }] },
    patch: [
      { op: 'replace', path: '/a/-1/b', value: 3 },
      { op: 'remove', path: '/a/-2' },
    ],
    expected: { a: [{ b: 3 }] },
  },
  {
    does: 'inserts where it counts to from the end',
    document: { a: [1, 3] },
    patch: [
      { op: 'add', path: '/a/-1', value: 4 },
      { op: 'add', path: '/a/-3', value: 2 },
      { op: 'add', path: '/a/-5', value: 0 },
    ],
    expected: { a: [0, 1, 2, 3, 4] },
  },
  {
    does: 'takes minus zero for the first',
    document: { a: [1, 2] },
    patch: [{ op: 'remove', path: '/a/-0' }],
    expected: { a: [2] },
  },
  {
    does: 'refuses an insert before the beginning',
    document: { a: [1] },
    patch: [{ op: 'add', path: '/a/-3', value: 2 }],
    expected: 422,
  },
  {
    does: 'refuses to remove what is before the beginning',
    document: { a: [1] },
    patch: [{ op: 'remove', path: '/a/-2' }],
    expected: 422,
  },
  {
    does: 'refuses an exponent as index',
    document: { a: [1, 2] },
    patch: [{ op: 'remove', path: '/a/1e0' }],
    expected: 422,
  },
  { does: 'refuses a missing parent', document: {}, patch: [{ op: 'add', path: '/a/b', value: 1 }], expected: 422 },
  {
    does: 'refuses a scalar parent',
    document: { a: 'x' },
    patch: [{ op: 'add', path: '/a/0', value: 1 }],
    expected: 422,
  },
  {
    does: 'replaces the whole document',
    document: { a: 1 },
    patch: [{ op: 'replace', path: '', value: { b: 2 } }],
    expected: { b: 2 },
  },
  {
    does: 'refuses a result that is no object',
    document: { a: 1 },
    patch: [{ op: 'add', path: '', value: [1] }],
    expected: 422,
  },
  { does: 'removes a member', document: { a: 1, b: 2 }, patch: [{ op: 'remove', path: '/a' }], expected: { b: 2 } },
  {
    does: 'removes an element',
    document: { a: [1, 2, 3] },
    patch: [{ op: 'remove', path: '/a/1' }],
    expected: { a: [1, 3] },
  },
  {
    does: 'refuses to remove what is absent',
    document: { a: 1 },
    patch: [{ op: 'remove', path: '/b' }],
    expected: 422,
  },
  {
    does: 'refuses to remove the place after the end',
    document: { a: [1] },
    patch: [{ op: 'remove', path: '/a/-' }],
    expected: 422,
  },
  { does: 'refuses to remove everything', document: { a: 1 }, patch: [{ op: 'remove', path: '' }], expected: 422 },
  {
    does: 'replaces a member',
    document: { a: { b: 1 } },
    patch: [{ op: 'replace', path: '/a/b', value: 2 }],
    expected: { a: { b: 2 } },
  },
  {
    does: 'replaces a member that is absent',
    document: {},
    patch: [{ op: 'replace', path: '/a', value: 2 }],
    expected: { a: 2 },
  },
  {
    does: 'refuses to replace an element that is absent',
    document: { a: [1] },
    patch: [{ op: 'replace', path: '/a/1', value: 2 }],
    expected: 422,
  },
  {
    does: 'refuses to replace a member of what is absent',
    document: {},
    patch: [{ op: 'replace', path: '/a/b', value: 2 }],
    expected: 422,
  },
  {
    does: 'moves',
    document: { a: { b: 1 }, c: {} },
    patch: [{ op: 'move', from: '/a/b', path: '/c/d' }],
    expected: { a: {}, c: { d: 1 } },
  },
  {
    does: 'moves within a list',
    document: { a: [1, 2, 3] },
    patch: [{ op: 'move', from: '/a/0', path: '/a/2' }],
    expected: { a: [2, 3, 1] },
  },
  {
    does: 'moves onto itself',
    document: { a: 1 },
    patch: [{ op: 'move', from: '/a', path: '/a' }],
    expected: { a: 1 },
  },
  {
    does: 'refuses to move into itself',
    document: { a: { b: {} } },
    patch: [{ op: 'move', from: '/a', path: '/a/b/c' }],
    expected: 422,
  },
  {
    does: 'refuses to move into what is there in itself',
    document: { a: { b: {} } },
    patch: [{ op: 'move', from: '/a', path: '/a/b' }],
    expected: 422,
  },
  {
    does: 'refuses to move an element into itself, though another takes its place',
    document: { a: [{}, {}] },
    patch: [{ op: 'move', from: '/a/0', path: '/a/0/b' }],
    expected: 422,
  },
  {
    does: 'refuses to move what is absent onto itself',
    document: { a: 1 },
    patch: [{ op: 'move', from: '/b', path: '/b' }],
    expected: 422,
  },
  {
    does: 'copies an absent member as null',
    document: { a: 1 },
    patch: [{ op: 'copy', from: '/b', path: '/c' }],
    expected: { a: 1, c: null },
  },
  {
    does: 'refuses to copy a member of what is absent',
    document: { a: 1 },
    patch: [{ op: 'copy', from: '/b/c', path: '/c' }],
    expected: 422,
  },
  {
    does: 'refuses to copy an absent element',
    document: { a: [1] },
    patch: [{ op: 'copy', from: '/a/1', path: '/c' }],
    expected: 422,
  },
  {
    does: 'copies',
    document: { a: [1] },
    patch: [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/-', value: 2 },
    ],
    expected: { a: [1], b: [1, 2] },
  },
  {
    does: 'keeps copies apart after earlier edits',
    document: { a: [1] },
    patch: [
      { op: 'add', path: '/a/-', value: 2 },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/a/-', value: 3 },
    ],
    expected: { a: [1, 2, 3], b: [1, 2] },
  },
  {
    does: 'passes a test without regard to key order',
    document: { a: { x: 1, y: [2] } },
    patch: [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
    expected: { a: { x: 1, y: [2] } },
  },
  {
    does: 'fails a test of another value',
    document: { a: 1 },
    patch: [{ op: 'test', path: '/a', value: '1' }],
    expected: 422,
  },
  {
    does: 'fails a test of an absent member',
    document: {},
    patch: [{ op: 'test', path: '/a', value: 1 }],
    expected: 422,
  },
  {
    does: 'passes a test for null of an absent member',
    document: {},
    patch: [{ op: 'test', path: '/a', value: null }],
    expected: {},
  },
  {
    does: 'fails a test for null of the whole',
    document: {},
    patch: [{ op: 'test', path: '', value: null }],
    expected: 422,
  },
  {
    does: 'fails a test for null of a present member',
    document: { a: 0 },
    patch: [{ op: 'test', path: '/a', value: null }],
    expected: 422,
  },
  {
    does: 'fails a test for null below an absent member',
    document: {},
    patch: [{ op: 'test', path: '/a/b', value: null }],
    expected: 422,
  },
  {
    does: 'reads escapes',
    document: { 'a/b': 1, 'm~n': 2 },
    patch: [
      { op: 'remove', path: '/a~1b' },
      { op: 'replace', path: '/m~0n', value: 3 },
    ],
    expected: { 'm~n': 3 },
  },
  { does: 'reads ~01 as ~1', document: { '~1': 1 }, patch: [{ op: 'remove', path: '/~01' }], expected: {} },
  {
    does: 'takes an unknown escape as it stands',
    document: { '~2': 1 },
    patch: [{ op: 'remove', path: '/~2' }],
    expected: {},
  },
  {
    does: 'takes the empty key',
    document: { '': 1 },
    patch: [{ op: 'replace', path: '/', value: 2 }],
    expected: { '': 2 },
  },
  { does: 'refuses a pointer without slash', document: { a: 1 }, patch: [{ op: 'remove', path: 'a' }], expected: 422 },
  { does: 'refuses an unknown operation', document: {}, patch: [{ op: 'toString', path: '/a' }], expected: 422 },
  { does: 'takes a missing value for null', document: {}, patch: [{ op: 'add', path: '/a' }], expected: { a: null } },
  { does: 'refuses an operation that is null', document: {}, patch: [null], expected: 422 },
  { does: 'does nothing where it is null', document: { a: 1 }, patch: null, expected: { a: 1 } },
  { does: 'refuses a missing from', document: { a: 1 }, patch: [{ op: 'move', path: '/b' }], expected: 422 },
  {
    does: 'refuses members of the prototype',
    document: { a: {} },
    patch: [{ op: 'replace', path: '/a/constructor/name', value: 1 }],
    expected: 422,
  },
  {
    does: 'refuses the prototype key',
    document: { a: {} },
    patch: [{ op: 'add', path: '/a/__proto__/x', value: 1 }],
    expected: 422,
  },
  {
    does: 'refuses what is below a text, as one has elements in JavaScript',
    document: { a: 'text' },
    patch: [{ op: 'test', path: '/a/0', value: 't' }],
    expected: 422,
  },
  {
    does: 'refuses what is below null',
    document: { a: null },
    patch: [{ op: 'add', path: '/a/x', value: 1 }],
    expected: 422,
  },
  {
    does: 'refuses to look below null',
    document: { a: null },
    patch: [{ op: 'copy', from: '/a/x/y', path: '/b' }],
    expected: 422,
  },
  { does: 'refuses a patch that is no list', document: {}, patch: { op: 'add', path: '/a', value: 1 }, expected: 400 },
  { does: 'refuses an operation that is no object', document: {}, patch: ['add'], expected: 400 },
  { does: 'does nothing for an empty patch', document: { a: 1 }, patch: [], expected: { a: 1 } },
];

const FAILED_OPERATIONS: readonly (readonly [operation: object, detail: string])[] = [
  [
    { op: 'add', path: '/metadata/annotations/x', value: '' },
    'add operation does not apply: doc is missing path: "/metadata/annotations/x": missing value',
  ],
  [{ op: 'remove', path: '/b' }, 'remove operation does not apply: doc is missing path: "/b": missing value'],
  [
    { op: 'move', from: '/b', path: '/c' },
    'move operation does not apply: doc is missing from path: "/b" or path: "/c": missing value',
  ],
  [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  [{ op: 'put', path: '/a' }, 'Unexpected kind: put'],
  [{ op: ['add'], path: '/a', value: 1 }, 'Unexpected kind: unknown'],
];
for (const [operation, detail] of FAILED_OPERATIONS) {
  test(`whoever answers with a patch can be told: ${detail}`, (t) => {
    const document = { a: 1, metadata: {} };
    const patch = [{ op: 'test', path: '/a', value: 1 }, operation];
    const error = t.throws(() => applyJsonPatch(document, patch), { instanceOf: PatchNotApplicable });
    t.is(error?.detail, detail);
  });
}

for (const { does, document, patch, expected } of JSON_PATCHES) {
  test(`a JSON patch ${does}`, (t) => {
    frozen(document);
    frozen(patch);
    if (typeof expected === 'number')
      t.is(
        codeOf(() => applyJsonPatch(document, patch)),
        expected,
      );
    else t.deepEqual(applyJsonPatch(document, patch), expected as Record<string, unknown>);
  });
}

test('what is no patch, and no operation of one, is told in the words that clients know', (t) => {
  for (const [patch, kind, type] of [
    [{}, 'object', 'Patch'],
    ['x', 'string', 'Patch'],
    [1, 'number', 'Patch'],
    [true, 'bool', 'Patch'],
    [[{ op: 'nope' }, []], 'array', 'Operation'],
    [[10_000n], 'number', 'Operation'],
  ] as const) {
    const message = `json: cannot unmarshal ${kind} into Go value of type jsonpatch.${type}`;
    t.throws(() => applyJsonPatch({ a: 1 }, patch), { message });
  }
});

const MERGE_PATCHES: readonly Case[] = [
  { does: 'sets a member', document: { a: 'b' }, patch: { a: 'c' }, expected: { a: 'c' } },
  { does: 'adds a member', document: { a: 'b' }, patch: { b: 'c' }, expected: { a: 'b', b: 'c' } },
  { does: 'removes a member', document: { a: 'b', b: 'c' }, patch: { a: null }, expected: { b: 'c' } },
  { does: 'replaces a list', document: { a: ['b'] }, patch: { a: 'c' }, expected: { a: 'c' } },
  { does: 'replaces by a list', document: { a: 'c' }, patch: { a: ['b'] }, expected: { a: ['b'] } },
  {
    does: 'merges objects',
    document: { a: { b: 'c' } },
    patch: { a: { b: 'd', c: null } },
    expected: { a: { b: 'd' } },
  },
  {
    does: 'takes a list without the nulls in it, unlike in RFC 7386',
    document: { a: [{ b: 'c' }] },
    patch: { a: [{ c: null, d: [1, null, { e: null }] }, null], f: [null] },
    expected: { a: [{ d: [1, {}] }], f: [] },
  },
  {
    does: 'keeps the nulls of a list that it puts in place of an object',
    document: { a: {} },
    patch: { a: [{ c: null }] },
    expected: { a: [{ c: null }] },
  },
  {
    does: 'drops nulls of what it adds',
    document: {},
    patch: { a: { bb: { ccc: null } } },
    expected: { a: { bb: {} } },
  },
  {
    does: 'replaces a scalar by an object',
    document: { a: 1 },
    patch: { a: { b: null, c: 2 } },
    expected: { a: { c: 2 } },
  },
  {
    does: 'ignores a null for what is absent',
    document: { e: null },
    patch: { a: 1, z: null },
    expected: { e: null, a: 1 },
  },
  {
    does: 'does not merge into members of the prototype',
    document: {},
    patch: { constructor: { a: 1 } },
    expected: { constructor: { a: 1 } },
  },
  { does: 'refuses a list', document: {}, patch: [], expected: 400 },
  { does: 'refuses null', document: {}, patch: null, expected: 400 },
  { does: 'refuses the prototype key', document: {}, patch: JSON.parse('{"a":{"__proto__":{"x":1}}}'), expected: 400 },
];

for (const { does, document, patch, expected } of MERGE_PATCHES) {
  test(`a merge patch ${does}`, (t) => {
    frozen(document);
    frozen(patch);
    if (typeof expected === 'number')
      t.is(
        codeOf(() => applyMergePatch(document, patch)),
        expected,
      );
    else t.deepEqual(applyMergePatch(document, patch), expected as Record<string, unknown>);
  });
}

test('what a merge patch adds is the result’s own, also where nothing of it is left', (t) => {
  const [one, other] = [1, 2].map(() => applyMergePatch({}, frozen({ a: { b: null } })).a as Record<string, unknown>);
  one!.c = 1;
  t.deepEqual([one, other], [{ c: 1 }, {}]);
});

test('what a patch does not name is shared with the result', (t) => {
  const document = frozen({ spec: { a: 1 }, status: { big: [1, 2] } });
  t.is(applyMergePatch(document, { spec: { a: 2 } }).status, document.status);
  t.is(applyJsonPatch(document, [{ op: 'replace', path: '/spec/a', value: 2 }]).status, document.status);
  t.is(applyMergePatch(document, { spec: { a: 1 } }), document);
});

test('more operations than the limit are refused as too large', (t) => {
  const operation = { op: 'test', path: '/a', value: 1 };
  t.is(
    codeOf(() => applyJsonPatch({ a: 1 }, new Array(10_001).fill(operation))),
    413,
  );
  t.throws(() => applyJsonPatch({ a: 1 }, new Array(10_001).fill(operation)), {
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  });
  t.deepEqual(applyJsonPatch({ a: 1 }, new Array(10_000).fill(operation)), { a: 1 });
});

test('copies beyond the limit in total are refused as too large', (t) => {
  const document = { text: 'x'.repeat(1_000_000), list: [] };
  const copy = { op: 'copy', from: '/text', path: '/list/-' };
  t.is(
    codeOf(() => applyJsonPatch(document, [copy, copy, copy, copy])),
    413,
  );
  t.is((applyJsonPatch(document, [copy, copy]).list as unknown[]).length, 2);
  // Names of members count as well.
  const named = { text: { ['x'.repeat(1_000_000)]: 1 }, list: [] };
  t.is(
    codeOf(() => applyJsonPatch(named, [copy, copy, copy, copy])),
    413,
  );
});

test('copying a document into itself over and over is refused, not followed', (t) => {
  const patch = Array.from({ length: 10_000 }, () => ({ op: 'copy', from: '', path: '/a' }));
  t.is(
    codeOf(() => applyJsonPatch({ a: {} }, patch)),
    413,
  );
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

test('a JSON patch nests as deep as an object may be, and no deeper', (t) => {
  const below = (levels: number): JsonObject => ({ x: nested(levels) });
  const patches: readonly (readonly [does: string, document: JsonObject, patch: (levels: number) => JsonObject])[] = [
    ['add', {}, (levels) => ({ op: 'add', path: '/a', value: nested(levels) })],
    ['replace', { a: 1 }, (levels) => ({ op: 'replace', path: '/a', value: nested(levels) })],
  ];
  for (const [does, document, patch] of patches) {
    const refusal = (levels: number) => codeOf(() => applyJsonPatch(document, [patch(levels)]));
    t.deepEqual([refusal(NESTING_MAX - 1), refusal(NESTING_MAX)], [undefined, 413], does);
  }
  const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
  const ofLists = (levels: number) =>
    codeOf(() => applyJsonPatch({ a: {}, x: lists(levels) }, [{ op: 'copy', from: '/x', path: '/a/b' }]));
  t.deepEqual([ofLists(NESTING_MAX - 2), ofLists(NESTING_MAX - 1)], [undefined, 413], 'copy of lists');
  const besideFlat = (levels: number) =>
    codeOf(() => applyJsonPatch({ a: {}, x: { y: nested(levels), z: 1 } }, [{ op: 'copy', from: '/x', path: '/a/b' }]));
  t.deepEqual(
    [besideFlat(NESTING_MAX - 3), besideFlat(NESTING_MAX - 2)],
    [undefined, 413],
    'copy of the deepest of several',
  );
  for (const op of ['copy', 'move']) {
    const patch = [{ op, from: '/x', path: '/a/b' }];
    const refusal = (levels: number) => codeOf(() => applyJsonPatch({ a: {}, ...below(levels) }, patch));
    t.deepEqual([refusal(NESTING_MAX - 2), refusal(NESTING_MAX - 1)], [undefined, 413], op);
  }
});

test('a patch that nests the object too deeply is refused', (t) => {
  t.is(
    codeOf(() => applyJsonPatch({}, [{ op: 'add', path: '/x', value: nested(20_000) }])),
    413,
  );
  t.is(
    codeOf(() => applyJsonPatch({ x: 1 }, [{ op: 'replace', path: '/x', value: nested(20_000) }])),
    413,
  );
  t.is(
    codeOf(() => applyMergePatch({}, nested(20_000))),
    413,
  );
  t.is(
    codeOf(() => applyMergePatch({}, { a: [nested(20_000)] })),
    413,
  );
  const document = { x: nested(900) as JsonObject, y: nested(900) as JsonObject };
  const into = `/y${'/a'.repeat(899)}`;
  t.is(
    codeOf(() => applyJsonPatch(document, [{ op: 'move', from: '/x', path: `${into}/a` }])),
    413,
  );
  t.is(
    codeOf(() => applyMergePatch({}, nested(900))),
    undefined,
  );
});

test('shifting the elements of a huge list again and again ends with a refusal', (t) => {
  const patch = Array.from({ length: 10_000 }, () => ({ op: 'remove', path: '/a/0' }));
  t.is(
    codeOf(() => applyJsonPatch({ a: new Array(100_000).fill(0) }, patch)),
    413,
  );
  const inserts = patch.map(({ path }) => ({ op: 'add', path, value: 0 }));
  t.is(
    codeOf(() => applyJsonPatch({ a: new Array(100_000).fill(0) }, inserts)),
    413,
  );
});

test('a media type that is not served answers 415, the others apply', (t) => {
  t.is(
    codeOf(() => applyPatch('text/plain', {}, {}, undefined)),
    415,
  );
  t.deepEqual(PATCH_MEDIA_TYPES, [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
  ]);
  t.deepEqual(applyPatch('application/merge-patch+json', { a: 1 }, { b: 2 }, undefined), { a: 1, b: 2 });
  t.deepEqual(applyPatch('application/json-patch+json', { a: 1 }, [{ op: 'remove', path: '/a' }], undefined), {});
});

test('pointers are parsed to their segments', (t) => {
  t.deepEqual(parsePointer(''), []);
  t.deepEqual(parsePointer('/a//b'), ['a', '', 'b']);
  t.deepEqual(parsePointer('/a~/~2'), ['a~', '~2']);
  t.is(parsePointer('a'), undefined);
});

/** A small generator of numbers in [0, bound), repeatable. */
function seeded(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

function randomValue(pick: (bound: number) => number, levels: number): unknown {
  const kind = pick(levels > 0 ? 6 : 4);
  if (kind === 0) return pick(3);
  if (kind === 1) return `text-${pick(3)}`;
  if (kind === 2) return pick(2) === 0;
  if (kind === 3) return 'x/y~z';
  if (kind === 4) return Array.from({ length: pick(4) }, () => randomValue(pick, levels - 1));
  return Object.fromEntries(
    Array.from({ length: pick(4) }, () => [['a', 'b', 'c/d', 'e~f'][pick(4)]!, randomValue(pick, levels - 1)]),
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The merge patch that turns one object into the other, by definition (no null values in either). */
function difference(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(from)) if (!(key in to)) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const before = from[key];
    if (isObject(before) && isObject(value)) patch[key] = difference(before, value);
    else if (!deepEqual(before, value)) patch[key] = value;
  }
  return patch;
}

test('a merge patch made from two random objects turns the one into the other', (t) => {
  const pick = seeded(7);
  for (let round = 0; round < 500; round++) {
    const from = frozen({ o: randomValue(pick, 4) });
    const to = frozen({ o: randomValue(pick, 4) });
    t.deepEqual(applyMergePatch(from, frozen(difference(from, to))), to, `round ${round}`);
  }
});

test('random JSON patches never change the document given, and moving there and back restores it', (t) => {
  const pick = seeded(11);
  for (let round = 0; round < 500; round++) {
    const document = frozen({ a: randomValue(pick, 3), list: [1, 2, 3], b: randomValue(pick, 3) });
    const there = [
      { op: 'move', from: '/a', path: '/list/1' },
      { op: 'copy', from: '/list', path: '/other' },
      { op: 'add', path: '/other/-', value: pick(9) },
      { op: 'remove', path: '/other' },
      { op: 'move', from: '/list/1', path: '/a' },
    ];
    t.true(deepEqual(applyJsonPatch(document, frozen(there)), document), `round ${round}`);
  }
});

test("what a JSON patch moves is the result's own: decoding it elsewhere does not reach the document", (t) => {
  const element = { manager: 'a' };
  const document = { metadata: { managedFields: [element] }, status: {} };
  const result = applyJsonPatch(document, [
    { op: 'move', from: '/metadata/managedFields', path: '/status/conditions' },
  ]) as { status: { conditions: { manager?: string }[] } };
  t.deepEqual(result.status.conditions, [element]);
  delete result.status.conditions[0]!.manager;
  t.is(element.manager, 'a');
});
