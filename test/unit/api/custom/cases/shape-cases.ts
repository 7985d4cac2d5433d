// What pruning takes from objects, and what defaulting gives them.

/** A schema of one member `v`, its value before and after, and the paths of what was taken out. */
export type PruneCase = readonly [schema: object, before: unknown, after: unknown, ...taken: readonly string[]];
/** A schema of one member `v`, its value before and after; undefined: it is not there. */
export type DefaultCase = readonly [schema: object, before: unknown, after: unknown];

const TEXT = { type: 'string' };
const OPEN = { 'x-orch-preserve-unknown-fields': true };
const WHOLE = { 'x-orch-embedded-resource': true };
const of = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

export const PRUNE_CASES: readonly PruneCase[] = [
  [of({ a: TEXT }), { a: 'x' }, { a: 'x' }],
  [of({ a: TEXT }), { a: 'x', b: 1 }, { a: 'x' }, 'v.b'],
  [of({ a: TEXT }), { a: null, b: null }, { a: null }, 'v.b'],
  [of({}), { a: 1, b: 2 }, {}, 'v.a', 'v.b'],
  [of({ a: of({ b: TEXT }) }), { a: { b: 'x', c: 1 } }, { a: { b: 'x' } }, 'v.a.c'],
  // Of values of another type than the schema's, nothing is known.
  [of({ a: TEXT }), { a: { b: 1 } }, { a: {} }, 'v.a.b'],
  [TEXT, { a: 1 }, {}, 'v.a'],
  [TEXT, [{ a: 1 }], [{}], 'v[0].a'],
  [TEXT, 'x', 'x'],
  [{ type: 'array', items: of({ a: TEXT }) }, [{ a: 'x', b: 1 }, { b: 2 }], [{ a: 'x' }, {}], 'v[0].b', 'v[1].b'],
  [{ type: 'array', items: { type: 'array', items: of({ a: TEXT }) } }, [[{ b: 1 }]], [[{}]], 'v[0][0].b'],
  [{ type: 'array', items: of({ a: TEXT }) }, [null, 1], [null, 1]],
  [{ type: 'object', additionalProperties: of({ a: TEXT }) }, { k: { a: 'x', b: 1 } }, { k: { a: 'x' } }, 'v.k.b'],
  [
    { type: 'object', additionalProperties: TEXT },
    { k: 'x', l: 1 },
    { k: 'x', l: 1 },
  ],
  // Members that are let in without a word of what they hold keep nothing inside.
  [{ type: 'object', additionalProperties: true }, { k: { a: 1 }, l: 2 }, { k: {}, l: 2 }, 'v.k.a'],
  [{ type: 'object', additionalProperties: false }, { k: 1 }, {}, 'v.k'],
  [
    { ...of({ a: TEXT }), ...OPEN },
    { a: 'x', b: { c: 1 } },
    { a: 'x', b: { c: 1 } },
  ],
  [{ ...of({ a: of({ b: TEXT }) }), ...OPEN }, { a: { b: 'x', c: 1 }, d: 2 }, { a: { b: 'x' }, d: 2 }, 'v.a.c'],
  [OPEN, { a: [{ b: 1 }] }, { a: [{ b: 1 }] }],
  [OPEN, [{ b: 1 }], [{ b: 1 }]],
  [{ type: 'array', ...OPEN }, [{ b: 1 }], [{ b: 1 }]],
  // Its elements are as open as a list, and what they have of their own is as the schema says.
  [{ type: 'array', ...OPEN, items: of({ a: of({}) }) }, [{ a: { c: 1 }, b: 1 }], [{ a: {}, b: 1 }], 'v[0].a.c'],
  [{ type: 'array', ...OPEN, items: { type: 'array', items: of({ a: TEXT }) } }, [[{ b: 1 }]], [[{ b: 1 }]]],
  [{ type: 'object', additionalProperties: OPEN }, { k: { a: { b: 1 } } }, { k: { a: { b: 1 } } }],
  [
    { ...of({ spec: of({}) }), ...WHOLE },
    { kind: 'K', apiVersion: 'v1', metadata: { labels: { a: 'b' } }, spec: {} },
    { kind: 'K', apiVersion: 'v1', metadata: { labels: { a: 'b' } }, spec: {} },
  ],
  [
    { ...of({ spec: of({}) }), ...WHOLE },
    { kind: 'K', x: 1, spec: { y: 1 } },
    { kind: 'K', spec: {} },
    'v.x',
    'v.spec.y',
  ],
  [
    { ...of({}), ...WHOLE, ...OPEN },
    { kind: 'K', x: { y: 1 } },
    { kind: 'K', x: { y: 1 } },
  ],
  [of({ kind: TEXT }), { kind: 'K', apiVersion: 'v1', metadata: {} }, { kind: 'K' }, 'v.apiVersion', 'v.metadata'],
  // What junctors speak of is not structure.
  [of({ a: TEXT }, { anyOf: [{ properties: { b: {} } }] }), { b: 1 }, {}, 'v.b'],
  [of({ 'x.y': TEXT }), { 'x.y': 'a', z: 1 }, { 'x.y': 'a' }, 'v.z'],
  [of({ toString: TEXT }), { toString: 'x', valueOf: 1 }, { toString: 'x' }, 'v.valueOf'],
];

