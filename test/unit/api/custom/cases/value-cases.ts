// What each keyword of a schema says of values, and what is told of those that it refuses.

/** A schema, a value in it, and what the errors say; none: it is valid. The value is the member `v` of an object. */
export type ValueCase = readonly [schema: object, value: unknown, ...errors: readonly string[]];

/** Refusals that the keyword words: `v: Invalid value: <shown>: v in body <complaint>`. */
const told = (shown: string, complaint: string, path = 'v'): string =>
  `${path}: Invalid value: ${shown}: ${path} in body ${complaint}`;
const wrongType = (wanted: string, actual: string, path = 'v'): string =>
  told(`"${actual}"`, `must be of type ${wanted}: "${actual}"`, path);
const none = (complaint: string, path = 'v'): string => `<nil>: Invalid value: "": "${path}" ${complaint}`;

const VALUES: Readonly<Record<string, unknown>> = {
  string: 'x',
  integer: 7,
  number: 1.5,
  boolean: true,
  array: [],
  object: {},
};

/** Every type against a value of every other. */
const TYPES: readonly ValueCase[] = Object.keys(VALUES).flatMap((type) => [
  ...Object.entries(VALUES).map(([actual, value]): ValueCase => {
    const isRight = type === actual || (type === 'number' && actual === 'integer');
    return isRight ? [{ type }, value] : [{ type }, value, wrongType(type, actual)];
  }),
  [{ type }, null, wrongType(type, 'null')],
  [{ type, nullable: true }, null],
]);

const EITHER = { 'x-orch-int-or-string': true };

