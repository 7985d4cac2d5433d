// What the schemas of definitions may not say. The schema stands at `s`; `P` stands for the words' own beginning.

/** A schema of a version, and what the errors say; none: it is let in. */
export type DefinitionCase = readonly [schema: object, ...errors: readonly string[]];

const ROOT = { type: 'object' };
const TEXT = { type: 'string' };
/** A schema of one member `a`. */
const a = (schema: object): object => ({ ...ROOT, properties: { a: schema } });
const A = 's.properties[a]';
const forbidden = (place: string, detail: string): string => `${place}: Forbidden: ${detail}`;
const required = (place: string, detail: string): string => `${place}: Required value: ${detail}`;
const invalid = (place: string, shown: string, detail: string): string =>
  `${place}: Invalid value: ${shown}: ${detail}`;
const TYPES = '"array", "boolean", "integer", "number", "object", "string"';

const VOCABULARY: readonly DefinitionCase[] = [
  [ROOT],
  [a(TEXT)],
  [a({ type: 'float' }), `${A}.type: Unsupported value: "float": supported values: ${TYPES}`],
  [a({ ...TEXT, id: 'x' }), forbidden(`${A}.id`, 'id is not supported')],
  [a({ ...TEXT, $ref: '#/x' }), forbidden(`${A}.$ref`, '$ref is not supported')],
  [
    // Nothing else is looked at then.
    a({ type: 'array', items: { ...TEXT, default: 1 }, additionalItems: false }),
    forbidden(`${A}.additionalItems`, 'additionalItems is not supported'),
  ],
  [a({ ...ROOT, dependencies: {} }), forbidden(`${A}.dependencies`, 'dependencies is not supported')],
  [a({ ...TEXT, $ref: '' }), forbidden(`${A}.$ref`, '$ref is not supported')],
  [a({ ...TEXT, id: '', definitions: {}, patternProperties: {} })],
  [a({ ...ROOT, definitions: { x: TEXT } }), forbidden(`${A}.definitions`, 'definitions is not supported')],
  [a({ ...ROOT, dependencies: { x: ['y'] } }), forbidden(`${A}.dependencies`, 'dependencies is not supported')],
  [
    a({ ...ROOT, patternProperties: { x: TEXT } }),
    forbidden(`${A}.patternProperties`, 'patternProperties is not supported'),
  ],
  [
    a({ type: 'array', items: TEXT, additionalItems: TEXT }),
    forbidden(`${A}.additionalItems`, 'additionalItems is not supported'),
  ],
  [
    a({ type: 'array', items: TEXT, uniqueItems: true }),
    forbidden(`${A}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'),
  ],
  [a({ type: 'array', items: TEXT, uniqueItems: false })],
  [a({ type: 'array', items: [TEXT] }), forbidden(`${A}.items`, 'items must be a schema object and not an array')],
  [a({ type: 'array' }), required(`${A}.items`, 'must be specified')],
  [
    a({ ...ROOT, properties: { b: TEXT }, additionalProperties: TEXT }),
    forbidden(`${A}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
  ],
  [
    a({ ...ROOT, properties: { b: TEXT }, additionalProperties: false }),
    forbidden(`${A}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
  ],
  [a({ ...ROOT, properties: { b: TEXT }, additionalProperties: true })],
  [a({ ...ROOT, additionalProperties: TEXT })],
  [
    a({ ...ROOT, 'P-preserve-unknown-fields': false }),
    invalid(`${A}.P-preserve-unknown-fields`, 'false', 'must be true or undefined'),
  ],
  [a({ 'P-preserve-unknown-fields': true })],
  [{ ...ROOT, nullable: true }, forbidden('s.nullable', 'nullable cannot be true at the root')],
  [a({ ...TEXT, nullable: true })],
  // In junctors too.
  [
    a({ ...TEXT, not: { uniqueItems: true } }),
    forbidden(
      `${A}.not.uniqueItems`,
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ),
  ],
  [a({ ...TEXT, anyOf: [{ id: 'x' }] }), forbidden(`${A}.anyOf[0].id`, 'id is not supported')],
];

const MUST_BE_EMPTY = 'must be empty to be structural';
const UNDEFINED = 'must be undefined to be structural';
const FALSE = 'must be false to be structural';
const NO_PATTERN = "must be a valid regular expression, but isn't";

const STRUCTURE: readonly DefinitionCase[] = [
  [{}, required('s.type', 'must not be empty at the root')],
  [TEXT, invalid('s.type', '"string"', 'must be object at the root')],
  [{ 'P-preserve-unknown-fields': true }],
  [a({}), required(`${A}.type`, 'must not be empty for specified object fields')],
  [a({ type: 'array', items: {} }), required(`${A}.items.type`, 'must not be empty for specified array items')],
  [
    a({ ...ROOT, additionalProperties: {} }),
    required(`${A}.additionalProperties.type`, 'must not be empty for specified object fields'),
  ],
  [{ ...ROOT, additionalProperties: TEXT }, forbidden('s.additionalProperties', 'must not be used at the root')],
  [a({ 'P-int-or-string': true })],
  [
    a({ 'P-int-or-string': true, 'P-preserve-unknown-fields': true }),
    invalid(`${A}.P-preserve-unknown-fields`, 'true', 'must be false if P-int-or-string is true'),
  ],
  [a({ ...TEXT, anyOf: [{ type: 'string' }] }), forbidden(`${A}.anyOf[0].type`, MUST_BE_EMPTY)],
  [a({ ...TEXT, oneOf: [{ description: 'x' }] }), forbidden(`${A}.oneOf[0].description`, MUST_BE_EMPTY)],
  [a({ ...TEXT, allOf: [{ title: 'x' }] }), forbidden(`${A}.allOf[0].title`, MUST_BE_EMPTY)],
  [a({ ...TEXT, not: { default: 'x' } }), forbidden(`${A}.not.default`, UNDEFINED)],
  [a({ ...TEXT, not: { nullable: true } }), forbidden(`${A}.not.nullable`, FALSE)],
  [
    a({ ...ROOT, not: { additionalProperties: { maxLength: 1 } } }),
    forbidden(`${A}.not.additionalProperties`, UNDEFINED),
  ],
  [
    a({ ...ROOT, anyOf: [{ additionalProperties: false }] }),
    forbidden(`${A}.anyOf[0].additionalProperties`, UNDEFINED),
  ],
  [a({ ...TEXT, not: { externalDocs: { url: 'x' } } }), forbidden(`${A}.not.externalDocs`, UNDEFINED)],
  [a({ ...TEXT, not: { 'P-preserve-unknown-fields': true } }), forbidden(`${A}.not.P-preserve-unknown-fields`, FALSE)],
  [a({ ...ROOT, not: { 'P-embedded-resource': true } }), forbidden(`${A}.not.P-embedded-resource`, FALSE)],
  [a({ ...TEXT, not: { 'P-int-or-string': true } }), forbidden(`${A}.not.P-int-or-string`, FALSE)],
  [a({ ...TEXT, not: { not: { type: 'string' } } }), forbidden(`${A}.not.not.type`, MUST_BE_EMPTY)],
  [a({ ...TEXT, anyOf: [{ minLength: 1 }, { pattern: '^x' }] })],
  [a({ 'P-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] })],
  [a({ 'P-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { minimum: 1 }] })],
  [
    a({ 'P-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'boolean' }] }),
    forbidden(`${A}.anyOf[0].type`, MUST_BE_EMPTY),
    forbidden(`${A}.anyOf[1].type`, MUST_BE_EMPTY),
  ],
  [
    a({ 'P-int-or-string': true, oneOf: [{ type: 'integer' }, { type: 'string' }] }),
    forbidden(`${A}.oneOf[0].type`, MUST_BE_EMPTY),
    forbidden(`${A}.oneOf[1].type`, MUST_BE_EMPTY),
  ],
  // What junctors at the root speak of is said outside.
  [{ ...a(TEXT), anyOf: [{ properties: { a: { minLength: 1 } } }] }],
  [
    { ...ROOT, anyOf: [{ properties: { a: { minLength: 1 } } }] },
    required(A, 'because it is defined in s.anyOf[0].properties[a]'),
  ],
  [{ ...ROOT, not: { properties: { a: {} } } }, required(A, 'because it is defined in s.not.properties[a]')],
  [{ ...a({ type: 'array', items: TEXT }), allOf: [{ properties: { a: { items: { minLength: 1 } } } }] }],
  [
    { ...a(TEXT), allOf: [{ properties: { a: { items: {} } } }] },
    required(`${A}.items`, 'because it is defined in s.allOf[0].properties[a].items'),
  ],
  [
    { ...a(ROOT), oneOf: [{ properties: { metadata: {} } }] },
    forbidden('s.oneOf[0].properties[metadata]', 'must not be specified in a nested context'),
    required('s.properties[metadata]', 'because it is defined in s.oneOf[0].properties[metadata]'),
  ],
  [
    a({ ...TEXT, pattern: '+' }),
    invalid(
      `${A}.pattern`,
      '"+"',
      `${NO_PATTERN}: error parsing regexp: missing argument to repetition operator: \`+\``,
    ),
  ],
  [
    a({ ...TEXT, pattern: '(?=b)' }),
    invalid(
      `${A}.pattern`,
      '"(?=b)"',
      `${NO_PATTERN}: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
    ),
  ],
  [a({ ...TEXT, pattern: '^(a+)+$' })],
];

const META = 's.properties[metadata]';
const WHOLE = { ...ROOT, 'P-embedded-resource': true };

const WHOLE_OBJECTS: readonly DefinitionCase[] = [
  [{ ...ROOT, properties: { metadata: ROOT, kind: TEXT, apiVersion: TEXT } }],
  [{ ...ROOT, properties: { metadata: { ...ROOT, properties: { name: { ...TEXT, maxLength: 5 } } } } }],
  [{ ...ROOT, properties: { metadata: { ...ROOT, properties: { generateName: TEXT, name: TEXT } } } }],
  [
    { ...ROOT, properties: { metadata: { ...ROOT, properties: { labels: ROOT } } } },
    forbidden(META, 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
  ],
  [{ ...ROOT, properties: { metadata: TEXT } }, invalid(`${META}.type`, '"string"', 'must be object')],
  [
    { ...ROOT, properties: { kind: { type: 'integer' } } },
    invalid('s.properties[kind].type', '"integer"', 'must be string'),
  ],
  [
    { ...ROOT, properties: { apiVersion: ROOT } },
    invalid('s.properties[apiVersion].type', '"object"', 'must be string'),
  ],
  [a({ ...WHOLE, 'P-preserve-unknown-fields': true })],
  [a({ ...WHOLE, properties: { spec: ROOT } })],
  [
    a(WHOLE),
    required(`${A}.properties`, 'must not be empty if P-embedded-resource is true without P-preserve-unknown-fields'),
  ],
  [
    a({ ...TEXT, 'P-embedded-resource': true, 'P-preserve-unknown-fields': true }),
    invalid(`${A}.type`, '"string"', 'must be object if P-embedded-resource is true'),
  ],
  [
    a({ 'P-embedded-resource': true, 'P-preserve-unknown-fields': true }),
    required(`${A}.type`, 'must be object if P-embedded-resource is true'),
  ],
  [
    a({ ...WHOLE, 'P-preserve-unknown-fields': true, additionalProperties: TEXT }),
    forbidden(`${A}.additionalProperties`, 'must not be used if P-embedded-resource is set'),
  ],
  [
    a({
      ...WHOLE,
      properties: { metadata: { ...ROOT, properties: { labels: { ...ROOT, additionalProperties: TEXT } } } },
    }),
  ],
  [
    a({
      ...WHOLE,
      properties: { metadata: { ...ROOT, properties: { x: { ...WHOLE, 'P-preserve-unknown-fields': true } } } },
    }),
    forbidden(
      `${A}.properties[metadata].properties[x].P-embedded-resource`,
      'must not be used inside of resource meta',
    ),
  ],
];

const LIST = { type: 'array', items: TEXT };
const ITEM = { ...ROOT, required: ['k'], properties: { k: TEXT, o: ROOT } };
const MAP = { type: 'array', 'P-list-type': 'map', 'P-list-map-keys': ['k'], items: ITEM };
const KEY = 'this property is in P-list-map-keys, so it';
const IN_MAP = "if parent array's P-list-type is map";
const IN_SET = 'must be atomic as item of a list with P-list-type=set';

const LISTS: readonly DefinitionCase[] = [
  [a({ ...LIST, 'P-list-type': 'atomic' })],
  [a({ ...LIST, 'P-list-type': 'set' })],
  [a(MAP)],
  [
    a({ ...LIST, 'P-list-type': 'bag' }),
    `${A}.P-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`,
  ],
  [a({ ...TEXT, 'P-list-type': 'set' }), invalid(`${A}.type`, '"string"', 'must be array if P-list-type is specified')],
  [
    a({ 'P-preserve-unknown-fields': true, 'P-list-type': 'set' }),
    required(`${A}.type`, 'must be array if P-list-type is specified'),
  ],
  [a({ ...ROOT, 'P-map-type': 'atomic' })],
  [a({ ...ROOT, 'P-map-type': 'granular' })],
  [
    a({ ...ROOT, 'P-map-type': 'fine' }),
    `${A}.P-map-type: Unsupported value: "fine": supported values: "atomic", "granular"`,
  ],
  [
    a({ ...TEXT, 'P-map-type': 'atomic' }),
    invalid(`${A}.type`, '"string"', 'must be object if P-map-type is specified'),
  ],
  [
    a({ 'P-preserve-unknown-fields': true, 'P-map-type': 'atomic' }),
    required(`${A}.type`, 'must be object if P-map-type is specified'),
  ],
  [
    a({ ...LIST, 'P-list-map-keys': ['k'] }),
    required(`${A}.P-list-type`, 'must be map if P-list-map-keys is non-empty'),
  ],
  [
    a({ ...LIST, 'P-list-type': 'set', 'P-list-map-keys': ['k'] }),
    invalid(`${A}.P-list-type`, '"set"', 'must be map if P-list-map-keys is non-empty'),
  ],
  [a({ ...MAP, 'P-list-map-keys': [] }), required(`${A}.P-list-map-keys`, 'must not be empty if P-list-type is map')],
  [a({ ...MAP, items: TEXT }), invalid(`${A}.items.type`, '"string"', `must be object ${IN_MAP}`)],
  [
    a({ ...MAP, 'P-list-map-keys': ['k', 'z'] }),
    invalid(`${A}.P-list-map-keys`, '[]string{"k", "z"}', 'entries must all be names of item properties'),
  ],
  [
    a({ ...MAP, 'P-list-map-keys': ['k', 'k'] }),
    invalid(`${A}.P-list-map-keys`, '[]string{"k", "k"}', 'must not contain duplicate entries'),
  ],
  [
    a({ ...MAP, 'P-list-map-keys': ['o'] }),
    invalid(`${A}.items.properties[o].type`, '"object"', `must be a scalar type ${IN_MAP}`),
    required(`${A}.items.properties[o].default`, `${KEY} must have a default or be a required property`),
  ],
  [
    a({ ...MAP, items: { ...ITEM, required: [] } }),
    required(`${A}.items.properties[k].default`, `${KEY} must have a default or be a required property`),
  ],
  [a({ ...MAP, items: { ...ITEM, required: [], properties: { k: { ...TEXT, default: 'x' } } } })],
  [
    a({ ...MAP, items: { ...ITEM, properties: { k: { ...TEXT, nullable: true } } } }),
    forbidden(`${A}.items.properties[k].nullable`, `${KEY} cannot be nullable`),
  ],
  [
    a({ ...MAP, items: { ...ITEM, nullable: true } }),
    forbidden(`${A}.items.nullable`, 'cannot be nullable when P-list-type is map'),
  ],
  [
    a({ ...LIST, 'P-list-type': 'set', items: { ...TEXT, nullable: true } }),
    forbidden(`${A}.items.nullable`, 'cannot be nullable when P-list-type is set'),
  ],
  [a({ ...LIST, 'P-list-type': 'set', items: ROOT }), invalid(`${A}.items.P-map-type`, '"null"', IN_SET)],
  [a({ ...LIST, 'P-list-type': 'set', items: { ...ROOT, 'P-map-type': 'atomic' } })],
  [a({ ...LIST, 'P-list-type': 'set', items: LIST })],
  [
    a({ ...LIST, 'P-list-type': 'set', items: { ...LIST, 'P-list-type': 'set' } }),
    invalid(`${A}.items.P-list-type`, '"set"', IN_SET),
  ],
];

const D = `${A}.default`;
const OPEN = { ...WHOLE, 'P-preserve-unknown-fields': true };

const DEFAULTS: readonly DefinitionCase[] = [
  [a({ ...TEXT, default: 'x' })],
  [a({ ...TEXT, default: null })],
  [a({ ...TEXT, default: 1 }), invalid(D, '"integer"', ' in body must be of type string: "integer"')],
  [a({ type: 'integer', default: 'x' }), invalid(D, '"string"', ' in body must be of type integer: "string"')],
  [a({ ...TEXT, maxLength: 1, default: 'xy' }), invalid(D, '"xy"', ' in body should be at most 1 chars long')],
  [a({ ...TEXT, enum: ['a'], default: 'b' }), `${D}: Unsupported value: "b": supported values: "a"`],
  [a({ ...TEXT, pattern: '^a', default: 'b' }), invalid(D, '"b"', " in body should match '^a'")],
  [
    a({ ...ROOT, properties: { b: { type: 'integer' } }, default: { b: 'x' } }),
    invalid(`${D}.b`, '"string"', 'b in body must be of type integer: "string"'),
  ],
  [
    // What no property names is said with a dot in front, wherever it stands below.
    a({ ...ROOT, additionalProperties: TEXT, default: { b: 1 } }),
    invalid(`${D}.b`, '"integer"', '.b in body must be of type string: "integer"'),
  ],
  [
    a({ ...ROOT, additionalProperties: { ...ROOT, properties: { c: TEXT } }, default: { b: { c: 1 } } }),
    invalid(`${D}.b.c`, '"integer"', '.b.c in body must be of type string: "integer"'),
  ],
  [
    a({ ...ROOT, properties: { b: { ...ROOT, additionalProperties: TEXT } }, default: { b: { c: 1 } } }),
    invalid(`${D}.b.c`, '"integer"', 'b.c in body must be of type string: "integer"'),
  ],
  [a({ ...ROOT, required: ['b'], properties: { b: TEXT }, default: {} }), `${D}.b: Required value`],
  [
    a({ ...ROOT, properties: { b: TEXT }, default: { c: 1 } }),
    invalid(D, 'map[string]interface {}{"c":1}', 'must not have unknown fields'),
  ],
  [a({ ...ROOT, 'P-preserve-unknown-fields': true, default: { c: 1 } })],
  [a({ ...LIST, default: [1] }), invalid(D, '"integer"', ' in body must be of type string: "integer"')],
  [
    a({ ...TEXT, anyOf: [{ minLength: 3 }], default: 'x' }),
    invalid(D, '""', '"" must validate at least one schema (anyOf)'),
    invalid(D, '"x"', ' in body should be at least 3 chars long'),
  ],
  [
    a({ ...WHOLE, 'P-preserve-unknown-fields': true, default: { kind: 'K' } }),
    `${D}.apiVersion: Required value: must not be empty`,
  ],
  [
    { ...ROOT, properties: { metadata: { ...ROOT, default: {} } } },
    forbidden(`${META}.default`, 'must not be set in top-level metadata'),
  ],
  [
    { ...ROOT, properties: { kind: { ...TEXT, default: 'K' } } },
    forbidden('s.properties[kind].default', 'must not be set in top-level kind'),
  ],
  [
    a({
      ...WHOLE,
      properties: {
        metadata: { ...ROOT, properties: { labels: { ...ROOT, additionalProperties: { ...TEXT, default: 'x' } } } },
      },
    }),
    forbidden(
      `${A}.properties[metadata].properties[labels].additionalProperties.default`,
      'must not be set inside additionalProperties applying to object metadata',
    ),
  ],
  // Defaults are looked at where the rest is right.
  [a({ default: 1 }), required(`${A}.type`, 'must not be empty for specified object fields')],
  [
    { ...ROOT, properties: { a: TEXT }, default: { a: 'x' } },
    's.default.apiVersion: Required value: must not be empty',
    's.default.kind: Required value: must not be empty',
  ],
  [{ ...ROOT, properties: { a: TEXT }, default: { apiVersion: 'v1', kind: 'K', metadata: { name: 'n' }, a: 'x' } }],
  [
    a({ ...OPEN, properties: { metadata: { ...ROOT, properties: { name: { ...TEXT, default: 'a/b' } } } } }),
    invalid(
      `${A}.properties[metadata].properties[name].default`,
      '"a/b"',
      'must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
    ),
  ],
  [
    a({ ...OPEN, properties: { kind: { ...TEXT, default: '' } } }),
    invalid(
      `${A}.properties[kind].default`,
      '""',
      'must result in valid metadata: kind: Invalid value: "": must not be empty',
    ),
  ],
  [a({ ...OPEN, properties: { kind: { ...TEXT, default: 'K' }, apiVersion: { ...TEXT, default: 'v1' } } })],
  [
    a({ ...OPEN, default: { apiVersion: 'v1', kind: 'K', metadata: { finalizers: 'f' } } }),
    invalid(
      D,
      '{"apiVersion":"v1","kind":"K","metadata":map[string]string{"finalizers":"f"}}',
      'metadata.finalizers: cannot unmarshal string into a value of type list of string',
    ),
  ],
];

export const DEFINITION_CASES: Readonly<Record<string, readonly DefinitionCase[]>> = {
  vocabulary: VOCABULARY,
  structure: STRUCTURE,
  'whole objects': WHOLE_OBJECTS,
  'lists and maps': LISTS,
  defaults: DEFAULTS,
};

const ONLY =
  'only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields] fields are allowed ' +
  'at the root of the schema if the status subresource is enabled';

/** Of versions with a status of its own. */
export const STATUS_CASES: readonly DefinitionCase[] = [
  [{ ...ROOT, required: ['spec'], properties: { spec: ROOT } }],
  [{ ...ROOT, 'P-preserve-unknown-fields': true }],
  [
    { ...ROOT, definitions: { b: TEXT } },
    invalid('s', '{"type":"object","definitions":{"b":map[string]string{"type":"string"}}}', ONLY),
    forbidden('s.definitions', 'definitions is not supported'),
  ],
  [{ ...ROOT, maxProperties: 5 }, invalid('s', '{"type":"object","maxProperties":5}', ONLY)],
  [{ ...a(TEXT), anyOf: [{ required: ['a'] }] }, invalid('s', '…', ONLY)],
  [
    { ...ROOT, additionalItems: false },
    invalid('s', '{"type":"object","additionalItems":false}', ONLY),
    forbidden('s.additionalItems', 'additionalItems is not supported'),
  ],
];