const given = (value: unknown, more: object = {}): object => ({ default: value, ...more });

export const DEFAULT_CASES: readonly DefaultCase[] = [
  [{ ...TEXT, ...given('x') }, undefined, 'x'],
  [{ ...TEXT, ...given('x') }, 'y', 'y'],
  [{ ...TEXT, ...given('x') }, '', ''],
  [{ ...TEXT, ...given('') }, undefined, ''],
  [{ type: 'boolean', ...given(false) }, undefined, false],
  [{ type: 'boolean', ...given(true) }, false, false],
  [{ type: 'integer', ...given(0) }, undefined, 0],
  [{ type: 'integer', ...given(5) }, 0, 0],
  [{ type: 'array', items: TEXT, ...given([]) }, undefined, []],
  [{ type: 'array', items: TEXT, ...given(['a']) }, undefined, ['a']],
  [TEXT, undefined, undefined],
  [{ ...TEXT, ...given(null) }, undefined, undefined],
  // A null where there can be none counts as left out.
  [TEXT, null, undefined],
  [{ ...TEXT, ...given('x') }, null, 'x'],
  [{ ...TEXT, nullable: true }, null, null],
  [{ ...TEXT, nullable: true, ...given('x') }, null, null],
  [{ ...TEXT, nullable: true, ...given('x') }, undefined, 'x'],
  // Members of what is left out are not given, unless it is.
  [of({ a: { ...TEXT, ...given('x') } }), undefined, undefined],
  [of({ a: { ...TEXT, ...given('x') } }), {}, { a: 'x' }],
  [of({ a: { ...TEXT, ...given('x') } }, given({})), undefined, { a: 'x' }],
  [of({ a: { ...TEXT, ...given('x') }, b: TEXT }, given({ b: 'y' })), undefined, { b: 'y', a: 'x' }],
  [of({ a: { ...TEXT, ...given('x') } }, given({ a: 'z' })), undefined, { a: 'z' }],
  [of({ a: { ...TEXT, ...given('x') } }, given({})), null, { a: 'x' }],
  [of({ a: of({ b: { ...TEXT, ...given('x') } }) }), { a: {} }, { a: { b: 'x' } }],
  [of({ a: of({ b: { ...TEXT, ...given('x') } }) }), {}, {}],
  [of({ a: TEXT }), { a: null, b: null }, { b: null }],
  [{ type: 'array', items: of({ a: { ...TEXT, ...given('x') } }) }, [{}, { a: 'y' }], [{ a: 'x' }, { a: 'y' }]],
  [{ type: 'array', items: TEXT }, ['a', null], ['a', null]],
  [{ type: 'array', items: { ...TEXT, ...given('x') } }, ['a', null], ['a', 'x']],
  [{ type: 'array', items: { ...TEXT, nullable: true, ...given('x') } }, [null], [null]],
  [{ type: 'array', items: { type: 'array', items: of({ a: { ...TEXT, ...given('x') } }) } }, [[{}]], [[{ a: 'x' }]]],
  [{ type: 'object', additionalProperties: of({ a: { ...TEXT, ...given('x') } }) }, { k: {} }, { k: { a: 'x' } }],
  [{ type: 'object', additionalProperties: { ...TEXT, ...given('x') } }, { k: null }, { k: 'x' }],
  [{ type: 'object', additionalProperties: TEXT }, { k: null, l: 'x' }, { l: 'x' }],
  [{ type: 'object', additionalProperties: { ...TEXT, nullable: true } }, { k: null }, { k: null }],
  [{ type: 'object', additionalProperties: of({ a: TEXT }) }, { k: { a: null }, l: null }, { k: {} }],
  [{ type: 'object', additionalProperties: true }, { k: null }, { k: null }],
  [of({ a: { ...TEXT, ...given('x') } }, OPEN), { b: null }, { b: null, a: 'x' }],
  [{ ...of({ a: { ...TEXT, ...given('x') } }), ...WHOLE }, { kind: 'K' }, { kind: 'K', a: 'x' }],
  // Values of another type are left to the checks.
  [of({ a: { ...TEXT, ...given('x') } }), 'text', 'text'],
  [of({ a: { ...TEXT, ...given('x') } }), [{}], [{}]],
  [{ type: 'array', items: of({ a: { ...TEXT, ...given('x') } }) }, {}, {}],
];