const INT_OR_STRING: readonly ValueCase[] = [
  [EITHER, 80],
  [EITHER, '80%'],
  [EITHER, -1],
  [EITHER, ''],
  [EITHER, true, wrongType('integer,string', 'boolean')],
  [EITHER, 1.5, wrongType('integer,string', 'number')],
  [EITHER, {}, wrongType('integer,string', 'object')],
  [EITHER, [], wrongType('integer,string', 'array')],
  [EITHER, null, wrongType('integer,string', 'null')],
  [{ ...EITHER, nullable: true }, null],
  [{ ...EITHER, anyOf: [{ type: 'integer' }, { type: 'string' }] }, 5],
  [
    { ...EITHER, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    false,
    wrongType('integer,string', 'boolean'),
    none('must validate at least one schema (anyOf)'),
    wrongType('integer', 'boolean'),
  ],
  [{ ...EITHER, pattern: '^\\d+%$' }, '80%'],
  [{ ...EITHER, pattern: '^\\d+%$' }, 80],
  [{ ...EITHER, pattern: '^\\d+%$' }, 'many', told('"many"', "should match '^\\d+%$'")],
  [{ ...EITHER, minimum: 1 }, 0, told('0', 'should be greater than or equal to 1')],
  [{ ...EITHER, minimum: 1 }, '0'],
];

const TEXT = { type: 'string' };

const TEXTS: readonly ValueCase[] = [
  [{ ...TEXT, maxLength: 0 }, ''],
  [{ ...TEXT, maxLength: 0 }, 'a', told('"a"', 'should be at most 0 chars long')],
  [{ ...TEXT, maxLength: 3 }, 'abc'],
  [{ ...TEXT, maxLength: 3 }, 'abcd', told('"abcd"', 'should be at most 3 chars long')],
  [{ ...TEXT, maxLength: 1 }, '😀'],
  [{ ...TEXT, maxLength: 2 }, '😀😀'],
  [{ ...TEXT, maxLength: 1 }, 'é'],
  [{ ...TEXT, maxLength: 1 }, '😀😀', told('"😀😀"', 'should be at most 1 chars long')],
  [{ ...TEXT, minLength: 0 }, ''],
  [{ ...TEXT, minLength: 1 }, '', told('""', 'should be at least 1 chars long')],
  [{ ...TEXT, minLength: 1 }, 'a'],
  [{ ...TEXT, minLength: 2 }, '😀', told('"😀"', 'should be at least 2 chars long')],
  [{ ...TEXT, minLength: 2 }, 'ab'],
  [{ ...TEXT, pattern: '^a+$' }, 'aaa'],
  [{ ...TEXT, pattern: '^a+$' }, 'ab', told('"ab"', "should match '^a+$'")],
  [{ ...TEXT, pattern: 'b' }, 'abc'],
  [{ ...TEXT, pattern: '' }, 'anything'],
  [{ ...TEXT, pattern: '^\\p{Greek}+$' }, 'λόγος'],
  [{ ...TEXT, pattern: '^\\p{Greek}+$' }, 'logos', told('"logos"', "should match '^\\p{Greek}+$'")],
  [{ ...TEXT, pattern: '(?i)^abc$' }, 'ABC'],
  [{ ...TEXT, pattern: '^.$' }, '😀'],
  [{ ...TEXT, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' }, 'a-1'],
  [{ ...TEXT, pattern: '\\Aab\\z' }, 'ab'],
  [{ ...TEXT, pattern: '^a$' }, 'a\nb', told('"a\\nb"', "should match '^a$'")],
  [{ ...TEXT, pattern: 'a(?=b)' }, 'ab', told('"ab"', "should match 'a(?=b), but pattern is invalid'")],
  // The first that does not hold is told.
  [{ ...TEXT, maxLength: 2, pattern: '^b' }, 'abc', told('"abc"', 'should be at most 2 chars long')],
  [{ ...TEXT, minLength: 4, pattern: '^b' }, 'abc', told('"abc"', 'should be at least 4 chars long')],
  [{ ...TEXT, minLength: 1, pattern: '^b' }, 'abc', told('"abc"', "should match '^b'")],
  // Without a type, texts are still held to it, and others are not.
  [{ maxLength: 1 }, 'ab', told('"ab"', 'should be at most 1 chars long')],
  [{ maxLength: 1 }, [1, 2]],
  [{ pattern: '^b' }, 12],
  [{ type: 'integer', maxLength: 0 }, 12],
];

const WHOLE = { type: 'integer' };
const REAL = { type: 'number' };

const NUMBERS: readonly ValueCase[] = [
  [{ ...WHOLE, minimum: 3 }, 3],
  [{ ...WHOLE, minimum: 3 }, 2, told('2', 'should be greater than or equal to 3')],
  [{ ...WHOLE, minimum: 3, exclusiveMinimum: true }, 4],
  [{ ...WHOLE, minimum: 3, exclusiveMinimum: true }, 3, told('3', 'should be greater than 3')],
  [{ ...WHOLE, minimum: 3, exclusiveMinimum: false }, 3],
  [{ ...WHOLE, exclusiveMinimum: true }, -1],
  [{ ...WHOLE, maximum: 3 }, 3],
  [{ ...WHOLE, maximum: 3 }, 4, told('4', 'should be less than or equal to 3')],
  [{ ...WHOLE, maximum: 3, exclusiveMaximum: true }, 2],
  [{ ...WHOLE, maximum: 3, exclusiveMaximum: true }, 3, told('3', 'should be less than 3')],
  [{ ...WHOLE, maximum: 0 }, 1, told('1', 'should be less than or equal to 0')],
  [{ ...WHOLE, minimum: 0 }, -1, told('-1', 'should be greater than or equal to 0')],
  [{ ...WHOLE, minimum: -5 }, -6, told('-6', 'should be greater than or equal to -5')],
  [
    { ...WHOLE, minimum: 5, maximum: 3 },
    4,
    told('4', 'should be greater than or equal to 5'),
    told('4', 'should be less than or equal to 3'),
  ],
  [
    { ...WHOLE, maximum: 2_147_483_647 },
    2_147_483_648,
    told('2147483648', 'should be less than or equal to 2147483647'),
  ],
  [{ ...REAL, minimum: 0.5 }, 0.5],
  [{ ...REAL, minimum: 0.5 }, 0.25, told('0.25', 'should be greater than or equal to 0.5')],
  [{ ...REAL, maximum: 0.5 }, 0.75, told('0.75', 'should be less than or equal to 0.5')],
  [{ ...REAL, maximum: 1_000_000 }, 1_000_000.5, told('1.0000005e+06', 'should be less than or equal to 1e+06')],
  [{ ...REAL, minimum: 0.00001 }, 0.000001, told('1e-06', 'should be greater than or equal to 1e-05')],
  [{ ...REAL, minimum: 0.5, exclusiveMinimum: true }, 0.5, told('0.5', 'should be greater than 0.5')],
  [{ minimum: 3 }, 'x'],
  [{ ...TEXT, minimum: 3 }, '1'],
  [{ minimum: 3 }, 2, told('2', 'should be greater than or equal to 3')],
];

const MULTIPLES: readonly ValueCase[] = [
  [{ ...WHOLE, multipleOf: 5 }, 0],
  [{ ...WHOLE, multipleOf: 5 }, 15],
  [{ ...WHOLE, multipleOf: 5 }, -15],
  [{ ...WHOLE, multipleOf: 5 }, 16, told('16', 'should be a multiple of 5')],
  [{ ...WHOLE, multipleOf: 1 }, 9_007_199_254_740_991],
  [{ ...WHOLE, multipleOf: 2 }, 9_007_199_254_740_991, told('9007199254740991', 'should be a multiple of 2')],
  [{ ...REAL, multipleOf: 0.1 }, 0.3],
  [{ ...REAL, multipleOf: 0.1 }, 0.7],
  [{ ...REAL, multipleOf: 0.1 }, 1.1],
  [{ ...REAL, multipleOf: 0.1 }, 4],
  [{ ...REAL, multipleOf: 0.1 }, 123_456_789.1],
  [{ ...REAL, multipleOf: 0.1 }, 0.35, told('0.35', 'should be a multiple of 0.1')],
  [{ ...REAL, multipleOf: 0.01 }, 19.99],
  [{ ...REAL, multipleOf: 0.01 }, 19.999, told('19.999', 'should be a multiple of 0.01')],
  [{ ...REAL, multipleOf: 0.01 }, 1_000_000.011, told('1.000000011e+06', 'should be a multiple of 0.01')],
  [{ ...REAL, multipleOf: 2.5 }, 7.5],
  [{ ...REAL, multipleOf: 2.5 }, 6.5, told('6.5', 'should be a multiple of 2.5')],
  // Of a factor or a bound, integers meet what is before its point.
  [{ ...REAL, multipleOf: 2.5 }, 6],
  [{ ...REAL, multipleOf: 2.5 }, 5, told('5', 'should be a multiple of 2')],
  [{ ...REAL, minimum: 0.5, maximum: 7.5 }, 0],
  [{ ...REAL, minimum: 0.5, maximum: 7.5 }, 8, told('8', 'should be less than or equal to 7')],
  [{ ...REAL, minimum: 0.5, maximum: 7.5 }, 0.25, told('0.25', 'should be greater than or equal to 0.5')],
  [{ ...REAL, multipleOf: 1e-7 }, 3e-7],
  [{ ...REAL, multipleOf: 1e-7 }, 3.5e-7, told('3.5e-07', 'should be a multiple of 1e-07')],
  [{ ...REAL, multipleOf: 1e-300 }, 1e300],
  [{ ...REAL, multipleOf: 3 }, 1e300, told('1e+300', 'should be a multiple of 3')],
  [{ ...WHOLE, multipleOf: 0 }, 4, told('4', 'should be a multiple of 0')],
  [{ ...WHOLE, multipleOf: -2 }, 4, 'v: Invalid value: -2: factor MultipleOf declared for v must be positive: -2'],
];

const ENUMS: readonly ValueCase[] = [
  [{ ...TEXT, enum: ['a', 'b'] }, 'b'],
  [{ ...TEXT, enum: ['a', 'b'] }, 'c', 'v: Unsupported value: "c": supported values: "a", "b"'],
  [{ ...TEXT, enum: ['a'] }, 'A', 'v: Unsupported value: "A": supported values: "a"'],
  [{ ...TEXT, enum: [''] }, ''],
  [{ ...TEXT, enum: [] }, 'x'],
  [{ ...WHOLE, enum: [1, 2] }, 2],
  [{ ...WHOLE, enum: [1, 2] }, 3, 'v: Unsupported value: 3: supported values: "1", "2"'],
  [{ ...REAL, enum: [1.5] }, 1.5],
  [{ ...REAL, enum: [1.5] }, 2.5, 'v: Unsupported value: 2.5: supported values: "1.5"'],
  [{ type: 'boolean', enum: [true] }, true],
  [{ type: 'boolean', enum: [true] }, false, 'v: Unsupported value: false: supported values: "true"'],
  [{ ...EITHER, enum: [1, '1'] }, '1'],
  [{ ...EITHER, enum: [1] }, '1', 'v: Unsupported value: "1": supported values: "1"'],
  [{ type: 'array', items: TEXT, enum: [['a', 'b']] }, ['a', 'b']],
  [{ type: 'object', properties: { a: WHOLE }, enum: [{ a: 1 }] }, { a: 1 }],
  [{ ...TEXT, nullable: true, enum: ['a'] }, null, 'v: Unsupported value: "null": supported values: "a"'],
  [{ ...TEXT, nullable: true, enum: ['a', null] }, null, 'v: Unsupported value: "null": supported values: "a", "null"'],
  [{ ...TEXT, enum: ['a'] }, 1, wrongType('string', 'integer'), 'v: Unsupported value: 1: supported values: "a"'],
  [
    { ...TEXT, enum: ['abc'], minLength: 3 },
    'x',
    told('"x"', 'should be at least 3 chars long'),
    'v: Unsupported value: "x": supported values: "abc"',
  ],
];

const LIST = { type: 'array', items: TEXT };

const LISTS: readonly ValueCase[] = [
  [LIST, []],
  [LIST, ['a', 'b']],
  // The list is named, not the element.
  [LIST, ['a', 1], wrongType('string', 'integer')],
  [LIST, [1, 'a', true], wrongType('string', 'integer'), wrongType('string', 'boolean')],
  [LIST, [null], wrongType('string', 'null')],
  [{ type: 'array', items: { ...TEXT, nullable: true } }, [null]],
  [{ ...LIST, minItems: 1 }, [], told('0', 'should have at least 1 items')],
  [{ ...LIST, minItems: 1 }, ['a']],
  [{ ...LIST, maxItems: 1 }, ['a', 'b'], told('2', 'should have at most 1 items')],
  [{ ...LIST, maxItems: 0 }, []],
  [{ ...LIST, maxItems: 2, minItems: 2 }, ['a', 'b']],
  [{ ...LIST, maxItems: 1 }, [1, 2], wrongType('string', 'integer'), told('2', 'should have at most 1 items')],
  [
    { type: 'array', items: { type: 'object', properties: { n: WHOLE } } },
    [{ n: 1 }, { n: 'x' }],
    wrongType('integer', 'string', 'v.n'),
  ],
  [{ type: 'array', items: LIST }, [['a'], [1]], wrongType('string', 'integer')],
  [
    { type: 'array', items: { type: 'object', required: ['n'], properties: { n: WHOLE } } },
    [{}],
    'v.n: Required value',
  ],
  [{ type: 'array', items: { ...TEXT, maxLength: 1 } }, ['ab'], told('"ab"', 'should be at most 1 chars long')],
  [{ ...TEXT, minItems: 5 }, 'x'],
];

const OBJECT = { type: 'object', properties: { a: TEXT, b: WHOLE } };

const OBJECTS: readonly ValueCase[] = [
  [OBJECT, {}],
  [OBJECT, { a: 'x', b: 1 }],
  [OBJECT, { a: 1 }, wrongType('string', 'integer', 'v.a')],
  [OBJECT, { a: 1, b: 'x' }, wrongType('string', 'integer', 'v.a'), wrongType('integer', 'string', 'v.b')],
  [{ ...OBJECT, required: ['a'] }, {}, 'v.a: Required value'],
  [{ ...OBJECT, required: ['a', 'b'] }, {}, 'v.a: Required value', 'v.b: Required value'],
  [{ ...OBJECT, required: ['a'] }, { a: '' }],
  [{ ...OBJECT, required: ['a'] }, { a: null }, wrongType('string', 'null', 'v.a')],
  [{ ...OBJECT, required: ['z'] }, {}, 'v.z: Required value'],
  [{ ...OBJECT, required: ['a'] }, { b: 'x' }, wrongType('integer', 'string', 'v.b'), 'v.a: Required value'],
  [{ ...OBJECT, required: [] }, {}],
  [{ type: 'object', properties: { o: OBJECT } }, { o: { a: 1 } }, wrongType('string', 'integer', 'v.o.a')],
  [{ type: 'object', properties: { 'a.b': WHOLE } }, { 'a.b': 'x' }, wrongType('integer', 'string', 'v.a.b')],
  [
    { type: 'object', additionalProperties: WHOLE },
    { a: 1, b: 2 },
  ],
  [{ type: 'object', additionalProperties: WHOLE }, { a: 1, b: 'x' }, wrongType('integer', 'string', 'v.b')],
  [
    { type: 'object', additionalProperties: true },
    { a: 1, b: {} },
  ],
  [
    { type: 'object', additionalProperties: false },
    { a: 1 },
    told('"a"', 'is a forbidden property').replace('v in body', 'v.a in body'),
  ],
  [{ type: 'object', additionalProperties: false }, {}],
  [{ type: 'object', additionalProperties: { type: 'object', required: ['n'] } }, { k: {} }, 'v.k.n: Required value'],
  [{ type: 'object', minProperties: 1, additionalProperties: WHOLE }, { a: 1 }],
  [
    { type: 'object', minProperties: 1, additionalProperties: WHOLE },
    {},
    told('1', 'should have at least 1 properties'),
  ],
  [
    { type: 'object', maxProperties: 1, additionalProperties: WHOLE },
    { a: 1, b: 2 },
    told('1', 'should have at most 1 properties'),
  ],
  // Nothing else is looked at where there are too many.
  [
    { type: 'object', maxProperties: 1, additionalProperties: WHOLE },
    { a: 'x', b: 2 },
    told('1', 'should have at most 1 properties'),
  ],
  [{ ...OBJECT, 'x-orch-preserve-unknown-fields': true }, { c: [1, {}] }],
  [{ 'x-orch-preserve-unknown-fields': true }, 'anything'],
  [{ 'x-orch-preserve-unknown-fields': true }, null],
  [{ type: 'object', 'x-orch-preserve-unknown-fields': true }, [], wrongType('object', 'array')],
  [OBJECT, JSON.parse('{"__proto__": 1}')],
  [{ type: 'object', required: ['toString'] }, {}, 'v.toString: Required value'],
];

const BIG = { minimum: 5 };
const SMALL = { maximum: 3 };

const JUNCTORS: readonly ValueCase[] = [
  [{ ...WHOLE, anyOf: [BIG, SMALL] }, 6],
  [{ ...WHOLE, anyOf: [BIG, SMALL] }, 2],
  [
    { ...WHOLE, anyOf: [BIG, SMALL] },
    4,
    none('must validate at least one schema (anyOf)'),
    told('4', 'should be greater than or equal to 5'),
  ],
  [{ ...WHOLE, anyOf: [BIG] }, null, wrongType('integer', 'null')],
  [{ ...WHOLE, nullable: true, anyOf: [BIG] }, null],
  [{ ...WHOLE, nullable: true, not: {} }, null],
  [{ ...WHOLE, oneOf: [BIG, SMALL] }, 6],
  [
    { ...WHOLE, oneOf: [BIG, SMALL] },
    4,
    none('must validate one and only one schema (oneOf). Found none valid'),
    told('4', 'should be greater than or equal to 5'),
  ],
  [
    { ...WHOLE, oneOf: [{ minimum: 1 }, SMALL] },
    2,
    none('must validate one and only one schema (oneOf). Found 2 valid alternatives'),
  ],
  [
    { ...WHOLE, oneOf: [{}, {}, {}] },
    2,
    none('must validate one and only one schema (oneOf). Found 3 valid alternatives'),
  ],
  [{ ...WHOLE, allOf: [BIG, { maximum: 8 }] }, 6],
  [
    { ...WHOLE, allOf: [BIG, { maximum: 8 }] },
    9,
    told('9', 'should be less than or equal to 8'),
    none('must validate all the schemas (allOf)'),
  ],
  [
    { ...WHOLE, allOf: [BIG, { multipleOf: 2 }] },
    3,
    told('3', 'should be greater than or equal to 5'),
    told('3', 'should be a multiple of 2'),
    none('must validate all the schemas (allOf). None validated'),
  ],
  [{ ...WHOLE, not: BIG }, 4],
  [{ ...WHOLE, not: BIG }, 6, none('must not validate the schema (not)')],
  [{ ...TEXT, not: { enum: ['a'] } }, 'a', none('must not validate the schema (not)')],
  [{ ...WHOLE, not: { not: BIG } }, 6],
  [{ ...WHOLE, anyOf: [{ allOf: [BIG, { multipleOf: 2 }] }, SMALL] }, 6],
  // Of two that fail, that which was about more of the value is told.
  [
    { type: 'object', properties: { a: TEXT, b: WHOLE }, anyOf: [{ required: ['c'] }, { properties: { b: BIG } }] },
    { a: 'x', b: 1 },
    none('must validate at least one schema (anyOf)'),
    told('1', 'should be greater than or equal to 5', 'v.b'),
  ],
  [
    { type: 'object', properties: { a: TEXT, b: WHOLE }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 'x' },
  ],
  [
    { type: 'object', properties: { a: TEXT, b: WHOLE }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    none('must validate one and only one schema (oneOf). Found none valid'),
    'v.a: Required value',
  ],
  [
    { type: 'object', properties: { a: TEXT, b: WHOLE }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 'x', b: 1 },
    none('must validate one and only one schema (oneOf). Found 2 valid alternatives'),
  ],
  // What is wrong outside is told before what is wrong with alternatives, and after the type.
  [
    { ...WHOLE, minimum: 10, not: {} },
    5,
    none('must not validate the schema (not)'),
    told('5', 'should be greater than or equal to 10'),
  ],
  [{ ...WHOLE, anyOf: [] }, 5],
  [
    { ...WHOLE, not: {}, anyOf: [BIG], oneOf: [BIG], allOf: [BIG] },
    4,
    none('must validate at least one schema (anyOf)'),
    told('4', 'should be greater than or equal to 5'),
    none('must validate one and only one schema (oneOf). Found none valid'),
    none('must validate all the schemas (allOf). None validated'),
    none('must not validate the schema (not)'),
  ],
];

const WHOLE_OBJECT = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true };

const embedded = (metadata: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata });

const EMBEDDED: readonly ValueCase[] = [
  [WHOLE_OBJECT, { apiVersion: 'v1', kind: 'Pod' }],
  [WHOLE_OBJECT, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: {} }],
  [WHOLE_OBJECT, { kind: 'Pod' }, 'v.apiVersion: Required value: must not be empty'],
  [WHOLE_OBJECT, {}, 'v.apiVersion: Required value: must not be empty', 'v.kind: Required value: must not be empty'],
  [
    WHOLE_OBJECT,
    { apiVersion: '', kind: '' },
    'v.apiVersion: Invalid value: "": must not be empty',
    'v.kind: Invalid value: "": must not be empty',
  ],
  [
    WHOLE_OBJECT,
    { apiVersion: 'a/b/c', kind: 'Pod' },
    'v.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  [WHOLE_OBJECT, { apiVersion: 1, kind: 'Pod' }, 'v.apiVersion: Invalid value: 1: must be a string'],
  [WHOLE_OBJECT, { apiVersion: 'v1', kind: true }, 'v.kind: Invalid value: true: must be a string'],
  [WHOLE_OBJECT, embedded({ name: 'Any_Name', namespace: 'ns', labels: { a: 'b' }, finalizers: ['a/b'] })],
  [WHOLE_OBJECT, embedded({})],
  [
    WHOLE_OBJECT,
    embedded({ name: 'a/b', namespace: 'n', generation: -1 }),
    `v.metadata.name: Invalid value: "a/b": may not contain '/'`,
    'v.metadata.generation: Invalid value: -1: must not be negative',
  ],
  [
    WHOLE_OBJECT,
    embedded({
      labels: { '/a': 'b' },
      annotations: { '/b': '' },
      ownerReferences: [{ apiVersion: 'v1', name: 'n', uid: 'u' }],
    }),
    'v.metadata.labels: Invalid value: "/a": prefix part must not be empty',
    'v.metadata.annotations: Invalid value: "/b": prefix part must not be empty',
    'v.metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
  ],
  [WHOLE_OBJECT, { apiVersion: 'v1', kind: 'Pod', metadata: 1 }, 'v.metadata: Invalid value: 1: must be an object'],
  [
    { type: 'array', items: WHOLE_OBJECT },
    [{ apiVersion: 'v1', kind: 'Pod' }, { kind: 'Pod' }],
    'v[1].apiVersion: Required value: must not be empty',
  ],
  [
    { type: 'object', additionalProperties: WHOLE_OBJECT },
    { k: { kind: 'Pod' } },
    'v[k].apiVersion: Required value: must not be empty',
  ],
];

const KEYED = {
  type: 'array',
  'x-orch-list-type': 'map',
  'x-orch-list-map-keys': ['n'],
  items: { type: 'object', required: ['n'], properties: { n: TEXT, m: WHOLE } },
};
const TWICE_KEYED = { ...KEYED, 'x-orch-list-map-keys': ['n', 'm'] };
const SET = { type: 'array', 'x-orch-list-type': 'set', items: TEXT };
const ATOMS = { type: 'object', 'x-orch-map-type': 'atomic', 'x-orch-preserve-unknown-fields': true };
const key = (text: string): string => `Duplicate value: map[string]interface {}{${text}}`;

const LIST_TYPES: readonly ValueCase[] = [
  [SET, ['a', 'b']],
  [SET, []],
  [SET, ['a', 'a'], 'v[1]: Duplicate value: "a"'],
  // What comes three times is told once.
  [SET, ['a', 'a', 'a'], 'v[1]: Duplicate value: "a"'],
  [SET, ['a', 'b', 'a', 'b'], 'v[2]: Duplicate value: "a"', 'v[3]: Duplicate value: "b"'],
  [{ ...SET, items: WHOLE }, [1, 2, 1], 'v[2]: Duplicate value: 1'],
  [{ ...SET, items: EITHER }, [1, '1']],
  [{ ...SET, items: ATOMS }, [{ a: 1, b: 2 }, { b: 2 }]],
  [
    { ...SET, items: ATOMS },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    `v[1]: ${key('"a":1, "b":2')}`,
  ],
  [KEYED, [{ n: 'a' }, { n: 'b' }]],
  [KEYED, [{ n: 'a' }, { n: 'b' }, { n: 'a' }], `v[2]: ${key('"n":"a"')}`],
  [
    KEYED,
    [
      { n: 'a', m: 1 },
      { n: 'a', m: 2 },
    ],
    `v[1]: ${key('"n":"a"')}`,
  ],
  [
    TWICE_KEYED,
    [
      { n: 'a', m: 1 },
      { n: 'a', m: 2 },
    ],
  ],
  [
    TWICE_KEYED,
    [
      { n: 'a', m: 1 },
      { n: 'a', m: 1 },
    ],
    `v[1]: ${key('"m":1, "n":"a"')}`,
  ],
  [TWICE_KEYED, [{ n: 'a' }, { n: 'a', m: 1 }]],
  [
    KEYED,
    ['x'],
    wrongType('object', 'string'),
    'v[0]: Invalid value: "x": must be an object for an array of list-type map',
  ],
  [{ type: 'array', 'x-orch-list-type': 'atomic', items: TEXT }, ['a', 'a']],
  [{ type: 'object', properties: { l: SET } }, { l: ['a', 'a'] }, 'v.l[1]: Duplicate value: "a"'],
  [{ type: 'object', additionalProperties: SET }, { k: ['a', 'a'] }, 'v[k][1]: Duplicate value: "a"'],
  [{ type: 'array', items: SET }, [[], ['a', 'a']], 'v[1][1]: Duplicate value: "a"'],
];

// Which texts have which format is text-formats.test.ts.

const FORMATS: readonly ValueCase[] = [
  [{ type: 'integer', format: 'int32' }, 1],
  [{ type: 'integer', format: 'int32' }, 3_000_000_000],
  [
    { type: 'integer', format: 'int64' },
    'x',
    'v: Invalid value: "string": v in body must be of type integer: "string"',
  ],
  [{ type: 'number', format: 'double' }, 1.5],
  [{ type: 'string', format: 'date' }, 5, 'v: Invalid value: "int64": v in body must be of type date: "int64"'],
  [{ type: 'string', format: 'date' }, 5.5, 'v: Invalid value: "float64": v in body must be of type date: "float64"'],
  [{ type: 'string', format: 'date' }, true, 'v: Invalid value: "": v in body must be of type date: ""'],
  [{ type: 'string', format: 'date' }, {}, 'v: Invalid value: "": v in body must be of type date: ""'],
  // A list passes for a text with a format, as it does in the original.
  [{ type: 'string', format: 'date' }, []],
  [{ type: 'string', format: 'date' }, null, 'v: Invalid value: "null": v in body must be of type string: "null"'],
  [
    { type: 'string', format: 'of-mine' },
    5,
    'v: Invalid value: "integer": v in body must be of type string: "integer"',
  ],
  [{ type: 'string', nullable: true, format: 'date' }, null],
];

/** By keyword. */
export const VALUE_CASES: Readonly<Record<string, readonly ValueCase[]>> = {
  type: TYPES,
  'int-or-string': INT_OR_STRING,
  'lengths and pattern': TEXTS,
  format: FORMATS,
  bounds: NUMBERS,
  multipleOf: MULTIPLES,
  enum: ENUMS,
  'items and their number': LISTS,
  'properties and their number': OBJECTS,
  'anyOf, oneOf, allOf and not': JUNCTORS,
  'whole objects inside': EMBEDDED,
  'list types': LIST_TYPES,
};
